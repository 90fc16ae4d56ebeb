"""The constant of ECW-RMED in closed form: on the host in float64, and in JAX for gradients.

Paper: Komiyama, Honda and Nakagawa (ICML 2016), section 4.2, Theorems 4 and 5.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.problems import DuelingProblem
from jaxduel.theory.exploration import (
    CopelandBound,
    Exploration,
    best_bound,
    chosen_winners,
    costs,
    explore,
    refuse_ties,
    superiors,
)
from jaxduel.theory.margins import Instance, evaluate, losses, on_host, untied


def ecw_constant(instance: Instance) -> Any:
    """The constant of Theorem 4: ECW-RMED's "copeland" regret is at most C log T + o(log T), if
    the optimum is unique (`ecw_optimum_is_unique`).

    Of an array it is a JAX function for jit, vmap and grad (`jaxduel.theory`): the gradient is that
    of the costs r_ij / d(p_ij, 1/2) in the optimal allocation.

    Args:
      instance: a problem; or a (K, K) array of probabilities p with p + p.T = 1, K >= 2.

    Returns:
      Of a problem a float, computed in float64. Of an array (or a problem that went through a
      transformation) a JAX scalar of its dtype, float32 at least.

    Raises:
      InputError: two arms are tied (traced, this is NaN), or an array is not a square matrix.

    Example:
      >>> import jaxduel as jd
      >>> f"{jd.theory.ecw_constant(jd.problems.load('cyclic')):.2f}"
      '49.66'
    """
    if on_host(instance):
        return ecw_allocation(instance).constant
    return evaluate(_constant, instance, refuse_ties, untied)


def ecw_allocation(problem: DuelingProblem, *, winner: int | None = None) -> CopelandBound:
    """ECW-RMED's constant with an optimal allocation of comparisons (Theorem 5).

    Args:
      problem: the instance; without ties.
      winner: identify this Copeland winner, counted from 0; the cheapest if None.

    Raises:
      InputError: two arms are tied, or `winner` is not a Copeland winner.

    Example:
      >>> import jaxduel as jd
      >>> bound = jd.theory.ecw_allocation(jd.problems.load("cyclic"))
      >>> f"{bound.constant:.2f}"
      '49.66'
      >>> print(bound.allocation[0].round(1))  # of arm 0, the winner, with each arm, per log T
      [ 0.  49.7 49.7 49.7]
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


def _constant(x: jax.Array) -> jax.Array:
    """Theorem 5 of margins (K, K): the cheapest of all Copeland winners."""
    lost = losses(x)
    least = jnp.min(lost)
    cost = costs(x)
    arms = jnp.arange(len(x))

    def total(winner: jax.Array) -> jax.Array:
        among = (x < 0) & (arms != winner)[None, :]
        parts = jnp.where(arms == winner, 0.0, _cover(cost, among, lost - least + 1))
        return jnp.sum(jnp.where(x[winner] > 0, cost[winner], 0.0)) + jnp.sum(parts)

    return jnp.min(jnp.where(lost == least, lax.map(total, arms), jnp.inf))


def _cover(cost: jax.Array, among: jax.Array, need: jax.Array) -> jax.Array:
    """Theorem 5 for every arm: the least cost by which every `need` of its superiors reach 1.

    Args:
      cost: (K, K) floats.
      among: (K, K) bool, the superiors of each row.
      need: (K,) integers.

    Returns:
      (K,) of the costs' dtype; 0 where there are fewer superiors than needed.
    """
    size = jnp.sum(among, axis=1)
    ascending = jnp.sort(jnp.where(among, cost, jnp.inf), axis=1)
    sums = jnp.cumsum(jnp.where(jnp.isfinite(ascending), ascending, 0.0), axis=1)
    counts = jnp.arange(1, cost.shape[1] + 1)[None, :]
    spared = (size - need)[:, None]
    allowed = (counts > spared) & (counts <= size[:, None])
    shares = jnp.where(allowed, counts - spared, 1).astype(cost.dtype)
    best = jnp.min(jnp.where(allowed, sums / shares, jnp.inf), axis=1)
    return jnp.where(size >= need, best, 0.0)
