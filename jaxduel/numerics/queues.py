"""Queues of entries that are grouped by owner."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def owners(starts: jax.Array, first: jax.Array, number: int) -> jax.Array:
    """Owners of the entries first, first + 1, ... of a queue; meaningless beyond its end.

    Args:
      starts: (W,) int32, not decreasing, number of entries before each owner's; an owner without
        entries has the next owner's number.
      first: () int32, at least the first owner's start.
      number: number of entries.

    Returns:
      (number,) int32.
    """
    begun = jnp.zeros(number, jnp.int32)
    begun = begun.at[jnp.maximum(starts - first, 0)].add(1, mode="drop")
    return jnp.cumsum(begun, dtype=jnp.int32) - 1
