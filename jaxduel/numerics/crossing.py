"""Search for the time at which a monotone condition first fails, and quiet runs cut there."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax


def count_while_true(
    holds: Callable[[jax.Array], jax.Array], t: jax.Array, limit: jax.Array
) -> jax.Array:
    """Number of the times t + 1, t + 2, ... at which a condition holds, before it first fails.

    The condition itself is evaluated, in steps that double and then by bisection, so the crossing
    is exact to one comparison, with the rounding that the condition has. A closed form in float32
    would miss it by many comparisons where t is large. A crossing n comparisons ahead takes
    2 log2 n evaluations.

    Args:
      holds: whether the condition holds at a time, () int32 to () bool; once it fails, it must fail
        at all later times.
      t: () int32, now.
      limit: () int32, at least 0: times after t + limit do not matter, and t + limit must not
        exceed int32.

    Returns:
      () int32 from 0 to limit.
    """

    def apart(loop: tuple[jax.Array, ...]) -> jax.Array:
        low, high, _ = loop
        return high - low > 1

    def probe(loop: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        low, high, step = loop
        step = jnp.minimum(step, (high - low) // 2)
        good = holds(t + low + step)
        return (
            jnp.where(good, low + step, low),
            jnp.where(good, high, low + step),
            jnp.where(good, jnp.minimum(step, 2**29) * 2, step),
        )

    first = holds(t + jnp.minimum(limit, 1)) & (limit > 0)
    high = jnp.where(first, limit, 1)
    low, high, _ = lax.while_loop(apart, probe, (jnp.int32(0) + first, high, jnp.int32(1)))
    return jnp.where(first, jnp.where((high > low) & holds(t + high), high, low), 0)


def drawn_run(
    asked: jax.Array,
    length: jax.Array,
    holds: Callable[[jax.Array], jax.Array],
    t: jax.Array,
    limit: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """Length of a run that was drawn at random, cut where the law that it was drawn from ends.

    Args:
      asked: whether there is a run at all, () bool.
      length: its length as drawn, () int32 from 0 to limit; limit stands for all that are longer.
      holds: as for `count_while_true`: whether that law still applies to comparison number t.
      t: () int32, now.
      limit: () int32, at least 0.

    Returns:
      The run's length, () int32, and () bool, True if it ends as drawn: then the next comparison is
      one that ends a run. Of a run that is cut, or reaches the limit, the next one is unknown.
    """
    longest = jnp.where(asked, length + (length < limit), 0)
    stays = holds(t + longest)  # usually True, and then no search is needed
    within = count_while_true(holds, t, jnp.where(stays, 0, longest))
    within = jnp.where(stays, longest, within)
    n = jnp.minimum(length, within)
    return n, n < within
