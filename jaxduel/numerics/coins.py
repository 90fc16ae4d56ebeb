"""Biased coins with a resolution of 2^-63, for small probabilities; a float32 uniform has 2^-24."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxduel.numerics.memory import materialize
from jaxduel.numerics.threefry import KeyWords, random_words

_GRAIN = 2.0**31


def bernoulli_from_tail(
    seed: KeyWords, position: jax.Array, stream: int, tail: jax.Array
) -> jax.Array:
    """Draws the event theta > 1/2 by its probability, given as by `signed_tail`.

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
