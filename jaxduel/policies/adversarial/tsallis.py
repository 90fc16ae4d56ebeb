"""The weights of Tsallis-INF with power 1/2, by Newton's method.

Zimmert and Seldin, "Tsallis-INF: An Optimal Algorithm for Stochastic and Adversarial Bandits" (JMLR
2021), write w_i = 4 / (eta (L_i - x))^2, with x below all L_i such that the weights sum to 1. With
z = eta (min L - x) / 2 and c_i = eta (L_i - min L) / 2 that is w_i = 1 / (z + c_i)^2, 1 <= z <=
sqrt K, and differences of losses enter alone.

s(z)^(-1/2), s the sum of the weights, is K^(-1/2) times a power mean of the z + c_i of exponent -2,
hence increasing and concave, and linear where all c_i are equal. Newton's method on s^(-1/2) = 1
from z = 1, where s >= 1, rises to the root without a safeguard.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.sums import product_to_add, sum_in_order

ITERATIONS = 7
"""Five are enough for 1,000 arms and six for 46,340, for all losses that were tried."""


def tsallis_weights(half_losses: jax.Array) -> jax.Array:
    """The weights of the arms.

    Args:
      half_losses: (..., K) float32, the c_i = eta (L_i - min L) / 2: 0 for the best arm, infinite
        for arms that do not exist.

    Returns:
      (..., K) float32, 0 where `half_losses` is infinite; they sum to 1 up to a relative rounding
      of 1e-6.
    """

    def improved(_: int, z: jax.Array) -> jax.Array:
        roots = 1.0 / (z[..., None] + half_losses)
        squares = product_to_add(roots, roots)
        axis = half_losses.ndim - 1
        s = sum_in_order(squares, axis)
        return z + s * (jnp.sqrt(s) - 1.0) / sum_in_order(product_to_add(squares, roots), axis)

    z = jnp.ones(half_losses.shape[:-1], half_losses.dtype)
    z = lax.fori_loop(0, ITERATIONS, improved, z, unroll=True)
    roots = 1.0 / (z[..., None] + half_losses)
    return roots * roots
