"""Exponential weights, mixed with the uniform distribution, as EXP3 draws its arms."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxduel.numerics import compensated, count_true
from jaxduel.numerics.sums import product_to_add, sum_in_order


def exponential_weights(
    total: jax.Array, carry: jax.Array, rate: jax.Array, mix: jax.Array, active: jax.Array
) -> jax.Array:
    """p_i = (1 - mix) e^(rate S_i) / sum_j e^(rate S_j) + mix / K over the K active arms.

    Args:
      total: (K, ...) float32, the sums S.
      carry: (K, ...) float32, their carries (`jaxduel.numerics.compensated`).
      rate: (...) float32, not negative.
      mix: (...) float32, in [0, 1].
      active: (K, ...) bool, the arms that exist.

    Returns:
      (K, ...) float32, 0 for arms that do not exist.
    """
    below = compensated.above_least(-total, -carry, active)
    weights = jnp.where(active, jnp.exp(-product_to_add(rate, below)), 0.0)
    uniform = jnp.where(active, mix / count_true(active).astype(jnp.float32), 0.0)
    return (1.0 - mix) * weights / sum_in_order(weights, 0) + uniform
