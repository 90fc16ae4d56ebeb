"""Biased coins, and tosses up to the first one that falls, where a float32 uniform, whose
resolution is 2^-24, is too coarse for the probability."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxduel.numerics.memory import materialize
from jaxduel.numerics.threefry import KeyWords, random_words

_GRAIN = 2.0**31


def bernoulli_from_tail(
    seed: KeyWords, position: jax.Array, stream: int, tail: jax.Array
) -> jax.Array:
    """Draws the event theta > 1/2 by its probability, given as by `signed_tail`, to 2^-63.

    The small side's probability is compared with 63 random bits, the first 31 as an integer, the
    rest as a fraction. Rounding adds at most 2^-63 to its error, and at most 2^-24 of itself: a
    probability of 1e-13 is still right to 1e-6 of itself, one far below 2^-63 is 0 or 2^-63.

    Args:
      seed: the step's seed.
      position: a number for each coin, at least 0; coins with equal numbers fall alike.
      stream: of the random words.
      tail: float32 in [-1/2, 1/2]: P(theta > 1/2), or minus P(theta < 1/2), the smaller of them.

    Returns:
      True where theta > 1/2: bool of the shape that `position` and `tail` share.
    """
    small = _below(*random_words(seed, position, stream), jnp.abs(tail))
    return materialize(small ^ (tail < 0), tail.ravel()[0] > 1.0)


def _below(high: jax.Array, low: jax.Array, chance: jax.Array) -> jax.Array:
    """True where the binary fraction with digits `high`, less its last, then `low` is < chance."""
    level = chance * jnp.float32(_GRAIN)
    whole = jnp.floor(level)
    limit, first = whole.astype(jnp.int32), (high >> jnp.uint32(1)).astype(jnp.int32)
    last = low.astype(jnp.float32) * jnp.float32(2.0**-32)
    return (first < limit) | ((first == limit) & (last < level - whole))


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
