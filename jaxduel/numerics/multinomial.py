"""Multinomial draws: counts of each outcome in many independent draws."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.binomial import binomial
from jaxduel.numerics.threefry import fold_in


def multinomial(key: jax.Array, n: jax.Array, weights: jax.Array) -> jax.Array:
    """Counts of each arm in n draws in proportion to weights: one multinomial draw.

    Arm by arm, a binomial share of the draws that are left, as exact as
    `jaxduel.numerics.binomial`. Under `jax.vmap` nothing is computed where every n is 0.

    Args:
      key: a scalar PRNG key.
      n: () int32, from 0 to 2^31 - 1.
      weights: (K,) float32, not negative; if all are 0, nothing is counted.

    Returns:
      (K,) int32 that sum to n (to 0 if all weights are 0), 0 where the weight is 0.
    """
    arms = lax.iota(jnp.int32, weights.shape[0])

    def share(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        counts, draws, left = carry
        arm = lax.argmax(left > 0, 0, jnp.int32)
        chance = jnp.minimum(left[arm] / jnp.sum(left), 1.0)
        left = jnp.where(arms == arm, 0.0, left)
        chance = jnp.where(jnp.any(left > 0), chance, 1.0)
        number = binomial(fold_in(key, arm), draws, chance)
        return jnp.where(arms == arm, number, counts), draws - number, left

    def goes_on(carry: tuple[jax.Array, ...]) -> jax.Array:
        _, draws, left = carry
        return (draws > 0) & jnp.any(left > 0)

    return lax.while_loop(goes_on, share, (jnp.zeros_like(arms), n, weights))[0]
