"""Sums of float32 numbers whose rounding does not depend on how many lanes run side by side."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax


def sum_in_order(values: jax.Array, axis: int) -> jax.Array:
    """The sum along an axis, added up from the first number to the last.

    XLA adds in an order that depends on the shape of the whole block, so that `jnp.sum` rounds
    differently in blocks of different widths; the maximum, which changes no number, prevents that.

    Args:
      values: float32 of any shape, none negative.
      axis: the axis.

    Returns:
      float32, without the axis.
    """
    return lax.reduce(
        values, jnp.zeros((), values.dtype), lambda x, y: jnp.maximum(x + y, 0.0), (axis,)
    )


def product_to_add(x: jax.Array, y: jax.Array) -> jax.Array:
    """x y, for a sum: rounded before it is added, whatever the width of a block.

    XLA fuses a product with the addition that reads it in programs of some shapes; the maximum,
    which changes no number, prevents that.

    Args:
      x: float32, not negative.
      y: the same, of a shape that broadcasts with `x`.
    """
    return jnp.maximum(x * y, 0.0)
