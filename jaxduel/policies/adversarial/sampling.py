"""Random arms in proportion to weights of very different sizes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.lanes_last import first_true, lanes_last, largest
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.sums import prefix_sums
from jaxduel.numerics.target import for_accelerator
from jaxduel.numerics.threefry import random_words, words_of
from jaxduel.policies.base import Key


def two_words(key: Key) -> jax.Array:
    """The random words of a step, one for either arm: (2,) int32 of 31 random bits."""
    return (jnp.stack(random_words(words_of(key), 0, 0)) >> jnp.uint32(1)).astype(jnp.int32)


@lanes_last
def draw(weights: jax.Array, word: jax.Array) -> jax.Array:
    """An arm with a probability in proportion to its weight; one of weight 0 is never drawn.

    By prefix sums in index order, in which the arm of the largest weight comes last: the others'
    are then rounded relative to their own sum, however small that is beside the largest weight, and
    probabilities down to 2^-31 are resolved. Estimates are divided by them.

    Args:
      weights: (K, ...) float32, not negative, one at least positive (else the result is
        meaningless).
      word: int32 that broadcasts with (...), of 31 random bits.

    Returns:
      (...) int32.
    """
    word = materialize(word, word.ravel()[0] < 0)  # else drawn as often as it is read
    arms = lax.broadcasted_iota(jnp.int32, weights.shape, 0)
    most = largest(weights, 0)
    top = first_true(weights == most)
    others = jnp.where(arms == top, 0.0, weights)
    ends = prefix_sums(others)
    level = unit(word) * (ends[-1] + most)
    reached = ends > level
    if for_accelerator():  # where prefix sums may fall
        reached &= others > 0
    first = first_true(reached)
    return jnp.where(first < len(weights), first, top)


def unit(word: jax.Array) -> jax.Array:
    """A uniform number in (0, 1], float32, with a grain of 2^-31 near 0, of 31 random bits."""
    return (word.astype(jnp.float32) + 0.5) * jnp.float32(2.0**-31)
