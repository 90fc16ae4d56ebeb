"""Relative Minimum Empirical Divergence, first variant (RMED1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.counts import add_to_tally, duel_result, tally_of
from jaxduel.policies.registry import register
from jaxduel.policies.rmed import lists
from jaxduel.pytrees import register_dataclass

_SHIFT = 16


class RMED1State(NamedTuple):
    """One seed's state."""

    tally: jax.Array  # (K, 2, K) int32: wins of i over j, losses of i to j
    evidence: jax.Array  # (K, K) float32: n_ij d(mu_ij, 1/2) where mu_ij <= 1/2, else 0
    divergence: jax.Array  # (K,) float32: I_i, the row sums of the evidence
    pair: jax.Array  # () uint32: i 2^16 + j, the initial phase's next pair (i, j); i = K after it
    queue: jax.Array  # (K,) bool: L_R, the arms of this pass that are still to come
    waiting: jax.Array  # (K,) bool: L_N, the arms of the next pass
    t: jax.Array  # () int32: comparisons made

    @property
    def wins(self) -> jax.Array:
        """(K, K) int32, wins of i over j."""
        return self.tally[..., 0, :]


@register("rmed1")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class RMED1:
    """RMED1, Komiyama, Honda, Kashima and Nakagawa (COLT 2015), Algorithms 1 and 2.

    Every pair is compared once, in lexicographic order. Then passes over a list of arms: with
    O_i = {j != i : mu_ij <= 1/2}, I_i = sum over O_i of n_ij d(mu_ij, 1/2), i* = argmin I_i, the
    next arm l of the list (in index order) meets i* if i* is in O_l or O_l is empty, else the arm
    j != l of the smallest mu_lj. After each comparison the arms j that are not to come in this pass
    and have I_j - I_i* <= log t + f(K) join the list of the next pass.

    The condition is checked with the counts after the comparison and its own t, as the authors'
    library does (the text leaves it open). i* may be l itself: then l plays itself, which is how
    RMED exploits. Ties go to the lowest index.

    I_i is a sum of K terms of which one changes per comparison. The state carries the terms and
    sums the two rows that changed anew: O(K) a step, no drift.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      scale: f(K) = scale K^exponent, K the number of active arms; 0.3 in the paper's experiments.
      exponent: 1.01 in the paper's experiments.

    Draws nothing: given the outcomes it is deterministic.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("rmed1", num_arms=3)
      >>> state = jd.policies.state_from_wins(policy, [[0, 9, 9], [0, 0, 5], [0, 4, 0]])
      >>> left, right = policy.act(state, jax.random.key(0))
      >>> int(left), int(right)  # arm 0 is ahead of all
      (0, 0)
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    scale: float | jax.Array = 0.3
    exponent: float | jax.Array = 1.01

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        lists.require_slack(self, "rmed1")

    def init(self, key: Key) -> RMED1State:
        """L_C = L_R = all arms, L_N empty."""
        num = self.num_arms
        return RMED1State(
            tally=jnp.zeros((num, 2, num), jnp.int32),
            evidence=jnp.zeros((num, num), jnp.float32),
            divergence=jnp.zeros(num, jnp.float32),
            pair=_packed(0, 1),
            queue=jnp.asarray(self.active_arms),
            waiting=jnp.zeros(num, bool),
            t=jnp.int32(0),
        )

    def from_wins(self, wins: jax.Array, key: Key) -> RMED1State:
        """The comparisons counted in `wins`; a pass over the plausible arms begins.

        If pairs lack their first comparison, the initial phase goes on from the first such pair,
        through all pairs after it.
        """
        evidence, divergence = lists.evidence_of(wins)
        t = jnp.sum(wins, dtype=jnp.int32)
        made, size = wins + wins.T, count_true(self.active_arms)
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        lacking = (made == 0) & (arms[:, None] < arms) & (arms < size)
        rows = jnp.any(lacking, axis=1)
        i = jnp.where(jnp.any(rows), lax.argmax(rows, 0, jnp.int32), self.num_arms)
        members = lists.plausible(divergence, self.active_arms, t, self.scale, self.exponent)
        return self.init(key)._replace(
            tally=tally_of(wins),
            evidence=evidence,
            divergence=divergence,
            pair=_packed(i, lax.argmax(lacking[i], 0, jnp.int32)),
            queue=lists.queue_after(made, 1, members, self.active_arms),
            t=t,
        )

    def act(self, state: RMED1State, key: Key) -> Duel:
        """The next pair of the initial phase, or the next arm of the list and its opponent."""
        left = lax.argmax(state.queue, 0, jnp.int32)
        right = self._opponent(state, left)
        i, j = _arms_of(state.pair)
        initial = i < self.num_arms
        return Duel(jnp.where(initial, i, left), jnp.where(initial, j, right))

    def update(self, state: RMED1State, plan: Duel, outcome: jax.Array, key: Key) -> RMED1State:
        """Counts the outcome and keeps the lists."""
        learnt = duel_result(plan, outcome)
        tally = add_to_tally(state.tally, learnt)
        won, lost = tally[learnt.winner, :, learnt.loser]
        evidence, divergence = lists.update_evidence(
            state.evidence, state.divergence, won, lost, learnt
        )
        t = state.t + 1
        listed = _arms_of(state.pair)[0] == self.num_arms
        members = lists.plausible(divergence, self.active_arms, t, self.scale, self.exponent)
        queue, waiting = lists.next_lists(state.queue, state.waiting, plan.left, members, listed)
        return RMED1State(
            tally=tally,
            evidence=evidence,
            divergence=divergence,
            pair=jnp.where(listed, state.pair, self._after(state.pair)),
            queue=queue,
            waiting=waiting,
            t=t,
        )

    def quiet(self, state: RMED1State, limit: jax.Array, key: Key) -> tuple[RMED1State, Quiet]:
        """The comparisons of i* with itself until another arm's turn.

        i* plays itself while it leads everybody; its outcomes are ignored, so that the lists change
        with log t only, by the test that `update` makes: the run ends at the exact comparison.
        """
        after, quiet = lists.quiet_run(
            lists.Lists(state.queue, state.waiting, state.t),
            lambda arm: state.tally[arm],
            state.divergence,
            self.active_arms,
            limit,
            lambda t: lists.bound(self.active_arms, t, self.scale, self.exponent),
            lambda t: _arms_of(state.pair)[0] < self.num_arms,
        )
        return state._replace(**after._asdict()), quiet

    def learn(self, state: RMED1State, feedback: Feedback) -> RMED1State:
        """Takes in withheld outcomes."""
        wins, told = state.wins, feedback.wins()
        evidence, divergence = lists.evidence_after(state.evidence, wins, told)
        tally = tally_of(wins + told)
        return state._replace(tally=tally, evidence=evidence, divergence=divergence)

    def _after(self, pair: jax.Array) -> jax.Array:
        """The pair after another one, in lexicographic order."""
        i, j = _arms_of(pair)
        size = count_true(self.active_arms)
        row = jnp.where(i + 2 < size, _packed(i + 1, i + 2), _packed(self.num_arms, 0))
        return jnp.where(j + 1 < size, pair + 1, row)

    def _opponent(self, state: RMED1State, left: jax.Array) -> jax.Array:
        """The opponent m(t) of l(t) = left, Algorithm 2."""
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        others = self.active_arms & (arms != left)
        best = lists.leader(state.divergence, self.active_arms)
        won, lost = state.tally[left]
        return lists.usual_opponent(won, lost, others, best)


def _packed(i: jax.Array | int, j: jax.Array | int) -> jax.Array:
    return jnp.uint32(i << _SHIFT | j)


def _arms_of(pair: jax.Array) -> tuple[jax.Array, jax.Array]:
    return (pair >> _SHIFT).astype(jnp.int32), (pair & (2**_SHIFT - 1)).astype(jnp.int32)
