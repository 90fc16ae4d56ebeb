"""Queues of entries that belong to owners: the entries of an owner one after another."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def owners(starts: jax.Array, first: jax.Array, number: int) -> jax.Array:
    """Owners of the entries first, first + 1, ... of a queue; meaningless beyond its end.

    Args:
      starts: (W,) int32, not decreasing, entries in front of those of each owner; one without any
        has the next one's.
      first: () int32, no entry before the first owner's.
      number: of entries.

    Returns:
      (number,) int32.
    """
    begun = jnp.zeros(number, jnp.int32)
    begun = begun.at[jnp.maximum(starts - first, 0)].add(1, mode="drop")
    return jnp.cumsum(begun, dtype=jnp.int32) - 1
