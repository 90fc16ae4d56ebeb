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

import math
from functools import reduce

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.sums import product_to_add, sum_in_order
from jaxduel.numerics.target import for_accelerator

ITERATIONS = 7
"""Five are enough for 1,000 arms and six for 46,340, for all losses that were tried."""

_FEW = 16
"""Arms that are added in one expression."""


def tsallis_weights(half_losses: jax.Array) -> jax.Array:
    """The weights of the arms.

    Args:
      half_losses: (K, ...) float32, the c_i = eta (L_i - min L) / 2: 0 for the best arm, infinite
        for arms that do not exist.

    Returns:
      (K, ...) float32, 0 where `half_losses` is infinite; they sum to 1 up to a relative rounding
      of 1e-6.
    """

    def improved(_: int, z: jax.Array) -> jax.Array:
        squares, cubes = _power_sums(z, half_losses)
        return z + squares * (jnp.sqrt(squares) - 1.0) / cubes

    z = jnp.ones(half_losses.shape[1:], half_losses.dtype)
    z = lax.fori_loop(0, ITERATIONS, improved, z, unroll=for_accelerator())
    roots = 1.0 / (z + half_losses)
    return roots * roots


def _power_sums(z: jax.Array, half_losses: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Sums over the arms of (z + c)^-2 and (z + c)^-3: (...) float32 each.

    More than a few arms are added in sqrt(K) sums of sqrt(K) arms, in one sum on an accelerator.
    """

    def added(sums: tuple[jax.Array, jax.Array], c: jax.Array) -> tuple[jax.Array, jax.Array]:
        roots = 1.0 / (z + c)
        squares = product_to_add(roots, roots)
        return sums[0] + squares, sums[1] + product_to_add(squares, roots)

    num_arms, none = len(half_losses), jnp.zeros_like(z)
    if num_arms <= _FEW:
        return reduce(added, half_losses, (none, none))
    turns = 1 if for_accelerator() else math.ceil(math.sqrt(num_arms))
    padding = [(0, -num_arms % turns), *((0, 0) for _ in z.shape)]
    parts = jnp.pad(half_losses, padding, constant_values=jnp.inf).reshape(turns, -1, *z.shape)
    none = jnp.zeros_like(parts[0])
    sums = lax.fori_loop(0, turns, lambda i, sums: added(sums, parts[i]), (none, none))
    return sum_in_order(sums[0], 0), sum_in_order(sums[1], 0)
