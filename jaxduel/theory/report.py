"""All bounds of an instance at a glance: the text of `jaxduel bounds`."""

from __future__ import annotations

import dataclasses
from typing import overload

import numpy as np

from jaxduel.display import Facts, Report
from jaxduel.errors import InputError
from jaxduel.policies import registry
from jaxduel.problems import ArmsProblem, DuelingProblem, sst_violation, sti_violation
from jaxduel.problems.arm_names import arm_text
from jaxduel.problems.assumptions import tie_violation
from jaxduel.problems.dueling import require_dueling
from jaxduel.problems.piecewise import require_constant
from jaxduel.theory.arms_report import ARM_THEOREMS, ArmBoundsReport, arm_bounds
from jaxduel.theory.batched_bounds import pcomp_bound, rounds_asked_for, scomp2_order, scomp_order
from jaxduel.theory.condorcet import condorcet_lower_bound, rmed1_constant
from jaxduel.theory.ecw import ecw_allocation
from jaxduel.theory.identification import DELTA, identification_lower_bound
from jaxduel.theory.lower_bound import copeland_lower_bound
from jaxduel.theory.table import ORDER, Bound, Theorem, of_batches, rows_of
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
_AGARWAL = "Agarwal et al. 2022, Theorem"
_PRINTED = ', of elimination = "hoeffding"'
_UNIQUE = " if the optimum is unique"


@dataclasses.dataclass(frozen=True, repr=False)
class BoundsReport(Report):
    """An instance's bounds, and the numbers that they depend on; arms are counted from 0.

    Example:
      >>> import jaxduel as jd
      >>> report = jd.theory.bounds(jd.problems.load("cyclic"))
      >>> report.copeland_winners, report.fewest_losses
      ((0,), 0)
      >>> print(report.lines()[0])
      cyclic: K = 4, C = 1 Copeland winner (arm 0), L_1 = 0, smallest gap 0.1
    """

    name: str
    """The name of the instance."""
    num_arms: int
    """K."""
    arms: tuple[str, ...] | None
    """The names of the arms, if they have any."""
    copeland_winners: tuple[int, ...]
    """The arms that beat most others; C is their number."""
    fewest_losses: int
    """L_1: the number of arms that beat a Copeland winner."""
    smallest_gap: float
    """The least |p_ij - 1/2| over all pairs; 0 if two arms are tied."""
    bounds: tuple[Bound, ...]
    """The bounds, those that apply and those that do not."""
    identification: float | None
    """Expected votes needed to name the Condorcet winner with error probability 0.05, at least
    (`identification_lower_bound`); None without such a winner."""

    def facts(self) -> Facts:
        """The facts that are shown."""
        plural = "s" if len(self.copeland_winners) > 1 else ""
        votes = []
        if self.identification is not None:
            votes = [
                f"mean votes to name the winner, delta = {DELTA}: at least "
                f"{self.identification:,.0f} (Kaufmann et al.)"
            ]
        return Facts(
            f"{self.name}: K = {self.num_arms}, C = {len(self.copeland_winners)} Copeland winner"
            f"{plural} ({arm_text(self, *self.copeland_winners)}), L_1 = {self.fewest_losses}, "
            f"smallest gap {self.smallest_gap:.4g}",
            [*votes, *rows_of(self.bounds)],
        )


@overload
def bounds(
    problem: DuelingProblem, horizon: float | None = None, num_batches: int | None = None
) -> BoundsReport: ...


@overload
def bounds(
    problem: ArmsProblem, horizon: float | None = None, num_batches: int | None = None
) -> ArmBoundsReport: ...


def bounds(
    problem: DuelingProblem | ArmsProblem,
    horizon: float | None = None,
    num_batches: int | None = None,
) -> BoundsReport | ArmBoundsReport:
    """All bounds that apply to an instance.

    Args:
      problem: the instance; arms with rewards have a report of their own.
      horizon: T, for the bounds of batched policies, which are left out without it.
      num_batches: B, or M of arms with rewards, likewise.

    Raises:
      InputError: no problem, or one that changes; only one of `horizon` and `num_batches`, or not
        2 <= B <= T, or 1 <= M <= T.
      SolverError: the lower bound's linear program was not solved.

    Example:
      >>> import jaxduel as jd
      >>> report = jd.theory.bounds(jd.problems.load("cyclic"), horizon=10_000, num_batches=4)
      >>> for bound in report.bounds:
      ...     if bound.value is not None and bound.regret == "average":
      ...         print(f"{bound.name}, {bound.unit}: {bound.value:.4g}")
      lower bound, Condorcet, as a constant of log T (natural): 0.8151
      RMED1, as a constant of log T (natural): 7.45
      PCOMP, at T = 10,000, B = 4: 5.458e+04
    """
    require_constant(problem, "bounds")
    if isinstance(problem, ArmsProblem):
        return arm_bounds(problem, horizon, num_batches)
    require_dueling(problem, "bounds")
    margins = np.asarray(problem.preferences, dtype=np.float64) - 0.5
    losses = np.sum(margins < 0, axis=1)
    apart = np.abs(margins[np.triu_indices(problem.num_arms, 1)])
    return BoundsReport(
        name=problem.name,
        num_arms=problem.num_arms,
        arms=problem.arms,
        copeland_winners=problem.copeland_winners,
        fewest_losses=int(losses.min()),
        smallest_gap=float(apart.min()),
        bounds=(
            *(theorem.of(problem) for theorem in _CONSTANTS),
            *of_batches(_BATCHED, problem, rounds_asked_for(horizon, num_batches)),
        ),
        identification=(
            None if problem.condorcet_winner is None else identification_lower_bound(problem, DELTA)
        ),
    )


def proved(policy: str) -> tuple[str, ...]:
    """The bounds that are proved of a policy's regret, each with its paper, theorem and, where the
    default parameters do not have it, its condition on them.

    Args:
      policy: its registered name. `bounds` computes their values for an instance.

    Raises:
      InputError: for an unknown name.

    Example:
      >>> import jaxduel as jd
      >>> jd.theory.proved("pcomp")
      ('PCOMP: Agarwal et al. 2022, Theorem 3.1, of elimination = "hoeffding"',)
    """
    registry.policy_class(policy)
    known = (*_CONSTANTS, *_BATCHED, *ARM_THEOREMS)
    return tuple(f"{each.name}: {each.source}" for each in known if policy in each.policies)


def _no_condorcet_winner(problem: DuelingProblem) -> str | None:
    return "no Condorcet winner" if problem.condorcet_winner is None else None


def _ties(problem: DuelingProblem) -> str | None:
    tie = tie_violation(problem)
    return None if tie is None else tie.reason


def _no_assumption_2(problem: DuelingProblem) -> str | None:
    if (tied := _ties(problem)) is not None:
        return tied
    try:
        dts_refined_constant(problem)
    except InputError:
        return "its Assumption 2 fails"
    return None


def _disorder(problem: DuelingProblem) -> str | None:
    if (cyclic := _no_condorcet_winner(problem)) is not None:
        return cyclic
    if sst_violation(problem) is not None:
        return "no strong stochastic transitivity"
    if sti_violation(problem) is not None:
        return "no stochastic triangle inequality"
    return None


_CONSTANTS = (
    Theorem("lower bound, Copeland", ("cw-rmed",), "copeland",
            f"{_KOMIYAMA} 2; CW-RMED attains it{_UNIQUE}",
            lambda problem: copeland_lower_bound(problem).constant, _ties),
    Theorem("ECW-RMED", ("ecw-rmed",), "copeland", f"{_KOMIYAMA} 4,{_UNIQUE}",
            lambda problem: ecw_allocation(problem).constant, _ties),
    Theorem("CCB", ("ccb",), "copeland", f"{_ZOGHI} 3, alpha > 1, with the smallest gap",
            ccb_constant, _ties),
    Theorem("SCB", ("scb",), "copeland", f"{_ZOGHI} 5{ORDER}", scb_order, _ties),
    Theorem("D-TS", ("dts",), "copeland", f"{_WU} Prop. 1, alpha = 0.51", dts_constant,
            _ties),
    Theorem("D-TS, refined", ("dts", "dts+"), "copeland", f"{_WU} Theorem 1, alpha = 0.51",
            dts_refined_constant, _no_assumption_2),
    Theorem("lower bound, Condorcet", (), "copeland", f"{_RMED} 1",
            lambda problem: condorcet_lower_bound(problem, "copeland"), _no_condorcet_winner),
    Theorem("lower bound, Condorcet", ("rmed2", "rmed2fh"), "average",
            f"{_RMED} 1; RMED2, RMED2FH attain it", condorcet_lower_bound, _no_condorcet_winner),
    Theorem("RMED1", ("rmed1",), "average", "Komiyama et al. 2015", rmed1_constant,
            _no_condorcet_winner),
)  # fmt: skip
_BATCHED = (
    Theorem("PCOMP", ("pcomp",), "average", f"{_AGARWAL} 3.1{_PRINTED}", pcomp_bound,
            _no_condorcet_winner),
    Theorem("SCOMP", ("scomp",), "average", f"{_AGARWAL} 3.2{_PRINTED}{ORDER}", scomp_order,
            _disorder),
    Theorem("SCOMP2", ("scomp2",), "average", f"{_AGARWAL} 3.4{_PRINTED}{ORDER}", scomp2_order,
            _disorder),
)  # fmt: skip
