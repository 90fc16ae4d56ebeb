"""Keeps an intermediate array in memory, where XLA would compute it anew for every reader."""

from __future__ import annotations

from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.target import for_accelerator

_Arrays = TypeVar("_Arrays")


def materialize(values: _Arrays, never: jax.Array) -> _Arrays:
    """The values, computed once and kept in memory.

    XLA fuses cheap producers into each of their readers, and drops `lax.optimization_barrier`
    before it does. The operands of a loop stay in memory, even if it takes no turn. On an
    accelerator the loop would cost more than computing the values again: they are returned
    unchanged there.

    Args:
      values: a pytree of arrays.
      never: () bool, always False, which XLA cannot know at compile time.
    """
    if for_accelerator():
        return values

    def turn(carry: tuple[jax.Array, _Arrays]) -> tuple[jax.Array, _Arrays]:
        return jnp.zeros_like(carry[0]), jax.tree.map(lambda x: x + x, carry[1])

    return lax.while_loop(lambda carry: carry[0], turn, (never, values))[1]
