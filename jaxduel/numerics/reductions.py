"""Vectorized CPU reductions over arms, with the same bits as the plain ones.

XLA splits a sum, maximum or minimum of more than 32 numbers into windows of 32, with padding; by
its rule for NaN it compares floats one after another. Either takes 3 to 9 times as long as a
reduction in parts, or of integers in the order of the floats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.target import for_accelerator

_ROWS, _COLUMNS = 16, 32
"""Most numbers of a part along the first axis, and along the last: the compiler unrolls a loop over
this many rows, and vectorizes the remaining loop over columns."""


def add_rows(values: jax.Array) -> jax.Array:
    """The sum along the first axis of (N, ...) integers: (...), of the same dtype."""
    return _in_parts(lambda x: jnp.sum(x, axis=0, dtype=x.dtype), lax.add, values, 0, _ROWS)


def count_rows(mask: jax.Array) -> jax.Array:
    """The number of true entries along the first axis of an (N, ...) bool mask: (...) int32."""
    return add_rows(mask.astype(jnp.int32))


def largest(values: jax.Array) -> jax.Array:
    """The largest number along the last axis of (..., N) float32 or int32, no NaN: (...)."""
    return _extreme(jnp.max, lax.max, values)


def least(values: jax.Array) -> jax.Array:
    """The least number along the last axis of (..., N) float32 or int32, no NaN: (...)."""
    return _extreme(jnp.min, lax.min, values)


def _extreme(
    whole: Callable[..., jax.Array], combine: Callable[[Any, Any], jax.Array], values: jax.Array
) -> jax.Array:
    """The largest or least number along the last axis."""
    if values.dtype == jnp.float32 and not for_accelerator():
        number = lax.bitcast_convert_type(values, jnp.int32)
        number = _ordered(_extreme(whole, combine, _ordered(number)))
        return lax.bitcast_convert_type(number, jnp.float32)
    number = values.shape[-1]
    if number > _COLUMNS**2 and not for_accelerator():  # so many parts compile for minutes
        length = -(-number // _COLUMNS)
        starts = (min(start, number - length) for start in range(0, number, length))
        parts = [lax.slice_in_dim(values, at, at + length, axis=-1) for at in starts]
        return _extreme(whole, combine, reduce(combine, parts))
    return _in_parts(partial(whole, axis=-1), combine, values, -1, _COLUMNS)


def _ordered(number: jax.Array) -> jax.Array:
    """Bits of floats to integers in the order of the floats, and back."""
    return number ^ ((number >> 31) & 0x7FFFFFFF)


def _in_parts(
    whole: Callable[[jax.Array], jax.Array],
    combine: Callable[[Any, Any], jax.Array],
    values: jax.Array,
    axis: int,
    width: int,
) -> jax.Array:
    """Reduces parts of an axis of at most `width` numbers, and combines them; on an accelerator,
    all at once."""
    number = values.shape[axis]
    if for_accelerator() or number <= width:
        return whole(values)
    return reduce(combine, map(whole, jnp.split(values, [*range(width, number, width)], axis)))
