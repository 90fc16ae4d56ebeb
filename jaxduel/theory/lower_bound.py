"""The least regret that any consistent policy can have in a Copeland dueling bandit.

Paper: Komiyama, Honda and Nakagawa (ICML 2016), Theorem 2, and Theorem 6 for several winners.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.errors import SolverError
from jaxduel.policies.checks import require_number
from jaxduel.problems import DuelingProblem
from jaxduel.theory.copeland_program import solve
from jaxduel.theory.ecw import efficient_exploration
from jaxduel.theory.exploration import (
    CopelandBound,
    best_bound,
    chosen_winners,
    costs,
    explore,
    refuse_ties,
)
from jaxduel.theory.margins import Instance, evaluate, on_host, untied


def copeland_lower_bound(
    problem: DuelingProblem, *, winner: int | None = None, tolerance: float = 1e-7
) -> CopelandBound:
    """The constant C of Theorem 2: no strongly consistent policy has "copeland" regret below
    C log T - o(log T), and CW-RMED attains it (Theorem 3) if the optimum is unique
    (`copeland_optimum_is_unique`).

    C is the cost of the cheapest exploration that identifies some Copeland winner. With one winner
    it is the solution of a linear program; with two or more Theorem 6 gives it in closed form, that
    of Theorem 5.

    Args:
      problem: the instance; without ties.
      winner: identify this Copeland winner, counted from 0; the cheapest if None.
      tolerance: largest relative gap that is accepted between the constant and a lower bound on
        it from duality.

    Returns:
      The constant, in "copeland" regret per log T, and an optimal allocation, which satisfies all
      constraints.

    Raises:
      InputError: two arms are tied, or `winner` is not a Copeland winner.
      SolverError: the linear program was not solved to the tolerance.

    Example:
      >>> import jaxduel as jd
      >>> bound = jd.theory.copeland_lower_bound(jd.problems.load("cyclic"))
      >>> f"{bound.constant:.2f} log T, to identify arm {bound.winner}"
      '27.55 log T, to identify arm 0'
    """
    require_number(tolerance, lambda x: x >= 0, "tolerance must be at least 0")
    instance = explore(problem)
    winners = chosen_winners(problem, winner)
    if len(instance.winners) > 1:
        return best_bound(instance, {arm: efficient_exploration(instance, arm) for arm in winners})
    (only,) = winners
    explored, lower = solve(instance, only)
    bound = best_bound(instance, {only: explored})
    gap = max(0.0, 1.0 - lower / bound.constant)
    if not gap <= tolerance:
        raise SolverError(
            f"the lower bound of '{problem.name}' is known only to lie between {lower:.9g} and "
            f"{bound.constant:.9g}: a relative gap of {gap:.2g}, above the tolerance {tolerance:g}."
        )
    return dataclasses.replace(bound, gap=gap)


def lower_bound_constant(instance: Instance) -> Any:
    """The constant of `copeland_lower_bound` as a function of JAX, for jit, vmap and grad.

    The linear program is solved on the host in float64, in a callback: under vmap once for each
    instance. Its costs are r_ij / d(p_ij, 1/2) and its constraints on explorations e depend on who
    beats whom only. By the envelope theorem the gradient of the optimal value, at a fixed outcome
    of all pairs, is that of the costs at an optimal exploration e*,

        sum_{i<j} e*_ij d cost_ij / d p_ij,

    in forward and reverse mode. Where several explorations are optimal, as with equal gaps, the
    solver's choice is a supergradient of the value as a function of the costs, in which it is
    concave. `jaxduel.theory` says how to read the gradient, and what holds at ties.

    Args:
      instance: a problem; or a (K, K) array of probabilities p with p + p.T = 1, K >= 2.

    Returns:
      Of a problem a float. Of an array (or a problem that went through a transformation) a JAX
      scalar of its dtype, float32 at least.

    Raises:
      InputError: two arms are tied (traced, this is NaN), or an array is not a square matrix.
      SolverError: the linear program was not solved to a relative 1e-7; of an array JAX reports it
        as an error of its own, with the message.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> problem = jd.problems.from_matrix([[0.5, 0.8], [0.2, 0.5]])
      >>> f"{jd.theory.lower_bound_constant(problem):.3f}"
      '2.594'
      >>> slope = jax.grad(jd.theory.lower_bound_constant)(problem.preferences)
      >>> bool(slope[0, 1] < 0)  # the clearer arm 0 wins, the less regret
      True
    """
    if on_host(instance):
        return copeland_lower_bound(instance).constant
    return evaluate(_cost_of_optimum, instance, refuse_ties, untied)


def _cost_of_optimum(x: jax.Array) -> jax.Array:
    """The cost, differentiable, of an optimal exploration that is a constant.

    Numbers travel to the host and back as bits: a callback's thread knows nothing of x64 where only
    its context manager has enabled it, and would round them to float32.
    """
    bits = lax.bitcast_convert_type(lax.stop_gradient(x), jnp.uint32)
    explored = jax.pure_callback(
        partial(_optimal_exploration, dtype=x.dtype),
        jax.ShapeDtypeStruct(bits.shape, bits.dtype),
        bits,
        vmap_method="sequential",
    )
    return jnp.sum(jnp.triu(costs(x) * lax.bitcast_convert_type(explored, x.dtype)))


def _optimal_exploration(bits: jax.Array, dtype: np.dtype) -> np.ndarray:
    """The bits of e*, (K, K) symmetric, from those of margins; zeros where there is no bound."""
    host = np.asarray(bits)
    x = host.view(dtype).reshape(host.shape[:2]).astype(np.float64)
    if untied(x) and np.all(np.abs(x) <= 1):
        problem = DuelingProblem((1 + x) / 2)
        explored = copeland_lower_bound(problem).allocation * explore(problem).divergence
    else:
        explored = np.zeros_like(x)
    return explored.astype(dtype).view(np.uint32).reshape(host.shape)
