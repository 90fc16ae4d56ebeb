"""SELECT-then-verify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true
from jaxduel.numerics.float64 import in_float64, to_int32
from jaxduel.policies.base import UNDECIDED, Duel, Feedback, Key
from jaxduel.policies.identification.knockout import (
    Knockout,
    KnockoutSettings,
    after_verdict,
    first_match,
    is_over,
    lead_needed,
    next_match,
)
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class SelectThenVerifyState(NamedTuple):
    """One seed's state."""

    knockout: Knockout
    verdicts: jax.Array  # (K,) int32: matches and tests that an arm has won
    left: jax.Array  # () int32: the arm that meets `right`; the champion once the knockout is over
    right: jax.Array  # () int32: `left` itself once there is an answer
    made: jax.Array  # () int32: duels of known outcome since they meet
    lead: jax.Array  # () int32: wins of left in them less those of right
    answer: jax.Array  # () int32


@register("select-then-verify", "SELECT-then-verify")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SelectThenVerify(KnockoutSettings):
    """SELECT-then-verify, Haddenhorst, Bengs, Brandt and Huellermeier (UAI 2021), their baseline:
    names the Condorcet winner, or says that there is none.

    1. SELECT: all arms, in index order, play a knockout. A match has

           N = floor(log(2 log2 K / gamma) / (2 h^2)) + 1

       duels and goes to the arm that won more of them, the first if both won as many. The last arm
       is the champion. N is the paper's (1 + e) log 2 log2(log2 K) / (2 h^2) with
       e = -log(gamma / 2) / log(log2 K).
    2. The champion meets every other arm, in index order, in a sequential probability ratio test of
       errors gamma / (2 (K - 1)), `knockout.lead_needed`. If it passes all of them, it is the
       answer; where it fails, `NO_WINNER`, and the arm that has won most matches and tests (ties:
       the lowest index) plays itself for ever.

    If all |p_ij - 1/2| exceed h, the answer is wrong with probability at most gamma. No order of
    the arms is assumed, as SELECT alone does.

    The authors' program plays up to 21 matches among 20 arms, some against places that are stale,
    and so duels more than this.

    Outcomes that are withheld change nothing, so that the pair goes on until they are told. A step
    costs O(K).

    Attributes:
      num_arms: K; the numbers count the active ones.
      active_arms: (K,) bool, the arms that exist.
      gamma: the error, in (0, 1).
      margin: h, in (0, 1/2).

    Nothing is drawn.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.from_matrix([[0.5, 0.9, 0.8], [0.1, 0.5, 0.7], [0.2, 0.3, 0.5]])
      >>> policy = jd.policies.make("select-then-verify", num_arms=3, margin=0.1)
      >>> found = jd.identify(policy, problem, votes=1_000, num_seeds=100, stop="policy")
      >>> float(found.truth.is_right(found.stops.named).mean()), found.stops.at.min() > 2 * 207
      (1.0, np.True_)
    """

    def init(self, key: Key) -> SelectThenVerifyState:
        """The first match."""
        knockout, none = first_match(jnp.asarray(self.active_arms)), jnp.int32(0)
        pair, verdicts = (knockout.arms[0], knockout.arms[1]), jnp.zeros(self.num_arms, jnp.int32)
        return SelectThenVerifyState(knockout, verdicts, *pair, none, none, jnp.int32(UNDECIDED))

    def update(
        self, state: SelectThenVerifyState, plan: Duel, outcome: jax.Array, key: Key
    ) -> SelectThenVerifyState:
        """Goes on with the match or the test, and to the next pair at its end."""
        return self._known(state, outcome > 0, outcome < 0)

    def learn(self, state: SelectThenVerifyState, feedback: Feedback) -> SelectThenVerifyState:
        """Takes in withheld outcomes."""
        pair = state.left, state.right
        return self._known(state, feedback.left_wins[pair], feedback.right_wins[pair])

    def _known(
        self, state: SelectThenVerifyState, won: jax.Array, lost: jax.Array
    ) -> SelectThenVerifyState:
        """The state after more wins of either arm of the pair."""
        meet = state.left != state.right
        won, lost = jnp.where(meet, won, 0), jnp.where(meet, lost, 0)
        made, lead = state.made + won + lost, state.lead + won - lost
        is_test, arms = is_over(state.knockout), count_true(jnp.asarray(self.active_arms))
        needed = lead_needed(self.gamma / (2 * (arms - 1)), self.margin)
        ends = jnp.where(is_test, jnp.abs(lead) >= needed, made >= self._duels(arms))
        decided = self._decided(state, jnp.where(is_test, lead > 0, lead >= 0))
        goes_on = state._replace(made=made, lead=lead)
        return jax.tree.map(lambda new, old: jnp.where(ends, new, old), decided, goes_on)

    def _duels(self, arms: jax.Array) -> jax.Array:
        """N: () int32."""

        def formula(arms: jax.Array, gamma: jax.Array, margin: jax.Array) -> jax.Array:
            return to_int32(jnp.log(2 * jnp.log2(arms) / gamma) / (2 * margin**2) + 1)

        return in_float64(formula, arms, self.gamma, self.margin)

    def _decided(self, state: SelectThenVerifyState, left_wins: jax.Array) -> SelectThenVerifyState:
        """The state after a match or a test."""
        knockout = next_match(state.knockout, left_wins)
        left, number = knockout.arms[knockout.place], jnp.arange(self.num_arms, dtype=jnp.int32)
        unmet = ~is_over(state.knockout) | (number > state.right)
        rivals = self.active_arms & (number != left) & unmet
        winner = jnp.where(left_wins, state.left, state.right)
        verdicts = state.verdicts.at[winner].add(1)
        pairing = after_verdict(state.knockout, knockout, left_wins, rivals, verdicts)
        none = jnp.int32(0)
        return SelectThenVerifyState(
            knockout=knockout, verdicts=verdicts, made=none, lead=none, **pairing._asdict()
        )
