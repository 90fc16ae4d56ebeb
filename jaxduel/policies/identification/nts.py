"""Noisy tournament sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true
from jaxduel.policies.base import UNDECIDED, Duel, Feedback, Key
from jaxduel.policies.identification.knockout import (
    Knockout,
    KnockoutSettings,
    after_verdict,
    first_match,
    lead_needed,
    next_match,
)
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class NTSState(NamedTuple):
    """One seed's state."""

    knockout: Knockout
    beaten_by: jax.Array  # (K,) int32: the arm that beat an arm last, the arm itself if none did
    verdicts: jax.Array  # (K,) int32: number of arms that an arm has beaten
    left: jax.Array  # () int32: the arm that meets `right`; the champion once the knockout is over
    right: jax.Array  # () int32: `left` itself once there is an answer
    lead: jax.Array  # () int32: wins of left less those of right since they meet
    answer: jax.Array  # () int32


@register("nts")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class NTS(KnockoutSettings):
    """Noisy Tournament Sampling, Haddenhorst, Bengs, Brandt and Huellermeier (UAI 2021): names the
    Condorcet winner, or says that there is none.

    Algorithm 6 with the tournament sampling of Algorithm 3. Two arms duel until it is clear which
    of them beats the other:

        w_ij / n_ij > 1/2 + 1 / (2 n_ij) ceil(log((1 - g) / g) / log((1/2 + h) / (1/2 - h))),

    which says that w_ij - w_ji has exceeded the ceiling; g = gamma / K.

    1. All arms, in index order, play a knockout; its last arm is the champion.
    2. The champion meets every arm that it has not beaten yet, in index order. If it beats all of
       them, it is the answer. If one of them beats it, every arm has been beaten: `NO_WINNER`, and
       the arm that has beaten most (ties: the lowest index) plays itself for ever, of which the
       paper says nothing.

    If all |p_ij - 1/2| exceed h, the answer is wrong with probability at most gamma: the paper's
    alpha and beta are both gamma here, as in its experiments. No order of the arms is assumed. At
    most 2 K - 3 pairs are asked; if K is a power of two, at most 2 K - log2 K - 2. (An arm that is
    left over in a round of the knockout meets nobody in it, as in the authors' program, so that the
    champion may have won one duel only.)

    The authors' program duels every pair once before it begins, and counts that: its mean is that
    of this policy, less the pairs that are asked, plus K (K - 1) / 2.

    Outcomes that are withheld change nothing, so that the pair goes on until they are told. A step
    costs O(K).

    Attributes:
      num_arms: K; g counts the active ones.
      active_arms: (K,) bool, the arms that exist.
      gamma: the error, in (0, 1).
      margin: h, in (0, 1/2).

    Nothing is drawn.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.from_matrix([[0.5, 0.9, 0.8], [0.1, 0.5, 0.7], [0.2, 0.3, 0.5]])
      >>> policy = jd.policies.make("nts", num_arms=3, margin=0.2)
      >>> found = jd.identify(policy, problem, votes=1_000, num_seeds=100, stop="policy")
      >>> float(found.truth.is_right(found.stops.named).mean()), found.stops.at.max() < 1_000
      (1.0, np.True_)
    """

    def init(self, key: Key) -> NTSState:
        """The first match."""
        knockout, none = first_match(jnp.asarray(self.active_arms)), jnp.int32(0)
        return NTSState(
            knockout=knockout,
            beaten_by=jnp.arange(self.num_arms, dtype=jnp.int32),
            verdicts=jnp.zeros(self.num_arms, jnp.int32),
            left=knockout.arms[0],
            right=knockout.arms[1],
            lead=none,
            answer=jnp.int32(UNDECIDED),
        )

    def update(self, state: NTSState, plan: Duel, outcome: jax.Array, key: Key) -> NTSState:
        """Goes on with the walk, and to the next pair at its end."""
        return self._known(state, outcome)

    def learn(self, state: NTSState, feedback: Feedback) -> NTSState:
        """Takes in withheld outcomes."""
        pair = state.left, state.right
        return self._known(state, feedback.left_wins[pair] - feedback.right_wins[pair])

    def _known(self, state: NTSState, change: jax.Array) -> NTSState:
        """The state after a change of the lead."""
        lead = state.lead + jnp.where(state.left == state.right, 0, change)
        error = self.gamma / count_true(jnp.asarray(self.active_arms))
        ends = jnp.abs(lead) >= lead_needed(error, self.margin)
        decided = self._decided(state, lead > 0)
        goes_on = state._replace(lead=lead)
        return jax.tree.map(lambda new, old: jnp.where(ends, new, old), decided, goes_on)

    def _decided(self, state: NTSState, left_wins: jax.Array) -> NTSState:
        """The state once it is clear which arm of the pair beats the other."""
        winner = jnp.where(left_wins, state.left, state.right)
        loser = jnp.where(left_wins, state.right, state.left)
        beaten_by = state.beaten_by.at[loser].set(winner)
        verdicts = state.verdicts.at[winner].add(1)
        knockout = next_match(state.knockout, left_wins)
        left = knockout.arms[knockout.place]
        others = jnp.arange(self.num_arms, dtype=jnp.int32) != left
        rivals = self.active_arms & others & (beaten_by != left)
        pairing = after_verdict(state.knockout, knockout, left_wins, rivals, verdicts)
        return NTSState(
            knockout=knockout,
            beaten_by=beaten_by,
            verdicts=verdicts,
            lead=jnp.int32(0),
            **pairing._asdict(),
        )
