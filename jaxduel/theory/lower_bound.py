"""The least regret that any consistent policy can have in a Copeland dueling bandit.

Paper: Komiyama, Honda and Nakagawa (ICML 2016), Theorem 2, and Theorem 6 for several winners.
"""

from __future__ import annotations

import dataclasses

from jaxduel.errors import SolverError
from jaxduel.problems import DuelingProblem
from jaxduel.theory.copeland_program import solve
from jaxduel.theory.ecw import efficient_exploration
from jaxduel.theory.exploration import CopelandBound, best_bound, chosen_winners, explore


def copeland_lower_bound(
    problem: DuelingProblem, *, winner: int | None = None, tolerance: float = 1e-7
) -> CopelandBound:
    """The constant C of Theorem 2: no strongly consistent policy has "copeland" regret below
    C log T - o(log T), and CW-RMED attains it (Theorem 3).

    C is the cost of the cheapest exploration that identifies some Copeland winner. With one winner
    it is the solution of a linear program; with two or more Theorem 6 gives it in closed form, that
    of Theorem 5.

    Args:
      problem: the instance; without ties.
      winner: identify this Copeland winner, counted from 0; the cheapest if None.
      tolerance: how large the relative gap may be between the constant and a lower bound on it
        from duality.

    Returns:
      The constant, in "copeland" regret per log T, and an optimal allocation, which satisfies all
      constraints.

    Raises:
      InputError: two arms are tied, or `winner` is not a Copeland winner.
      SolverError: the linear program was not solved to the tolerance.
    """
    instance = explore(problem)
    winners = chosen_winners(problem, winner)
    if len(instance.winners) > 1:
        return best_bound(instance, {arm: efficient_exploration(instance, arm) for arm in winners})
    (only,) = winners
    explored, lower = solve(instance, only)
    bound = best_bound(instance, {only: explored})
    gap = max(0.0, 1.0 - lower / bound.constant)
    if gap > tolerance:
        raise SolverError(
            f"the lower bound of '{problem.name}' is known only to lie between {lower:.9g} and "
            f"{bound.constant:.9g}: a relative gap of {gap:.2g}, above the tolerance {tolerance:g}."
        )
    return dataclasses.replace(bound, gap=gap)
