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
    """Tosses coins for theta > 1/2, with probabilities as of `signed_tail`.

    The small side's probability is compared with 63 random bits, the first 31 as an integer, the
    rest as a fraction. Rounding adds an absolute error of at most 2^-63 and a relative one of at
    most 2^-24: 1e-13 is still right to a millionth of itself; a probability far below 2^-63 becomes
    0 or 2^-63.

    Args:
      seed: the step's seed.
      position: a number for each coin, at least 0; coins with equal numbers fall on the same side.
      stream: of the random words.
      tail: float32 in [-1/2, 1/2]: P(theta > 1/2), or minus P(theta < 1/2), whichever is smaller.

    Returns:
      True where theta > 1/2: bool of the shape that `position` and `tail` share.
    """
    small = _below(*random_words(seed, position, stream), jnp.abs(tail))
    return materialize(small ^ (tail < 0), tail.ravel()[0] > 1.0)


def _below(high: jax.Array, low: jax.Array, chance: jax.Array) -> jax.Array:
    """True where `high` less its last bit, then `low`, as a binary fraction, is below `chance`."""
    level = chance * jnp.float32(_GRAIN)
    whole = jnp.floor(level)
    limit, first = whole.astype(jnp.int32), (high >> jnp.uint32(1)).astype(jnp.int32)
    last = low.astype(jnp.float32) * jnp.float32(2.0**-32)
    return (first < limit) | ((first == limit) & (last < level - whole))


def steps_before(
    first: jax.Array, second: jax.Array, chance: jax.Array, limit: jax.Array
) -> jax.Array:
    """The number of independent steps before the first one in which an event happens.

    To be called within `jax.enable_x64(True)`: lengths are drawn in float64, exact to the step,
    with the relative accuracy of the chance, whatever its size.

    Args:
      first, second: () uint32, random words.
      chance: () float64 in (0, 1], the event's probability in a step.
      limit: () int32, at least 0.

    Returns:
      () int32, from 0 to `limit`, which also stands for all larger numbers.
    """
    length = jnp.floor(jnp.log1p(-unit(first, second)) / jnp.log1p(-chance))
    return jnp.minimum(length, limit.astype(jnp.float64)).astype(jnp.int32)


def unit(high: jax.Array, low: jax.Array) -> jax.Array:
    """A uniform number in (0, 1], float64, relatively accurate near 0, from two random words."""
    tail = (low.astype(jnp.float64) + 0.5) * 2.0**-32
    return (high.astype(jnp.float64) + tail) * 2.0**-32
