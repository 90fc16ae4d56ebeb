"""Work on short arrays, vectorized over lanes.

vmap puts the lanes first and the arms last, and XLA's loops on a CPU run along the last axis: a sum
over 16 arms is 16 dependent additions there, for one lane after another. With the lanes last a
processor adds for 8 or 16 of them at once.

What else keeps XLA from vectorizing a loop over lanes: `jnp.stack` within it, which becomes
branches (`jnp.where` of an iota does not), and a reduction fused with the long expression that it
reads (`jaxduel.numerics.memory`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap

from jaxduel.numerics.target import for_accelerator


def lanes_last(work: Callable[..., Any]) -> Callable[..., Any]:
    """`work`, which under vmap computes all lanes at once, along the last axis of its arrays.

    On an accelerator, which gains nothing by it, vmap is unchanged.

    Args:
      work: a function of pytrees of arrays, elementwise (with broadcasting) along all axes but
        known leading ones. Lanes are added as the last axis, of length 1 for shared arrays. A
        further vmap adds its axis before the lanes'.
    """
    batched = _batched(work, -1)

    @wraps(work)
    def called(*given: Any) -> Any:
        return work(*given) if for_accelerator() else batched(*given)

    return called


def _batched(work: Callable[..., Any], axis: int) -> Any:
    """`work` with a batching rule that adds lanes at `axis`."""
    one = custom_vmap(work)

    @one.def_vmap
    def _(size: int, are_batched: Any, *given: Any) -> Any:

        def moved(x: jax.Array, is_batched: bool) -> jax.Array:
            return jnp.moveaxis(x, 0, axis) if is_batched else jnp.expand_dims(x, axis)

        done = _batched(work, -2)(*jax.tree.map(moved, given, tuple(are_batched)))
        done = jax.tree.map(lambda x: jnp.moveaxis(x, axis, 0), done)
        return done, jax.tree.map(lambda _: True, done)

    return one


def least(values: jax.Array, ceiling: float) -> jax.Array:
    """The least number along the first axis, or the ceiling if that is less.

    On a CPU XLA gives `jnp.min` to a library, which takes longer for so few numbers; it keeps an
    operation that it does not recognise.
    """
    start = jnp.asarray(ceiling, values.dtype)
    return lax.reduce(values, start, lambda x, y: jnp.where(y < x, y, x), (0,))


def largest(values: jax.Array, floor: float) -> jax.Array:
    """The largest number along the first axis, or the floor if that is more: see `least`."""
    start = jnp.asarray(floor, values.dtype)
    return lax.reduce(values, start, lambda x, y: jnp.where(y > x, y, x), (0,))


def first_true(mask: jax.Array) -> jax.Array:
    """The first index along the first axis where a (K, ...) mask is true, K if nowhere."""
    indices = lax.broadcasted_iota(jnp.int32, mask.shape, 0)
    return least(jnp.where(mask, indices, len(mask)), len(mask))
