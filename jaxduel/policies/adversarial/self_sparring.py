"""Self-Sparring: two samples of one posterior duel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics.largest_beta import largest_of_two
from jaxduel.numerics.threefry import words_of
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class SelfSparringState(NamedTuple):
    """One seed's state."""

    won: jax.Array  # (K,) int32: duels that each arm won, against itself included
    lost: jax.Array  # (K,) int32: duels that it lost


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
    are withheld change nothing, and those that arrive late count alike. A step costs O(K).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.

    It has no quiet runs: an arm against itself sharpens its posterior.

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
        return SelfSparringState(
            won=jnp.sum(wins, axis=1, dtype=jnp.int32), lost=jnp.sum(wins, axis=0, dtype=jnp.int32)
        )

    def act(self, state: SelfSparringState, key: Key) -> Duel:
        """The arm of the largest number of either sample."""
        sampled = largest_of_two(words_of(key), state.won, state.lost, self.active_arms)
        return Duel(*sampled)

    def update(
        self, state: SelfSparringState, plan: Duel, outcome: jax.Array, key: Key
    ) -> SelfSparringState:
        """Counts the outcome for both arms."""
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        left, right = arms == plan.left, arms == plan.right
        left_won, right_won = jnp.asarray(outcome) > 0, jnp.asarray(outcome) < 0
        return SelfSparringState(
            won=state.won + (left & left_won) + (right & right_won),
            lost=state.lost + (left & right_won) + (right & left_won),
        )

    def learn(self, state: SelfSparringState, feedback: Feedback) -> SelfSparringState:
        """Takes in withheld outcomes."""
        wins = feedback.left_wins + feedback.right_wins.T
        return SelfSparringState(
            won=state.won + jnp.sum(wins, axis=1, dtype=jnp.int32),
            lost=state.lost + jnp.sum(wins, axis=0, dtype=jnp.int32),
        )
