"""The constant of log T that no policy for arms with rewards can beat.

Paper: Lai and Robbins, "Asymptotically Efficient Adaptive Allocation Rules" (Advances in Applied
Mathematics, 1985), Theorem 1 and its example of normal arms.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxduel.errors import InputError
from jaxduel.problems import ArmsProblem
from jaxduel.theory.divergence import inverse_divergence, namespace


def lai_robbins_constant(problem: ArmsProblem) -> Any:
    """The least constant of log T of a policy that is consistent on all instances of its kind.

    The sum over all arms that are not best of gap_i / d_i, where d_i is the Kullback-Leibler
    divergence of the arm's law from that of the same kind with the best mean: gap_i^2 / (2 std_i^2)
    for Gaussian rewards, whose standard deviations are taken as known, and of two coins for
    Bernoulli rewards.

    Args:
      problem: the instance; its leaves may be arrays of JAX, traced or not.

    Returns:
      The constant, of "pulls" regret; 0 if all arms are equally good. A Bernoulli arm adds nothing
      where the best arm always pays: its first zero gives it away. A float; of leaves of JAX a JAX
      scalar, differentiable where the best arm is unique.

    Raises:
      InputError: if `problem` is none of arms with rewards.

    Example:
      >>> import jaxduel as jd
      >>> jd.theory.lai_robbins_constant(jd.problems.gaussian([1, 0.5, 0]))  # 2 / 0.5 + 2 / 1
      6.0
    """
    if not isinstance(problem, ArmsProblem):
        raise InputError(
            "lai_robbins_constant: the problem must have arms with rewards, such as "
            f"jaxduel.problems.gaussian returns, not be of type {type(problem).__name__}."
        )
    if isinstance(problem.means, jax.Array):
        return _constant(problem.means, problem.std)
    std = None if problem.std is None else np.asarray(problem.std, np.float64)
    return float(_constant(np.asarray(problem.means, np.float64), std))


def _constant(means: Any, std: Any) -> Any:
    xp = namespace(means)
    best = xp.max(means)
    worse = means < best
    gaps = xp.where(worse, best - means, 1.0)
    if std is not None:
        return xp.sum(xp.where(worse, 2 * std**2 / gaps, 0.0))
    inverse = inverse_divergence(xp.where(worse, means, 0.25), xp.where(worse, best, 0.75))
    return xp.sum(xp.where(worse, gaps * inverse, 0.0))
