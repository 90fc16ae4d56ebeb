"""Bounds for instances with a Condorcet winner: constants of log T.

Paper: Komiyama, Honda, Kashima and Nakagawa, "Regret Lower Bound and Optimal Algorithm in Dueling
Bandit Problem" (COLT 2015), Theorem 1 and the theorem on RMED1. A policy has to know of each arm
that one of its superiors beats it, no more: a tie of other arms does no harm.

Of an array they are functions of JAX (`jaxduel.theory`): NaN without a Condorcet winner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from jaxduel.arguments import require_known
from jaxduel.errors import InputError
from jaxduel.problems import DuelingProblem
from jaxduel.theory.divergence import divergence_from_half, namespace
from jaxduel.theory.margins import Instance, best_arm, evaluate, has_condorcet_winner


def condorcet_lower_bound(instance: Instance, regret: str = "average") -> Any:
    """The least constant of log T of a policy that is consistent on all Condorcet instances.

    The sum over all arms i but the winner of min_j r_ij / d(p_ij, 1/2), over the j that beat i;
    r_ij = (g_i + g_j) / 2. RMED2 and RMED2FH attain it. Consistency on all Copeland instances can
    cost more (`copeland_lower_bound`).

    Args:
      instance: a problem, or a (K, K) array of preferences; with a Condorcet winner.
      regret: the kind of the gaps g (`DuelingProblem.gaps`): "average" as in the paper, or
        "copeland".

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: no Condorcet winner (unless traced), or an unknown regret.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.load("cyclic")
      >>> f"{jd.theory.condorcet_lower_bound(problem):.3f}"
      '0.815'
      >>> f"{jd.theory.condorcet_lower_bound(problem, regret='copeland'):.3f}"
      '5.434'
    """
    return _of_regret(_LOWER, instance, regret)


def rmed1_constant(instance: Instance, regret: str = "average") -> Any:
    """The constant of log T of RMED1: that of comparing every arm i with the winner w only.

    The sum over i != w of r_iw / d(p_iw, 1/2).

    Args:
      instance: a problem, or a (K, K) array of preferences; with a Condorcet winner.
      regret: "average" or "copeland", as for `condorcet_lower_bound`.

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: no Condorcet winner (unless traced), or an unknown regret.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.load("cyclic")
      >>> f"{jd.theory.rmed1_constant(problem):.3f}"  # the lower bound: 0.815
      '7.450'
    """
    return _of_regret(_RMED1, instance, regret)


def _of_regret(
    formulas: Mapping[str, Callable[[Any], Any]], instance: Instance, regret: str
) -> Any:
    require_known("regret", regret, formulas)
    return evaluate(formulas[regret], instance, _require_winner, has_condorcet_winner)


def _require_winner(problem: DuelingProblem) -> None:
    if problem.condorcet_winner is None:
        raise InputError(
            f"'{problem.name}' has no Condorcet winner, which this bound needs; "
            "copeland_lower_bound does not, but takes no ties."
        )


def _average_gaps(x: Any) -> Any:
    """p_wj - 1/2 of the Condorcet winner w: (K,)."""
    return x[best_arm(x)] / 2


def _copeland_gaps(x: Any) -> Any:
    """(largest score - score_j) / (K - 1): (K,)."""
    xp = namespace(x)
    scores = xp.sum(x > 0, axis=1)
    return (xp.max(scores) - scores).astype(x.dtype) / (len(x) - 1)


def _costs(x: Any, gaps: Any) -> Any:
    """r_ij / d(p_ij, 1/2) where arm j beats arm i, infinite elsewhere: (K, K)."""
    xp = namespace(x)
    beaten = x < 0
    divergence = divergence_from_half(xp.where(beaten, x, 1.0))
    return xp.where(beaten, (gaps[:, None] + gaps[None, :]) / 2 / divergence, xp.inf)


def _lower(x: Any, gaps: Callable[[Any], Any]) -> Any:
    xp = namespace(x)
    least = xp.min(_costs(x, gaps(x)), axis=1)
    return xp.sum(xp.where(xp.any(x < 0, axis=1), least, 0.0))


def _rmed1(x: Any, gaps: Callable[[Any], Any]) -> Any:
    xp = namespace(x)
    winner = best_arm(x)
    return xp.sum(xp.where(x[:, winner] < 0, _costs(x, gaps(x))[:, winner], 0.0))


_GAPS = {"average": _average_gaps, "copeland": _copeland_gaps}
_LOWER = {regret: partial(_lower, gaps=gaps) for regret, gaps in _GAPS.items()}
_RMED1 = {regret: partial(_rmed1, gaps=gaps) for regret, gaps in _GAPS.items()}
