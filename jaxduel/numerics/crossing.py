"""When a test that only time can change changes: the last comparison before a crossing."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax


def steps_while(
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
