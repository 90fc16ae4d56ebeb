"""A knockout among the arms whose champion then meets all others, and the walk that decides which
of two arms beats the other.

Round after round the arms that are still in meet in pairs, first and second, third and fourth, in
their order; of an odd number the last goes on unmet. So of arms in the leaves of a binary tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.float64 import in_float64, to_int32
from jaxduel.policies.base import NO_WINNER, UNDECIDED, Duel, Key, Quiet
from jaxduel.policies.checks import require
from jaxduel.policies.registry import name_of

_ROUNDED = 1e-6
"""More than a ratio is off for parameters that have 32 bits."""


class Knockout(NamedTuple):
    """A knockout, between two matches."""

    arms: jax.Array  # (K,) int32: those that wait for this round, from `place` on; before, the next
    size: jax.Array  # () int32: number of arms in this round; 1 when it is over: arms[0] has won
    place: jax.Array  # () int32: of the first of the two that meet; 0 when it is over


def first_match(active: jax.Array) -> Knockout:
    """The knockout of the active arms, two at least, in index order."""
    arms = jnp.argsort(~active, stable=True).astype(jnp.int32)
    return Knockout(arms, jnp.sum(active, dtype=jnp.int32), jnp.int32(0))


def is_over(knockout: Knockout) -> jax.Array:
    """True if one arm is left, arms[0]: () bool."""
    return knockout.size == 1


def next_match(knockout: Knockout, first_wins: jax.Array) -> Knockout:
    """The knockout after a match; the same if it was over."""
    arms, size, place = knockout
    winner = jnp.where(first_wins, arms[place], arms[place + 1])
    arms = arms.at[place // 2].set(winner)
    place = place + 2
    ends = place + 1 >= size
    unmet = jnp.where(ends & (place < size), place, 0)
    arms = arms.at[jnp.where(unmet > 0, unmet // 2, 0)].set(arms[unmet])
    after = Knockout(arms, jnp.where(ends, (size + 1) // 2, size), jnp.where(ends, 0, place))
    return jax.tree.map(lambda new, old: jnp.where(is_over(knockout), old, new), after, knockout)


@dataclass(frozen=True, kw_only=True)
class KnockoutSettings:
    """The inputs of a policy whose champion of a knockout meets all others, and its pairs.

    Attributes:
      num_arms: K; formulas count the active ones.
      active_arms: (K,) bool, the arms that exist.
      gamma: the error, in (0, 1).
      margin: h, in (0, 1/2).
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    gamma: float | jax.Array = 0.05
    margin: float | jax.Array = 0.05

    assumes: ClassVar[tuple[str, ...]] = ("no ties",)

    def validate(self) -> None:
        """Raises InputError for an error or a margin out of range."""
        name = name_of(self)
        require(self.gamma, lambda x: (x > 0) & (x < 1), f"{name}: gamma must be in (0, 1)")
        require(self.margin, lambda x: (x > 0) & (x < 0.5), f"{name}: margin must be in (0, 1/2)")

    def act(self, state: Any, key: Key) -> Duel:
        """The pair that is not decided."""
        return Duel(state.left, state.right)

    def quiet(self, state: Any, limit: jax.Array, key: Key) -> tuple[Any, Quiet]:
        """All comparisons to come, once there is an answer."""
        return state, Quiet(state.left, jnp.where(state.left == state.right, limit, 0))

    def answer(self, state: Any) -> jax.Array:
        """The champion once it has beaten all arms, `NO_WINNER` once it has lost: () int32."""
        return state.answer


class Pairing(NamedTuple):
    """The two arms that meet after a verdict, or the answer."""

    left: jax.Array  # () int32: the champion once the knockout is over, but for `NO_WINNER`
    right: jax.Array  # () int32: `left` itself once there is an answer
    answer: jax.Array  # () int32


def after_verdict(
    before: Knockout, after: Knockout, left_wins: jax.Array, rivals: jax.Array, verdicts: jax.Array
) -> Pairing:
    """The next match, the next rival of the champion, or the arm that is played from now on.

    Args:
      before, after: the knockout as the verdict found it, and as it left it.
      left_wins: whether the left arm, the champion of a knockout that was over, has won: () bool.
      rivals: the arms that `after.arms[after.place]` has not beaten yet: (K,) bool.
      verdicts: verdicts for each arm, this one included: (K,) int32.

    Returns:
      The pair. The answer is the champion once it has no rivals, `NO_WINNER` once it has lost: then
      the arm of most verdicts meets itself (ties: the lowest index).
    """
    over, champion = is_over(after), after.arms[after.place]
    lost = is_over(before) & ~left_wins
    left = jnp.where(lost, lax.argmax(verdicts, 0, jnp.int32), champion)
    proved = jnp.where(over & ~jnp.any(rivals), champion, UNDECIDED)
    answer = jnp.where(lost, NO_WINNER, proved)
    rival = jnp.where(answer == UNDECIDED, lax.argmax(rivals, 0, jnp.int32), left)
    return Pairing(left, jnp.where(over, rival, after.arms[after.place + 1]), answer)


def lead_needed(error: Any, margin: Any) -> jax.Array:
    """The lead at which a walk of wins less losses of a pair ends: Wald's test of p >= 1/2 + h
    against p <= 1/2 - h.

    Args:
      error: e, of either kind, in (0, 1/2).
      margin: h, in (0, 1/2).

    Returns:
      () int32: 1 + ceil(log((1 - e) / e) / log((1/2 + h) / (1/2 - h))).

    Example:
      >>> from jaxduel.policies.identification.knockout import lead_needed
      >>> int(lead_needed(0.05 / 20, 0.05))
      31
    """

    def formula(e: jax.Array, h: jax.Array) -> jax.Array:
        ratio = jnp.log((1 - e) / e) / jnp.log((0.5 + h) / (0.5 - h))
        return to_int32(1 + jnp.ceil(ratio - _ROUNDED))

    return in_float64(formula, error, margin)
