"""Round robin: all pairs in turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class RoundRobinState(NamedTuple):
    """One seed's state."""

    left: jax.Array  # () int32: the next pair is (left, right), left < right
    right: jax.Array  # () int32


@register("round-robin", label="round robin")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class RoundRobin:
    """Round robin: all pairs in turn.

    Pairs i < j are compared in lexicographic order: comparison t, from 0, is of pair number t mod
    K (K - 1) / 2, whatever was seen. So the numbers of comparisons of two pairs never differ by
    more than one; a withheld outcome is not asked for again. Average regret grows as with
    `Uniform`, by the same amount in every full round. A step costs O(1).

    From win counts it goes on where their number says: after t comparisons, pair number t comes
    next, whichever pairs the counts are of.

    Attributes:
      num_arms: K; in the formulas, the number of active arms.
      active_arms: (K,) bool, the arms that exist.

    Draws nothing. Which pairs are compared in a round cut short depends on the order of the arms;
    `simulate` shuffles them for every seed.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("round-robin", num_arms=3)
      >>> state = jd.policies.state_from_wins(policy, [[0, 1, 0], [0, 0, 0], [1, 0, 0]])
      >>> left, right = policy.act(state, jax.random.key(0))  # after (0, 1) and (0, 2)
      >>> int(left), int(right)
      (1, 2)
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array

    assumes: ClassVar[tuple[str, ...]] = ()

    def init(self, key: Key) -> RoundRobinState:
        """The first pair."""
        return RoundRobinState(jnp.int32(0), jnp.int32(1))

    def from_wins(self, wins: jax.Array, key: Key) -> RoundRobinState:
        """The pair whose turn it is after as many comparisons as `wins` counts."""
        size = count_true(self.active_arms)
        number = jnp.sum(wins, dtype=jnp.int32) % (size * (size - 1) // 2)
        rows = jnp.maximum(size - 1 - jnp.arange(self.num_arms, dtype=jnp.int32), 0)
        ends = jnp.cumsum(rows, dtype=jnp.int32)
        left = jnp.sum(ends <= number, dtype=jnp.int32)
        return RoundRobinState(left, size - (ends[left] - number))

    def act(self, state: RoundRobinState, key: Key) -> Duel:
        """The pair whose turn it is."""
        return Duel(*state)

    def update(
        self, state: RoundRobinState, plan: Duel, outcome: jax.Array, key: Key
    ) -> RoundRobinState:
        """The next pair, whatever the outcome."""
        size = count_true(self.active_arms)
        row_ends, over = state.right + 1 == size, state.left + 2 == size
        left = jnp.where(row_ends, jnp.where(over, 0, state.left + 1), state.left)
        return RoundRobinState(left, jnp.where(row_ends, left + 1, state.right + 1))

    def learn(self, state: RoundRobinState, feedback: Feedback) -> RoundRobinState:
        """Withheld outcomes change nothing."""
        return state
