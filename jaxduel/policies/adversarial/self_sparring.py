"""Self-Sparring: two samples of one posterior duel."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics.largest_beta import largest_of_two
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.adversarial.sparring_runs import Proposal, duel_of, run_of
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class SelfSparringState(NamedTuple):
    """One seed's state."""

    won: jax.Array  # (K,) int32: duels that each arm won, against itself included
    lost: jax.Array  # (K,) int32: duels that it lost
    proposal: Proposal | None = None
    """None but from a quiet run to the comparison after it."""


@register("self-sparring", "Self-Sparring")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SelfSparring:
    """Self-Sparring, Sui, Zhuang, Burdick and Yue (UAI 2017), with independent arms and duels of
    two.

    theta_i ~ Beta(W_i + 1, L_i + 1) for every arm i, W_i and L_i its duels won and lost so far,
    whoever the other arm was. Two samples are drawn, independently; the arm of the largest theta_i
    of either is played. Its result counts for both arms, and a duel of an arm with itself adds 1 to
    both of its counts.

    The text of the paper was not at hand: this follows the program of Li et al. (chang-li). The
    paper is said to have a learning rate and groups of any size, and to assume approximate
    linearity. That is not confirmed; the first two are not here.

    Few of the numbers are drawn, by the law of all (`jaxduel.numerics.largest_beta`). Outcomes that
    arrive late count like others; a duel of an arm with itself counts at once, whatever comes of
    it. A step costs O(K).

    Such duels of the arm of the largest mean are quiet, although they sharpen its posterior: their
    number is drawn from a bound of how likely another duel is, which is then played, or taken back,
    with the probability that makes up for it (`jaxduel.policies.adversarial.sparring_runs`).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("self-sparring", num_arms=3)
      >>> key = jax.random.key(0)
      >>> state = policy.update(policy.init(key), jd.policies.Duel(2, 2), 1, key)
      >>> state.won.tolist(), state.lost.tolist()
      ([0, 0, 1], [0, 0, 1])
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def init(self, key: Key) -> SelfSparringState:
        """No duels."""
        none = jnp.zeros(self.num_arms, jnp.int32)
        return SelfSparringState(none, none)

    def from_wins(self, wins: jax.Array, key: Key) -> SelfSparringState:
        """The duels counted in `wins`, none of an arm with itself."""
        return _counted(wins)

    def act(self, state: SelfSparringState, key: Key) -> Duel:
        """The arm of the largest number of either sample."""
        seed, counts = words_of(key), (state.won, state.lost, jnp.asarray(self.active_arms))
        if state.proposal is None:
            return Duel(*largest_of_two(seed, *counts))
        return Duel(*duel_of(seed, *counts, state.proposal))

    def update(
        self, state: SelfSparringState, plan: Duel, outcome: jax.Array, key: Key
    ) -> SelfSparringState:
        """Counts the outcome for both arms; of an arm against itself a win and a loss."""
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        left, right = arms == plan.left, arms == plan.right
        both, outcome = left & right, jnp.asarray(outcome)
        left_won, right_won = outcome > 0, outcome < 0
        return SelfSparringState(
            won=state.won + (both | (left & left_won) | (right & right_won)),
            lost=state.lost + (both | (left & right_won) | (right & left_won)),
        )

    def quiet(
        self, state: SelfSparringState, limit: jax.Array, key: Key
    ) -> tuple[SelfSparringState, Quiet]:
        """The duels of the arm of the largest mean with itself before another one is proposed."""
        won, lost, before = state
        if before is not None:
            limit = jnp.where(before.is_made, 0, limit)
        n, proposal = run_of(words_of(key), won, lost, jnp.asarray(self.active_arms), limit)
        if before is not None:
            proposal = jax.tree.map(partial(jnp.where, before.is_made), before, proposal)
        own = jnp.where(jnp.arange(self.num_arms, dtype=jnp.int32) == proposal.arm, n, 0)
        return SelfSparringState(won + own, lost + own, proposal), Quiet(proposal.arm, n)

    def learn(self, state: SelfSparringState, feedback: Feedback) -> SelfSparringState:
        """Takes in withheld outcomes, but of arms with themselves, which count already."""
        told = _counted(feedback.wins())
        return SelfSparringState(state.won + told.won, state.lost + told.lost)


def _counted(wins: jax.Array) -> SelfSparringState:
    """The duels counted in `wins`, (K, K) int32."""
    return SelfSparringState(
        won=jnp.sum(wins, axis=1, dtype=jnp.int32), lost=jnp.sum(wins, axis=0, dtype=jnp.int32)
    )
