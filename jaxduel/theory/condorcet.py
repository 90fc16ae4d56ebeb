"""Constants of log T for instances with a Condorcet winner: the lower bound and RMED1's.

Paper: Komiyama, Honda, Kashima and Nakagawa, "Regret Lower Bound and Optimal Algorithm in Dueling
Bandit Problem" (COLT 2015), Theorem 1 and the theorem on RMED1. A policy has to know of each arm
that one of its superiors beats it, no more: a tie of other arms does no harm.
"""

from __future__ import annotations

import numpy as np

from jaxduel.errors import InputError, unknown_name
from jaxduel.problems import DuelingProblem
from jaxduel.theory.exploration import divergence_from_half

_REGRETS = ("average", "copeland")


def condorcet_lower_bound(problem: DuelingProblem, regret: str = "average") -> float:
    """The least constant of log T of a policy that is consistent on all Condorcet instances.

    The sum over all arms i but the winner of min_j r_ij / d(p_ij, 1/2), over the j that beat i;
    r_ij = (g_i + g_j) / 2. RMED2 and RMED2FH attain it. Consistency on all Copeland instances can
    cost more (`copeland_lower_bound`).

    Args:
      problem: the instance, with a Condorcet winner.
      regret: whose gaps g are meant (`DuelingProblem.gaps`): "average" as in the paper, or
        "copeland".

    Raises:
      InputError: no Condorcet winner, or an unknown regret.
    """
    _, cost, beaten = _costs(problem, regret)
    return float(np.sum(np.min(np.where(beaten, cost, np.inf), axis=1)))


def rmed1_constant(problem: DuelingProblem, regret: str = "average") -> float:
    """The constant of log T of RMED1: that of comparing every arm i with the winner w only.

    The sum over i != w of r_iw / d(p_iw, 1/2).

    Args:
      problem: the instance, with a Condorcet winner.
      regret: "average" or "copeland", as for `condorcet_lower_bound`.

    Raises:
      InputError: no Condorcet winner, or an unknown regret.
    """
    winner, cost, _ = _costs(problem, regret)
    return float(np.sum(cost[:, winner]))


def winner_gaps(problem: DuelingProblem) -> np.ndarray:
    """The gaps p_wj - 1/2 > 0 of the other arms to the Condorcet winner w: (K - 1,) float64.

    Raises:
      InputError: there is none.
    """
    gaps = problem.gaps("average")
    return np.delete(gaps, np.argmin(gaps))


def _costs(problem: DuelingProblem, regret: str) -> tuple[int, np.ndarray, np.ndarray]:
    """The winner, and for all other arms (rows) the cost of and mask of their superiors."""
    if regret not in _REGRETS:
        raise unknown_name("regret", regret, _REGRETS)
    winner = problem.condorcet_winner
    if winner is None:
        raise InputError(
            f"'{problem.name}' has no Condorcet winner, which this bound needs: use "
            "copeland_lower_bound."
        )
    others = np.arange(problem.num_arms) != winner
    p = np.asarray(problem.preferences, dtype=np.float64)[others]
    beaten = p < 0.5
    gaps = problem.gaps(regret)
    divergence = np.where(beaten, divergence_from_half(np.where(beaten, p, 0.0)), 1.0)
    return winner, (gaps[others, None] + gaps[None, :]) / 2 / divergence, beaten
