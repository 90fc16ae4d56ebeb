"""Lengths of random runs: geometric numbers whose rates may be very small."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def steps_before(
    first: jax.Array, second: jax.Array, chance: jax.Array, limit: jax.Array
) -> jax.Array:
    """The number of independent steps before the first one in which an event happens.

    Within `jax.enable_x64(True)`: the draw is made in float64, so that lengths are exact to the
    step, with the relative accuracy that the chance has, whatever its size.

    Args:
      first, second: () uint32, random words.
      chance: () float64 in (0, 1], that it happens in a step.
      limit: () int32, at least 0.

    Returns:
      () int32, from 0 to `limit`, which stands for all numbers that are larger, too.
    """
    length = jnp.floor(jnp.log1p(-unit(first, second)) / jnp.log1p(-chance))
    return jnp.minimum(length, limit.astype(jnp.float64)).astype(jnp.int32)


def unit(high: jax.Array, low: jax.Array) -> jax.Array:
    """A uniform number in (0, 1], float64, relatively accurate near 0, of two random words."""
    tail = (low.astype(jnp.float64) + 0.5) * 2.0**-32
    return (high.astype(jnp.float64) + tail) * 2.0**-32
