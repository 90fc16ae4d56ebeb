"""The constant of ECW-RMED in closed form: on the host in float64, and in JAX for gradients.

Paper: Komiyama, Honda and Nakagawa (ICML 2016), section 4.2, Theorems 4 and 5.
"""

from __future__ import annotations

from typing import overload

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.errors import InputError
from jaxduel.numerics.bernoulli import divergence_from_half
from jaxduel.problems import DuelingProblem
from jaxduel.theory.exploration import (
    CopelandBound,
    Exploration,
    best_bound,
    chosen_winners,
    explore,
    superiors,
)


@overload
def ecw_constant(instance: DuelingProblem) -> float: ...
@overload
def ecw_constant(instance: np.ndarray | jax.Array) -> jax.Array: ...
def ecw_constant(
    instance: DuelingProblem | np.ndarray | jax.Array,
) -> float | jax.Array:
    """The constant of Theorem 4: ECW-RMED's "copeland" regret is at most C log T + o(log T).

    Of an array it is a JAX function for jit, vmap and grad. The number of arms that beat an arm
    does not change with small changes of the probabilities: almost everywhere the gradient is that
    of the costs r_ij / d(p_ij, 1/2) in the optimal allocation. The function depends on p_ij - p_ji
    only, so that the gradient is antisymmetric and right for any parameters of which both are
    made.

    Args:
      instance: a problem; or a (K, K) array of probabilities p with p + p.T = 1, K >= 2.

    Returns:
      Of a problem a float, computed in float64. Of an array (or a problem that went through a
      transformation) a float32 scalar, NaN if two arms are tied.

    Raises:
      InputError: two arms of a problem are tied, or an array is not a square matrix.
    """
    if isinstance(instance, DuelingProblem) and isinstance(instance.preferences, np.ndarray):
        return ecw_allocation(instance).constant
    array = instance.preferences if isinstance(instance, DuelingProblem) else instance
    shape = np.shape(array)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
        raise InputError(f"preferences have shape {shape}: a square matrix (K, K) is needed.")
    return _constant(jnp.asarray(array))


def ecw_allocation(problem: DuelingProblem, *, winner: int | None = None) -> CopelandBound:
    """ECW-RMED's constant with an optimal allocation of comparisons (Theorem 5).

    Args:
      problem: the instance; without ties.
      winner: identify this Copeland winner, counted from 0; the cheapest if None.

    Raises:
      InputError: two arms are tied, or `winner` is not a Copeland winner.
    """
    instance = explore(problem)
    winners = chosen_winners(problem, winner)
    return best_bound(instance, {arm: efficient_exploration(instance, arm) for arm in winners})


def efficient_exploration(instance: Exploration, winner: int) -> np.ndarray:
    """The optimum of Theorem 5 for a Copeland winner i1: (K, K) float64, symmetric, e_ij in [0, 1].

    All inferiors of i1 are fully explored against it; of the superiors S of another arm i2 (without
    i1) the h cheapest by 1 / (h - k) each, k = |S| - (L_i2 - L_1 + 1), for the cheapest h > k (the
    smallest of several), or none if k < 0.
    """
    explored = np.zeros_like(instance.cost)
    explored[winner, instance.beats[winner]] = 1.0
    least = instance.losses.min()
    for rival in range(len(instance.losses)):
        arms = superiors(instance, winner, rival)
        spared = len(arms) - int(instance.losses[rival] - least + 1)
        if rival == winner or spared < 0:
            continue
        counts = np.arange(spared + 1, len(arms) + 1)
        totals = np.cumsum(instance.cost[rival, arms])[counts - 1] / (counts - spared)
        count = counts[np.argmin(totals)]
        explored[rival, arms[:count]] = 1.0 / (count - spared)
    return explored + explored.T


@jax.jit
def _constant(preferences: jax.Array) -> jax.Array:
    num_arms = preferences.shape[0]
    margin = (preferences - preferences.T).astype(jnp.float32)
    apart = margin != 0
    losses = jnp.sum(margin < 0, axis=1, dtype=jnp.int32)
    least = jnp.min(losses)
    excess = (losses - least).astype(jnp.float32)
    regret = (excess[:, None] + excess[None, :]) / jnp.float32(2 * (num_arms - 1))
    divergence = divergence_from_half(jnp.where(apart, margin, jnp.float32(1)))
    cost = jnp.where(apart, regret / divergence, jnp.float32(0))
    arms = jnp.arange(num_arms, dtype=jnp.int32)

    def total(winner: jax.Array) -> jax.Array:
        among = (margin < 0) & (arms != winner)[None, :]
        parts = _cover(cost, among, losses - least + 1)
        parts = jnp.where(arms == winner, jnp.float32(0), parts)
        return jnp.sum(jnp.where(margin[winner] > 0, cost[winner], jnp.float32(0))) + jnp.sum(parts)

    totals = lax.map(total, arms)
    constant = jnp.min(jnp.where(losses == least, totals, jnp.inf))
    tied = jnp.sum(~apart, dtype=jnp.int32) > num_arms
    return jnp.where(tied, jnp.float32(jnp.nan), constant)


def _cover(cost: jax.Array, among: jax.Array, need: jax.Array) -> jax.Array:
    """Theorem 5 for every arm: the least cost by which every `need` of its superiors reach 1.

    Args:
      cost: (K, K) float32.
      among: (K, K) bool, the superiors of each row.
      need: (K,) int32.

    Returns:
      (K,) float32; 0 where there are fewer superiors than needed.
    """
    size = jnp.sum(among, axis=1, dtype=jnp.int32)
    ascending = jnp.sort(jnp.where(among, cost, jnp.inf), axis=1)
    sums = jnp.cumsum(jnp.where(jnp.isfinite(ascending), ascending, jnp.float32(0)), axis=1)
    counts = jnp.arange(1, cost.shape[1] + 1, dtype=jnp.int32)[None, :]
    spared = (size - need)[:, None]
    allowed = (counts > spared) & (counts <= size[:, None])
    shares = jnp.where(allowed, counts - spared, 1).astype(jnp.float32)
    best = jnp.min(jnp.where(allowed, sums / shares, jnp.inf), axis=1)
    return jnp.where(size >= need, best, jnp.float32(0))
