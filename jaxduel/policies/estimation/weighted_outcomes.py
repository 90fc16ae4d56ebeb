"""Outcomes weighted by inverse probabilities: the variances of an estimated win matrix.

Chiang et al. (ICML 2024), equations (4) and (5). Of a pair a = (i, j), i < j, that is compared with
probability P_t(a), X_t(a) = H_t 1{A_t = a} / P_t(a), where H_t is 1 if i won and 0 if j did. The
mean of X_t over all comparisons is an unbiased estimate of p_ij.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import compensated


class WeightedOutcomes(NamedTuple):
    """Sums of X_t(a) and of its square for the pairs i < j, 0 elsewhere, with their carries."""

    sums: jax.Array  # (K, K) float32
    sums_carry: jax.Array  # (K, K) float32
    squares: jax.Array  # (K, K) float32
    squares_carry: jax.Array  # (K, K) float32


def no_outcomes(num_arms: int) -> WeightedOutcomes:
    """Before the first comparison."""
    none = jnp.zeros((num_arms, num_arms), jnp.float32)
    return WeightedOutcomes(none, none, none, none)


def with_wins(seen: WeightedOutcomes, wins: jax.Array, chances: jax.Array) -> WeightedOutcomes:
    """The sums with more outcomes.

    Args:
      seen: the sums so far.
      wins: (K, K) int32, their wins of i over j.
      chances: (K, K) float32, the P_t(a) of all of them, positive where there are wins.
    """
    ours = jnp.triu(wins, 1)
    x = jnp.where(ours > 0, ours / jnp.where(ours > 0, chances, 1.0), 0.0)
    squares = jnp.where(ours > 0, x / jnp.where(ours > 0, chances, 1.0), 0.0)
    return WeightedOutcomes(
        *compensated.add(seen.sums, seen.sums_carry, x),
        *compensated.add(seen.squares, seen.squares_carry, squares),
    )


def variances_of(seen: WeightedOutcomes, number: jax.Array) -> jax.Array:
    """Sigma_aa, the variance of X_t(a) over `number` comparisons, at [i, j] and [j, i]: (K, K)
    float32, 0 where i never won."""
    n = jnp.maximum(number, 1).astype(jnp.float32)
    mean = compensated.value(seen.sums, seen.sums_carry) / n
    above = compensated.value(seen.squares, seen.squares_carry) / n - mean * mean
    return jnp.maximum(above + above.T, 0.0)
