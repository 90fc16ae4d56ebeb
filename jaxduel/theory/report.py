"""All bounds of an instance at a glance: the text of `jaxduel bounds`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import overload

import numpy as np

from jaxduel.errors import InputError
from jaxduel.problems import ArmsProblem, DuelingProblem, sst_violation, sti_violation
from jaxduel.problems.assumptions import tie_violation
from jaxduel.theory.arms_report import ArmBoundsReport, arm_bounds
from jaxduel.theory.batched_bounds import pcomp_bound, require_rounds, scomp2_order, scomp_order
from jaxduel.theory.condorcet import condorcet_lower_bound, rmed1_constant
from jaxduel.theory.ecw import ecw_allocation
from jaxduel.theory.lower_bound import copeland_lower_bound
from jaxduel.theory.table import Bound, bound_unless, shown, table
from jaxduel.theory.upper_bounds import (
    ccb_constant,
    dts_constant,
    dts_refined_constant,
    scb_order,
)

_KOMIYAMA = "Komiyama et al. 2016, Theorem"
_RMED = "Komiyama et al. 2015, Theorem"
_ZOGHI = "Zoghi et al. 2015, Theorem"
_WU = "Wu and Liu 2016,"
_BATCHED = "Agarwal et al. 2022, Theorem"
_ORDER = " (an order, not a bound)"


@dataclasses.dataclass(frozen=True)
class BoundsReport:
    """An instance's bounds, and the numbers that they depend on; arms are counted from 0."""

    name: str
    """What the instance is called."""
    num_arms: int
    """K."""
    copeland_winners: tuple[int, ...]
    """The arms that beat most others; C is their number."""
    fewest_losses: int
    """L_1: how many arms beat a Copeland winner."""
    smallest_gap: float
    """The least |p_ij - 1/2| over all pairs; 0 if two arms are tied."""
    bounds: tuple[Bound, ...]
    """The bounds, those that apply and those that do not."""

    def lines(self) -> list[str]:
        """The report as text."""
        title = (
            f"{self.name}: K = {self.num_arms}, C = {len(self.copeland_winners)} Copeland winner"
            f"{'s' if len(self.copeland_winners) > 1 else ''} "
            f"({shown(self.copeland_winners)}; arms counted from 0), "
            f"L_1 = {self.fewest_losses}, smallest gap {self.smallest_gap:.4g}"
        )
        unit = "  constants multiply log T (natural); bounds at a T are the regret itself"
        return [title, unit, *table(self.bounds)]


@overload
def bounds(
    problem: DuelingProblem, horizon: int | None = None, num_batches: int | None = None
) -> BoundsReport: ...


@overload
def bounds(
    problem: ArmsProblem, horizon: int | None = None, num_batches: int | None = None
) -> ArmBoundsReport: ...


def bounds(
    problem: DuelingProblem | ArmsProblem,
    horizon: int | None = None,
    num_batches: int | None = None,
) -> BoundsReport | ArmBoundsReport:
    """All bounds that apply to an instance.

    Args:
      problem: the instance; arms with rewards have a report of their own.
      horizon: T, for the bounds of batched policies, which are left out without it.
      num_batches: B, or M of arms with rewards, likewise.

    Raises:
      InputError: only one of `horizon` and `num_batches`, or not 2 <= B <= T, or 1 <= M <= T.
      SolverError: the lower bound's linear program was not solved.
    """
    if isinstance(problem, ArmsProblem):
        return arm_bounds(problem, horizon, num_batches)
    margins = np.asarray(problem.preferences, dtype=np.float64) - 0.5
    losses = np.sum(margins < 0, axis=1)
    apart = np.abs(margins[np.triu_indices(problem.num_arms, 1)])
    return BoundsReport(
        name=problem.name,
        num_arms=problem.num_arms,
        copeland_winners=problem.copeland_winners,
        fewest_losses=int(losses.min()),
        smallest_gap=float(apart.min()),
        bounds=(*_constants(problem), *_batched(problem, horizon, num_batches)),
    )


def _constants(problem: DuelingProblem) -> list[Bound]:
    tie = tie_violation(problem)
    tied = None if tie is None else tie.reason
    cyclic = "no Condorcet winner" if problem.condorcet_winner is None else None
    rows: tuple[tuple[str, str, Callable[[], float], str, str | None], ...] = (
        ("lower bound, Copeland", "copeland", lambda: copeland_lower_bound(problem).constant,
         f"{_KOMIYAMA} 2; CW-RMED attains it", tied),
        ("ECW-RMED", "copeland", lambda: ecw_allocation(problem).constant,
         f"{_KOMIYAMA} 4", tied),
        ("CCB", "copeland", lambda: ccb_constant(problem),
         f"{_ZOGHI} 3, with the smallest gap", tied),
        ("SCB", "copeland", lambda: scb_order(problem), f"{_ZOGHI} 5{_ORDER}", tied),
        ("D-TS", "copeland", lambda: dts_constant(problem),
         f"{_WU} Proposition 1, alpha = 0.51", tied),
        ("D-TS, refined", "copeland", lambda: dts_refined_constant(problem),
         f"{_WU} Theorem 1, alpha = 0.51", tied or _assumption_2(problem)),
        ("lower bound, Condorcet", "copeland",
         lambda: condorcet_lower_bound(problem, "copeland"), f"{_RMED} 1, Copeland gaps", cyclic),
        ("lower bound, Condorcet", "average", lambda: condorcet_lower_bound(problem),
         f"{_RMED} 1; RMED2 attains it", cyclic),
        ("RMED1", "average", lambda: rmed1_constant(problem), "Komiyama et al. 2015", cyclic),
    )  # fmt: skip
    return [bound_unless(*row) for row in rows]


def _batched(problem: DuelingProblem, horizon: int | None, num_batches: int | None) -> list[Bound]:
    if (horizon is None) != (num_batches is None):
        raise InputError("bounds of batched policies need the horizon and the number of batches.")
    cyclic = "no Condorcet winner" if problem.condorcet_winner is None else None
    if horizon is None or num_batches is None:
        unknown = "depends on the horizon and the number of batches"
        return [Bound(name, "average", None, unknown) for name in ("PCOMP", "SCOMP", "SCOMP2")]
    require_rounds(horizon, num_batches)
    at = (problem, horizon, num_batches)
    when = f" at T = {horizon:,}, B = {num_batches}"
    disorder = cyclic
    if disorder is None and sst_violation(problem) is not None:
        disorder = "no strong stochastic transitivity"
    if disorder is None and sti_violation(problem) is not None:
        disorder = "no stochastic triangle inequality"
    rows: tuple[tuple[str, str, Callable[[], float], str, str | None], ...] = (
        (f"PCOMP{when}", "average", lambda: pcomp_bound(*at), f"{_BATCHED} 3.1", cyclic),
        (f"SCOMP{when}", "average", lambda: scomp_order(*at), f"{_BATCHED} 3.2{_ORDER}", disorder),
        (f"SCOMP2{when}", "average", lambda: scomp2_order(*at), f"{_BATCHED} 3.4{_ORDER}",
         disorder),
    )  # fmt: skip
    return [bound_unless(*row) for row in rows]


def _assumption_2(problem: DuelingProblem) -> str | None:
    try:
        dts_refined_constant(problem)
    except InputError:
        return "its Assumption 2 fails"
    return None
