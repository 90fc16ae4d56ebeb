"""Relative Upper Confidence Bound (RUCB)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import masked_choice
from jaxduel.numerics.choice import pack_bits
from jaxduel.numerics.crossing import count_while_true
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.reductions import largest
from jaxduel.numerics.threefry import uniforms
from jaxduel.policies import arm_sets
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require_alpha, require_index
from jaxduel.policies.counts import (
    add_to_tally,
    duel_result,
    lead_of,
    log_bound,
    tally_of,
    upper_bounds,
)
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class RUCBState(NamedTuple):
    """One seed's state."""

    tally: jax.Array  # (K, 2, K) int32: wins of i over j, losses of i to j
    doubt: jax.Array  # (K,) float32: max_j n_ij (1/2 - mu_ij)^2 over opponents ahead of i
    best: jax.Array  # () int32: the element of B, the hypothesised best arm, or -1 where B is empty
    t: jax.Array  # () int32: comparisons made

    @property
    def wins(self) -> jax.Array:
        """(K, K) int32, wins of i over j."""
        return self.tally[..., 0, :]


@register("rucb")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class RUCB:
    """RUCB, Zoghi, Whiteson, Munos and de Rijke (ICML 2014), Algorithm 1.

    With u_ij = w_ij / n_ij + sqrt(alpha log t / n_ij) and u_ii = 1/2, the candidates are
    C = {c : u_cj >= 1/2 for all j} (line 5; where C is empty, any arm). Lines 6 to 12: B becomes B
    ∩ C, and C itself where C has one element; c is the element of B with probability 1/2, else
    uniform in C minus B. Line 13: d = argmax_j u_jc, ties at random and, among ties, d != c. (c, d)
    are compared.

    u_cj >= 1/2 means n_cj (1/2 - mu_cj)^2 <= alpha log t wherever j leads against c, and the left
    side changes only for the pair just compared. The state carries its maximum over j, so a step
    costs O(K), not O(K^2), and makes the same decisions. Line 13 asks in the same way whether any
    u_jc reaches u_cc = 1/2, and looks for the largest only then.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      alpha: exploration, > 1/2 in theory; 0.51 in the experiments of the literature.
      unseen: u_ij of a pair never compared, at least 1/2, so that nobody leaves C unseen. The
        paper's "x / 0 := 1" applied to both fractions gives 2; 1 is what the library of RMED's
        authors uses, probably also in the batched paper. They differ visibly from K = 16 on.

    Started from win counts, B is empty, as at the start: it depends on the order of comparisons.

    `act` reads three uniform numbers of its key: the coin for B, the choice of c, the tie break of
    d.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("rucb", num_arms=16, unseen=1)
      RUCB(num_arms=16, unseen=1.0)
      >>> jd.policies.parameters("rucb")
      {'alpha': 0.51, 'unseen': 2.0}
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    alpha: float | jax.Array = 0.51
    unseen: float | jax.Array = 2.0

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def validate(self) -> None:
        """Raises InputError unless alpha > 0 and unseen >= 1/2; warns where alpha <= 1/2."""
        require_alpha(self.alpha, "rucb")
        require_index(self.unseen, "rucb: unseen", 0.5)

    def init(self, key: Key) -> RUCBState:
        """No comparisons, no hypothesis."""
        num = self.num_arms
        return RUCBState(
            tally=jnp.zeros((num, 2, num), jnp.int32),
            doubt=jnp.zeros(num, jnp.float32),
            best=jnp.int32(-1),
            t=jnp.int32(0),
        )

    def from_wins(self, wins: jax.Array, key: Key) -> RUCBState:
        """The comparisons counted in `wins`; no hypothesis."""
        return RUCBState(
            tally=tally_of(wins),
            doubt=_doubt(lead_of(wins, wins.T)),
            best=jnp.int32(-1),
            t=jnp.sum(wins, dtype=jnp.int32),
        )

    def act(self, state: RUCBState, key: Key) -> Duel:
        """Lines 5 to 13."""
        coin, pick, tie = uniforms(key, 3)
        explore = log_bound(self.alpha, state.t + 1)
        candidates, best = self._candidates(state, explore)
        rest = candidates & ~arm_sets.alone(best, self.num_arms)
        size = arm_sets.sizes(rest)
        other = arm_sets.random_arm(rest, size, pick)
        left = jnp.where((best >= 0) & ((size == 0) | (coin < 0.5)), best, other)

        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        won, lost = state.tally[left]
        upper = upper_bounds(lost, won, explore, self.unseen)
        upper = jnp.where(self.active_arms & (arms != left), upper, -jnp.inf)
        rival = masked_choice(upper == largest(upper), tie)
        right = jnp.where(self._certainty(won, lost, left) > explore, left, rival)
        return Duel(left, materialize(right, right < 0))  # else recomputed as often as it is read

    def update(self, state: RUCBState, plan: Duel, outcome: jax.Array, key: Key) -> RUCBState:
        """Counts the outcome; B of the next step is derived from this step's."""
        _, best = self._candidates(state, log_bound(self.alpha, state.t + 1))
        learnt = duel_result(plan, outcome)
        tally = add_to_tally(state.tally, learnt)
        i, j = learnt.winner, learnt.loser
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        won, lost = tally[i]
        lead = lead_of(won, lost)
        doubt = jnp.where(arms == i, _doubt(lead), state.doubt)
        doubt = jnp.where(arms == j, jnp.maximum(doubt, lead), doubt)
        return RUCBState(tally, doubt, best, state.t + 1)

    def learn(self, state: RUCBState, feedback: Feedback) -> RUCBState:
        """Takes in withheld outcomes."""
        wins = state.wins + feedback.wins()
        return state._replace(tally=tally_of(wins), doubt=_doubt(lead_of(wins, wins.T)))

    def quiet(self, state: RUCBState, limit: jax.Array, key: Key) -> tuple[RUCBState, Quiet]:
        """The comparisons of c with itself while every u_jc is below 1/2.

        If every u_jc is below 1/2, then no j is in C and c is: whatever the coins, c is the left
        arm, and the right one. Nothing is learnt, so that only log t ends a run, and the coins of
        each comparison are those of its time.
        """
        _, best = self._candidates(state, log_bound(self.alpha, state.t + 1))
        won, lost = state.tally[best]
        certainty = jnp.where(best >= 0, self._certainty(won, lost, best), -jnp.inf)
        n = count_while_true(
            lambda t: certainty > log_bound(self.alpha, t),
            state.t,
            limit,
            guess=jnp.exp(certainty / self.alpha),
        )
        state = state._replace(best=jnp.where(n > 0, best, state.best), t=state.t + n)
        return state, Quiet(jnp.maximum(best, 0), n)

    def _certainty(self, won: jax.Array, lost: jax.Array, arm: jax.Array) -> jax.Array:
        """The bound on alpha log t below which u_jc < 1/2 for all other j, for c = `arm`, which
        `won` and `lost` against them."""
        others = self.active_arms & (jnp.arange(self.num_arms, dtype=jnp.int32) != arm)
        return -largest(jnp.where(others, -lead_of(won, lost), -jnp.inf))

    def _candidates(self, state: RUCBState, explore: jax.Array) -> tuple[jax.Array, jax.Array]:
        """C as a set of bits (all arms where it is empty) and the element of B, or -1."""
        members = pack_bits((state.doubt <= explore) & self.active_arms)
        size = arm_sets.sizes(members)
        stays = jnp.any(members & arm_sets.alone(state.best, self.num_arms) != 0)
        best = jnp.where(stays, state.best, -1)
        best = jnp.where(size == 1, arm_sets.lowest(members), best)
        return jnp.where(size > 0, members, pack_bits(self.active_arms)), best


def _doubt(lead: jax.Array) -> jax.Array:
    """max_j n_ij (1/2 - mu_ij)^2 over opponents ahead of i, from `lead_of` its counts, (..., K); it
    never falls with a loss."""
    return jnp.maximum(largest(-lead), 0.0)
