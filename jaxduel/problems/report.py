"""Facts about an instance at a glance: the text of `jaxduel check`."""

from __future__ import annotations

import dataclasses
import re
from typing import overload

import numpy as np

from jaxduel.display import Facts, Report, arms_text, listed
from jaxduel.problems.arm_names import arm_text, counting, label
from jaxduel.problems.arms import ArmsProblem
from jaxduel.problems.assumptions import (
    Violation,
    preference_order,
    sst_violation,
    sti_violation,
    total_order_violation,
)
from jaxduel.problems.dueling import GAP_KINDS, DuelingProblem, require_dueling
from jaxduel.problems.piecewise import require_constant

_NAMED = 4
"""Names of arms that are shown where there are more than `_SHOWN`: names are long."""
_SHOWN = 8
_WIDTH = len("Condorcet winner")
_SUBMATRIX = re.compile(r"(.+)\[(\d+(?:,\d+)*)\]")


@dataclasses.dataclass(frozen=True, repr=False)
class MatrixReport(Report):
    """Facts about a preference matrix; arms are counted from 0, and named in the text if they have
    names.

    Example:
      >>> import jaxduel as jd
      >>> report = jd.problems.examine(jd.problems.load("arxiv"))
      >>> report.condorcet_winner, report.ties
      (0, 1)
      >>> report.total_order.reason
      'arms 3 and 5 are tied'
    """

    name: str
    """The name of the instance."""
    num_arms: int
    """K."""
    arms: tuple[str, ...] | None
    """The names of the arms, if they have any."""
    condorcet_winner: int | None
    """The arm that beats all others."""
    smallest_winner_gap: float | None
    """The least p_wj - 1/2 of the Condorcet winner w."""
    hardness: float | None
    """The sum of 1 / (p_wj - 1/2)^2 over j != w, to which sample sizes are proportional."""
    copeland_winners: tuple[int, ...]
    """The arms that beat most others."""
    copeland_score: int
    """The number of arms that each Copeland winner beats."""
    borda_winners: tuple[int, ...]
    """The arms with the largest mean preference."""
    borda_score: float
    """The largest mean preference."""
    smallest_gap: float | None
    """The least |p_ij - 1/2| of the pairs that are not tied; None if all are."""
    smallest_gap_pair: tuple[int, int] | None
    """The first pair that has it, the arm that beats the other in front."""
    ties: int
    """The number of pairs with p_ij = 1/2 exactly."""
    order: tuple[int, ...] | None
    """The arms, best first, if no preference contradicts some order (`preference_order`)."""
    total_order: Violation | None
    """Why "beats" is not a strict total order, or None if it is."""
    sst: Violation | None
    """The worst violation of strong stochastic transitivity, or None."""
    sti: Violation | None
    """The worst violation of the stochastic triangle inequality, or None."""
    random_regret: dict[str, float]
    """Regret per comparison of two different arms drawn uniformly, for each kind that is defined:
    half the sum of the two arms' gaps, for "weak" the smaller of the two. The binary kinds, which
    are 1 - 2 / K and 1 on every instance, are left out."""

    def facts(self) -> Facts:
        """The facts that are shown."""
        winner, closest, total = "none", "none: all pairs are tied", None
        if self.condorcet_winner is not None:
            winner = arm_text(self, self.condorcet_winner)
            winner += f", by at least {self.smallest_winner_gap:.4g}"
            total = f"sum of 1/gap^2 to the winner = {self.hardness:.4g}"
        if self.smallest_gap_pair is not None:
            i, j = self.smallest_gap_pair
            closest = (
                f"|p - 1/2| = {self.smallest_gap:.4g}: {arm_text(self, i)} over {arm_text(self, j)}"
            )
        copeland, borda = (
            arm_text(self, *arms) for arms in (self.copeland_winners, self.borda_winners)
        )
        random = ", ".join(f"{kind} {value:.4g}" for kind, value in self.random_regret.items())
        return Facts(
            f"{self.name}: a valid preference matrix, K = {self.num_arms}{counting(self)}",
            [
                ("arms", self._arms()),
                ("Condorcet winner", winner),
                ("Copeland", f"{copeland}, beating {self.copeland_score} of {self.num_arms - 1}"),
                ("Borda", f"{borda}, mean preference {self.borda_score:.4g}"),
                ("total order", _verdict(self.total_order)),
                ("SST", _verdict(self.sst)),
                ("STI", _verdict(self.sti)),
                ("closest pair", closest),
                ("tied pairs", str(self.ties)),
                ("random play", f"regret per comparison: {random}"),
                ("hardness", total),
            ],
        )

    def _arms(self) -> str | None:
        """The names of the arms, or their numbers in the matrix that a submatrix is of."""
        if self.arms is None:
            return _originals(self.name, self.num_arms)
        most = self.num_arms if self.num_arms <= _SHOWN else _NAMED
        return listed([label(self, arm) for arm in range(self.num_arms)], most)


@dataclasses.dataclass(frozen=True, repr=False)
class ArmsReport(Report):
    """Facts about arms with rewards; arms are counted from 0.

    Example:
      >>> import jaxduel as jd
      >>> report = jd.problems.examine(jd.problems.gaussian([0.6, 0.5, 0.5]))
      >>> report.best_arms
      (0,)
      >>> round(report.hardness, 3)  # 1 / 0.1^2 for each of the two others
      200.0
    """

    name: str
    """The name of the instance."""
    num_arms: int
    """K."""
    rewards: str
    """The law of the rewards: "gaussian" or "bernoulli"."""
    best_arms: tuple[int, ...]
    """The arms of the largest mean."""
    best_mean: float
    """The largest mean."""
    deviations: tuple[float, float] | None
    """The least and the largest standard deviation of Gaussian rewards; None for other laws."""
    gaps: tuple[float, float] | None
    """The least and the largest distance from the best mean of the arms below it, if any."""
    hardness: float | None
    """The sum of 1 / gap^2 over these arms, to which sample sizes are proportional."""
    random_regret: float
    """Regret per pull of an arm drawn uniformly."""

    def facts(self) -> Facts:
        """The facts that are shown."""
        law = self.rewards.capitalize()
        gaps, total = "none: all means are equal", None
        if self.gaps is not None:
            gaps, total = _range(self.gaps), f"sum of 1/gap^2 to the best = {self.hardness:.4g}"
        return Facts(
            f"{self.name}: arms with {law} rewards, K = {self.num_arms} (arms counted from 0)",
            [
                ("best", f"{arms_text(self.best_arms)}, mean {self.best_mean:.4g}"),
                ("deviations", None if self.deviations is None else _range(self.deviations)),
                ("gaps", gaps),
                ("hardness", total),
                ("random play", f"regret per pull: {self.random_regret:.4g}"),
            ],
            width=_WIDTH,
        )


@overload
def examine(problem: DuelingProblem) -> MatrixReport: ...
@overload
def examine(problem: ArmsProblem) -> ArmsReport: ...
def examine(problem: DuelingProblem | ArmsProblem) -> MatrixReport | ArmsReport:
    """All facts of a `MatrixReport`, or for arms with rewards of an `ArmsReport`.

    Args:
      problem: the instance, with concrete numbers; of one that changes, each of its `stretches`.

    Raises:
      InputError: for an instance that changes.

    Example:
      >>> import jaxduel as jd
      >>> report = jd.problems.examine(jd.problems.load("cyclic"))
      >>> round(report.hardness, 3)  # 1 / 0.1^2 for each of the three others
      300.0
      >>> for line in report.lines()[:3]:
      ...     print(line)
      cyclic: a valid preference matrix, K = 4 (arms counted from 0)
        Condorcet winner  arm 0, by at least 0.1
        Copeland          arm 0, beating 3 of 3
    """
    require_constant(problem, "examine")
    if isinstance(problem, ArmsProblem):
        return _of_arms(problem)
    require_dueling(problem, "examine")
    return _of_matrix(problem)


def _of_arms(problem: ArmsProblem) -> ArmsReport:
    gaps = problem.gaps()
    below = gaps[gaps > 0]
    return ArmsReport(
        name=problem.name,
        num_arms=problem.num_arms,
        rewards=problem.rewards,
        best_arms=problem.best_arms,
        best_mean=float(np.max(problem.means)),
        deviations=None if problem.std is None else _extremes(problem.std),
        gaps=_extremes(below) if len(below) else None,
        hardness=float(np.sum(below**-2.0)) if len(below) else None,
        random_regret=float(gaps.mean()),
    )


def _of_matrix(problem: DuelingProblem) -> MatrixReport:
    winner = problem.condorcet_winner
    smallest_winner_gap = hardness = None
    if winner is not None:
        to_winner = np.delete(problem.gaps("average"), winner)
        smallest_winner_gap = float(to_winner.min())
        hardness = float(np.sum(to_winner**-2.0))
    margin = np.asarray(problem.preferences, dtype=np.float64) - 0.5
    smallest, pair = _closest_pair(margin)
    return MatrixReport(
        name=problem.name,
        num_arms=problem.num_arms,
        arms=problem.arms,
        condorcet_winner=winner,
        smallest_winner_gap=smallest_winner_gap,
        hardness=hardness,
        copeland_winners=problem.copeland_winners,
        copeland_score=int(problem.copeland_scores.max()),
        borda_winners=problem.borda_winners,
        borda_score=float(problem.borda_scores.max()),
        smallest_gap=smallest,
        smallest_gap_pair=pair,
        ties=int(np.sum(np.triu(margin == 0, 1))),
        order=preference_order(problem),
        total_order=total_order_violation(problem),
        sst=sst_violation(problem),
        sti=sti_violation(problem),
        random_regret={
            kind: _random_regret(problem.gaps(kind), kind)
            for kind in GAP_KINDS
            if kind in ("copeland", "borda") or (winner is not None and kind in ("average", "weak"))
        },
    )


def _closest_pair(margin: np.ndarray) -> tuple[float | None, tuple[int, int] | None]:
    sizes = np.where(margin > 0, margin, np.inf)
    i, j = (int(arm) for arm in np.unravel_index(np.argmin(sizes), sizes.shape))
    return (float(sizes[i, j]), (i, j)) if np.isfinite(sizes[i, j]) else (None, None)


def _random_regret(gaps: np.ndarray, kind: str) -> float:
    if kind != "weak":
        return float(gaps.mean())
    first, second = np.triu_indices(len(gaps), 1)
    return float(np.minimum(gaps[first], gaps[second]).mean())


def _extremes(values: np.ndarray) -> tuple[float, float]:
    return float(np.min(values)), float(np.max(values))


def _range(extremes: tuple[float, float]) -> str:
    least, largest = extremes
    return f"{least:.4g}" if least == largest else f"from {least:.4g} to {largest:.4g}"


def _originals(name: str, num_arms: int) -> str | None:
    """The arms of the whole matrix that a submatrix has, by its name; None if it is none."""
    submatrix = _SUBMATRIX.fullmatch(name)
    if submatrix is None:
        return None
    whole, listed = submatrix.groups()
    arms = listed.split(",")
    if len(arms) != num_arms:
        return None
    shown = min(num_arms, _SHOWN)
    more = f" and {num_arms - shown} more" if num_arms > shown else ""
    return (
        f"{', '.join(map(str, range(shown)))}{more} are arms {', '.join(arms[:shown])}{more} of "
        f"{whole}, where the name counts from 1"
    )


def _verdict(violation: Violation | None) -> str:
    return "yes" if violation is None else f"no: {violation.reason}"
