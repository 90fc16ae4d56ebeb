"""When a test that only time can change changes: the last comparison before a crossing."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax


def count_while_true(
    holds: Callable[[jax.Array], jax.Array], t: jax.Array, limit: jax.Array
) -> jax.Array:
    """How many of the times t + 1, t + 2, ... a condition holds for, before it first fails.

    The condition itself is evaluated, in steps that double and then by bisection, so that a
    crossing is found to the comparison with the rounding that the condition has: a closed form in
    float32 would miss it by many comparisons where t is large. A crossing n comparisons ahead takes
    2 log2 n evaluations.

    Args:
      holds: whether the condition holds at a time, () int32 to () bool; once it fails, it must fail
        at all later times.
      t: () int32, now.
      limit: () int32, at least 0: later times than t + limit do not matter, and t + limit must not
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
    """A run whose length was drawn, cut where what it was drawn by changes.

    Args:
      asked: whether there is a run at all, () bool.
      length: its length as drawn, () int32 from 0 to limit; limit stands for all that are longer.
      holds: as for `count_while_true`: whether it was drawn by the law of comparison number t.
      t: () int32, now.
      limit: () int32, at least 0.

    Returns:
      The run's length, () int32, and whether it ended as it was drawn, () bool: then the comparison
      after it is one that ends a run. Of a run that was cut nothing is known of what follows.
    """
    longest = jnp.where(asked, length + (length < limit), 0)
    stays = holds(t + longest)  # most often so, and nothing is to be searched for
    within = count_while_true(holds, t, jnp.where(stays, 0, longest))
    within = jnp.where(stays, longest, within)
    n = jnp.minimum(length, within)
    return n, n < within
