"""The arms that are left after a round, and the one that is named when no other is left."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.threefry import bits
from jaxduel.policies.arms.elimination import Rewards, means_of
from jaxduel.policies.base import UNDECIDED, Key

_LARGEST = jnp.finfo(jnp.float32).max
"""Minus the average of an arm that was not pulled; the other arms come after it."""


def keep_best(rewards: Rewards, arms: jax.Array, number: jax.Array, key: Key) -> jax.Array:
    """The arms of the largest average rewards; of equal ones, as many as fit, at random.

    Arms that were not pulled have the least.

    Args:
      rewards: the pulls and rewards that count.
      arms: (K,) bool, the arms to choose from.
      number: () int32, how many are kept, at most as many as there are.
      key: source of the order of equal arms. It must not be used for anything else.

    Returns:
      (K,) bool.
    """
    places = lax.iota(jnp.int32, arms.shape[0])
    shortfall = jnp.where(arms, jnp.minimum(-means_of(rewards, arms), _LARGEST), jnp.inf)
    *_, order = lax.sort((shortfall, bits(key, arms.shape), places), num_keys=2)
    return arms & jnp.zeros_like(arms).at[order].set(places < number, unique_indices=True)


def only_one(arms: jax.Array) -> jax.Array:
    """The arm that is left, or `UNDECIDED` if there are several: () int32."""
    return jnp.where(count_true(arms) == 1, lax.argmax(arms, 0, jnp.int32), UNDECIDED)
