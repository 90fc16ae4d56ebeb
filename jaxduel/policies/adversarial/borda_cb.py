"""Borda confidence bounds: uniform pairs, until one arm is surely the Borda winner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.threefry import uniforms
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require, require_horizon
from jaxduel.policies.estimation.uniform import uniform_pair
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class BordaCBState(NamedTuple):
    """One seed's state."""

    won: jax.Array  # (K,) int32: duels of two arms that each arm won as the first
    t: jax.Array  # () int32: duels of two arms of known outcome


@register("borda-cb", "Borda-CB")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class BordaCB:
    """Borda Confidence Bound, Saha, Koren and Mansour (ICML 2021), Algorithm 3: outcomes may follow
    any law in which one arm's mean Borda score stays ahead.

    x is uniform, y is uniform among the others. If x wins, S_x grows by K, so that b_i = S_i / t is
    an unbiased estimate of the Borda score of i after t duels; the bounds are

        b_i +- 2 sqrt(K / t log(2 K T / delta)).

    As soon as the lower one of some arm exceeds the upper ones of all others, that arm plays itself
    for ever. With a gap D between the two largest scores that takes about 16 K log(2 K T / delta) /
    D^2 duels: 270,000 for K = 10, D = 0.1, T = 1e5, that is, it does not happen.

    The text of the paper was not at hand: this follows duelpy (commit d70111f), which names the
    algorithm. Regret of the kind "borda" is what it bounds; the Condorcet winner may be another
    arm. S counts wins of the first arm alone, hence it cannot start from win counts, which do not
    tell it.

    Outcomes that are withheld change nothing, and those that arrive late count alike. A step costs
    O(K).

    Attributes:
      num_arms: K; in the formulas, the number of active arms.
      active_arms: (K,) bool, the arms that exist.
      horizon: T; the bounds depend on it.
      delta: the probability that they fail.

    `act` reads two uniform numbers of its key: x, and y among the others.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("borda-cb", num_arms=10, horizon=1_000_000)
      >>> jd.policies.describe("borda-cb").can
      ('learn late (delay)', 'skip quiet runs')
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    delta: float | jax.Array = 0.1

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require_horizon(self.horizon, "borda-cb")
        require(self.delta, lambda x: (x > 0) & (x < 1), "borda-cb: delta must be in (0, 1)")

    def init(self, key: Key) -> BordaCBState:
        """No duels."""
        return BordaCBState(jnp.zeros(self.num_arms, jnp.int32), jnp.int32(0))

    def act(self, state: BordaCBState, key: Key) -> Duel:
        """A uniform pair, or the winner against itself."""
        winner, found = self._winner(state)
        pair = uniform_pair(count_true(self.active_arms), *uniforms(key, 2))
        return Duel(*(jnp.where(found, winner, arm) for arm in pair))

    def update(self, state: BordaCBState, plan: Duel, outcome: jax.Array, key: Key) -> BordaCBState:
        """Counts a win of x."""
        arms, outcome = jnp.arange(self.num_arms, dtype=jnp.int32), jnp.asarray(outcome)
        different = jnp.asarray(plan.left != plan.right)
        return BordaCBState(
            won=state.won + ((arms == plan.left) & different & (outcome > 0)),
            t=state.t + (different & (outcome != 0)),
        )

    def learn(self, state: BordaCBState, feedback: Feedback) -> BordaCBState:
        """Takes in withheld outcomes."""
        pairs = ~jnp.eye(self.num_arms, dtype=bool)
        left_wins, right_wins = (jnp.where(pairs, x, 0) for x in feedback)
        return BordaCBState(
            won=state.won + jnp.sum(left_wins, axis=1, dtype=jnp.int32),
            t=state.t + jnp.sum(left_wins + right_wins, dtype=jnp.int32),
        )

    def quiet(self, state: BordaCBState, limit: jax.Array, key: Key) -> tuple[BordaCBState, Quiet]:
        """All comparisons to come, once there is a winner: its duels with itself do not count."""
        winner, found = self._winner(state)
        return state, Quiet(winner, jnp.where(found, limit, 0))

    def _winner(self, state: BordaCBState) -> tuple[jax.Array, jax.Array]:
        """The arm of the largest estimate, () int32, and () bool, True if it is surely the best.

        The bounds are apart where K lead / t > 4 sqrt(K / t log(2 K T / delta)), `lead` its wins
        less those of the second.
        """
        won = jnp.where(self.active_arms, state.won, -1)
        first = lax.argmax(won, 0, jnp.int32)
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        second = jnp.max(jnp.where(arms == first, -1, won))
        lead = (won[first] - second).astype(jnp.float32)
        size = count_true(self.active_arms).astype(jnp.float32)
        log_term = jnp.log(2.0 * size * jnp.asarray(self.horizon, jnp.float32) / self.delta)
        return first, size * lead * lead > 16.0 * state.t.astype(jnp.float32) * log_term
