"""Sums of float32 numbers whose rounding does not depend on how many lanes run side by side."""

from __future__ import annotations

import math
from itertools import accumulate

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.target import for_accelerator


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


def prefix_sums(values: jax.Array) -> jax.Array:
    """The sums of the first i + 1 numbers.

    A CPU adds in parts of about sqrt(K) numbers, then adds the parts: `jnp.cumsum` takes K^2
    additions there. These sums never fall; an accelerator's may, by rounding.

    Args:
      values: (K, ...) float32, none negative.

    Returns:
      (K, ...) float32, the sums along the first axis.
    """
    if for_accelerator():
        return jnp.cumsum(values, axis=0)
    number, *rest = values.shape
    width = math.ceil(math.sqrt(number))
    parts = jnp.pad(values, [(0, -number % width), *((0, 0) for _ in rest)])
    parts = parts.reshape(-1, width, *rest)
    inside = jnp.stack(list(accumulate(parts.swapaxes(0, 1))), axis=1)
    before = jnp.stack(list(accumulate(inside[:-1, -1], initial=jnp.zeros(rest, values.dtype))))
    return (inside + before[:, None]).reshape(-1, *rest)[:number]


def product_to_add(x: jax.Array, y: jax.Array) -> jax.Array:
    """x y as a term of a sum: rounded before the addition, whatever the width of a block.

    XLA fuses a product with the addition that reads it in programs of some shapes; the maximum,
    which changes no number, prevents that.

    Args:
      x: float32, not negative.
      y: the same, of a shape that broadcasts with `x`.
    """
    return jnp.maximum(x * y, 0.0)
