"""Singleton bandit machines: the UCB learners that Sparring and MultiSBM reduce duels to."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxduel.numerics.choice import first_largest
from jaxduel.policies.checks import require, require_index


def select(
    played: jax.Array,
    reward: jax.Array,
    n: jax.Array,
    active_arms: jax.Array,
    exploration: float | jax.Array,
    unplayed: float | jax.Array,
) -> jax.Array:
    """The arm of the largest index mean + sqrt(exploration log n / plays); ties: the lowest.

    Args:
      played: (K,) int32, plays of which the machine knows the reward.
      reward: (K,) int32, their rewards, 0 or 1 each, summed.
      n: () int32, the machine's clock; 0 counts as 1.
      active_arms: (K,) bool, the arms that exist; one of them is returned.
      exploration: the factor of log n.
      unplayed: the index of an arm that was never played; infinity is allowed.

    Returns:
      () int32.
    """
    times = jnp.maximum(played, 1).astype(jnp.float32)
    explore = exploration * jnp.log(jnp.maximum(n, 1).astype(jnp.float32))
    index = jnp.where(played > 0, reward / times + jnp.sqrt(explore / times), unplayed)
    return first_largest(jnp.where(active_arms, index, -jnp.inf))


def require_settings(exploration: Any, unplayed: Any, where: str) -> None:
    """Raises InputError unless exploration and unplayed are at least 0, unplayed possibly
    infinite."""
    require(exploration, lambda a: a >= 0, f"{where}: exploration must not be negative")
    require_index(unplayed, f"{where}: unplayed")
