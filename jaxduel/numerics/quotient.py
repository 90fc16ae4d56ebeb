"""Division of counts to the last bit, on every platform.

XLA divides float32 on a GPU to two units in the last place: 3 / 6 may differ from 1 / 2 there, and
equal fractions from each other. That matters where a policy breaks ties between fractions.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.target import for_accelerator


def quotient(numerator: jax.Array, denominator: jax.Array) -> jax.Array:
    """numerator / denominator rounded to the nearest float32, or within 2^-20 units of halfway.

    On a GPU the approximate quotient q is corrected by its residual, numerator - q denominator,
    which a float32 holds exactly (T. J. Dekker, "A floating-point technique for extending the
    available precision", 1971, for the product).

    Args:
      numerator: float32, any shape, below 2^31.
      denominator: float32 of a shape that broadcasts with it, from 1 to 2^31.

    Returns:
      float32 of the broadcast shape.

    Example:
      >>> import jax.numpy as jnp
      >>> from jaxduel.numerics.quotient import quotient
      >>> quotient(jnp.float32(3), jnp.float32(6)) == quotient(jnp.float32(1), jnp.float32(2))
      Array(True, dtype=bool)
    """
    near = _approximate(numerator, denominator)
    if not for_accelerator():
        return near
    (a, b), (c, d) = _halves(near), _halves(denominator)
    residual = (((numerator - a * c) - a * d) - b * c) - b * d
    return near + residual / denominator


def _approximate(numerator: jax.Array, denominator: jax.Array) -> jax.Array:
    """XLA's quotient: exact on a CPU."""
    return numerator / denominator


def _halves(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """x as the sum of two numbers of 12 bits, whose products with others of 12 bits are exact."""
    high = lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int32) & -(2**12), jnp.float32)
    return high, x - high
