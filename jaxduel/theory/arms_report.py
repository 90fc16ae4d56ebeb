"""All bounds of an instance of arms with rewards: the text of `jaxduel bounds` for those."""

from __future__ import annotations

import dataclasses
import math
from functools import partial

import numpy as np

from jaxduel.display import Facts, Report, arms_text
from jaxduel.policies.arms.grids import KINDS, grid_times
from jaxduel.policies.checks import require_horizon
from jaxduel.problems import ArmsProblem
from jaxduel.theory.arm_bounds import (
    adaptive_grid_minimax_rate,
    base_minimax_rate,
    base_problem_dependent_rate,
    static_grid_lower_bound,
    static_minimax_lower_bound,
)
from jaxduel.theory.batched_bounds import rounds_asked_for
from jaxduel.theory.characteristic_time import characteristic_time
from jaxduel.theory.hardness import h1, h2
from jaxduel.theory.identification import DELTA, identification_lower_bound
from jaxduel.theory.lai_robbins import lai_robbins_constant
from jaxduel.theory.table import ORDER, UNKNOWN, Bound, Theorem, of_batches, rows_of

_GAO = "Gao et al. 2019,"
_LEGEND = 'lower bounds are those of the worst instance; "this gap": of those of the smallest gap'
_COIN = 0.5


@dataclasses.dataclass(frozen=True, repr=False)
class ArmBoundsReport(Report):
    """An instance's bounds, and the numbers that they depend on; arms are counted from 0.

    Example:
      >>> import jaxduel as jd
      >>> report = jd.theory.bounds(jd.problems.gaussian([1, 0.5, 0]))
      >>> report.smallest_gap
      0.5
      >>> print(report.lines()[0])
      gaussian: K = 3, gaussian rewards, best arm 0, gaps from 0.5 to 1
    """

    name: str
    """The name of the instance."""
    rewards: str
    """The law of the rewards: "gaussian" or "bernoulli"."""
    best_arms: tuple[int, ...]
    """The arms of the largest mean."""
    gaps: tuple[float, ...]
    """The regret of a pull of each of the K arms."""
    horizon: int | None
    """T, or None if it was not given."""
    num_batches: int | None
    """M, or None if it was not given."""
    bounds: tuple[Bound, ...]
    """The bounds, those that apply and those that do not."""
    identification: float | None
    """Expected pulls needed to name the best arm with error probability 0.05, at least
    (`identification_lower_bound`); None if several arms are the best, as the next three."""
    characteristic_time: float | None
    """T* (`characteristic_time`)."""
    h1: float | None
    """H1 (`h1`)."""
    h2: float | None
    """H2 (`h2`)."""

    @property
    def smallest_gap(self) -> float | None:
        """The least gap that is not zero; None if all arms are equally good."""
        return min((gap for gap in self.gaps if gap > 0), default=None)

    def facts(self) -> Facts:
        """The facts that are shown."""
        extent = "no gaps"
        if self.smallest_gap is not None:
            extent = f"gaps from {self.smallest_gap:.4g} to {max(self.gaps):.4g}"
        told = [bound.name for bound in self.bounds if bound.value is not None]
        of_grids = any(name.startswith("lower bound") and "grid" in name for name in told)
        named = []
        if self.identification is not None:
            named = [
                f"mean pulls to name the best, delta = {DELTA}: at least "
                f"{self.identification:,.0f} (Garivier et al.)",
                f"how hard that is: T* = {self.characteristic_time:.4g}, H1 = {self.h1:.4g}, "
                f"H2 = {self.h2:.4g} (Audibert et al.)",
            ]
        return Facts(
            f"{self.name}: K = {len(self.gaps)}, {self.rewards} rewards, best "
            f"{arms_text(self.best_arms)}, {extent}",
            [*named, *rows_of(self.bounds), *([_LEGEND] if of_grids else [])],
        )


def arm_bounds(
    problem: ArmsProblem, horizon: float | None = None, num_batches: int | None = None
) -> ArmBoundsReport:
    """All bounds that apply to an instance of arms with rewards.

    Lower bounds are computed for Gaussian arms with a standard deviation that is common to all, and
    scale with it. BaSE's test is made for rewards that are 1-sub-Gaussian, and does not know more:
    its rates are those at a standard deviation of 1, of arms with at most that, and with gaps of at
    most sqrt(K). A grid with a name ends where `jaxduel.policies.arms.grids.grid_times` says.

    Args:
      problem: the instance.
      horizon: T, up to 2^31 - 1, for the bounds of batched policies, left out without it.
      num_batches: M, from 1 to T, likewise.

    Raises:
      InputError: only one of `horizon` and `num_batches`, or a number out of range.
    """
    asked = rounds_asked_for(horizon, num_batches, 1, "M")
    horizon, num_batches = asked or (None, None)
    require_horizon(horizon, "bounds")
    lower = of_batches(_LOWER, problem, asked, "M")
    if asked is None:
        lower = [Bound("lower bounds of grids", "pulls", None, UNKNOWN)]
    one_best = len(problem.best_arms) == 1
    return ArmBoundsReport(
        name=problem.name,
        rewards=problem.rewards,
        best_arms=problem.best_arms,
        gaps=tuple(float(gap) for gap in problem.gaps("pulls")),
        horizon=horizon,
        num_batches=num_batches,
        bounds=(_ASYMPTOTIC.of(problem), *of_batches(ARM_THEOREMS, problem, asked, "M"), *lower),
        **{name: number(problem) if one_best else None for name, number in _NAMING.items()},
    )


def _scale(problem: ArmsProblem) -> float:
    """The largest standard deviation of an arm; of Bernoulli rewards its bound, 1/2."""
    return _COIN if problem.std is None else float(np.max(np.asarray(problem.std, np.float64)))


def _smallest_gap(problem: ArmsProblem) -> float:
    """The least gap that is not zero."""
    gaps = problem.gaps("pulls")
    return float(gaps[gaps > 0].min())


def _equal(problem: ArmsProblem) -> str | None:
    return None if problem.gaps("pulls").any() else "all arms are equally good"


def _beyond_theorem_4(problem: ArmsProblem) -> str | None:
    if _scale(problem) > 1:
        return "a standard deviation above 1"
    most = math.sqrt(problem.num_arms)
    return f"a gap above sqrt(K), {most:.4g}" if problem.gaps("pulls").max() > most else None


def _foreign(problem: ArmsProblem) -> str | None:
    if problem.std is None or not np.all(np.asarray(problem.std, np.float64) == _scale(problem)):
        return "not Gaussian with one standard deviation for all arms"
    return None


def _no_worst_instance(problem: ArmsProblem) -> str | None:
    """Why Lemma 2 has no worst instance of the smallest gap; None if it has one."""
    if (why := _foreign(problem) or _equal(problem)) is not None:
        return why
    most = math.sqrt(problem.num_arms)
    if _smallest_gap(problem) / _scale(problem) <= most:
        return None
    return f"the smallest gap is above sqrt(K) standard deviations, {most * _scale(problem):.4g}"


def _minimax(problem: ArmsProblem, horizon: int, num_batches: int) -> float:
    return base_minimax_rate(problem.num_arms, horizon, num_batches, logarithms=True)


def _geometric(problem: ArmsProblem, horizon: int, num_batches: int) -> float:
    at = (problem.num_arms, horizon, num_batches)
    return base_problem_dependent_rate(*at, _smallest_gap(problem), logarithms=True)


def _adaptive(problem: ArmsProblem, horizon: int, num_batches: int) -> float:
    return _scale(problem) * adaptive_grid_minimax_rate(problem.num_arms, horizon, num_batches)


def _on_grid(kind: str, problem: ArmsProblem, horizon: int, num_batches: int) -> float:
    times = grid_times(kind, horizon, num_batches)
    return _scale(problem) * static_minimax_lower_bound(times, problem.num_arms)


def _of_this_gap(kind: str, problem: ArmsProblem, horizon: int, num_batches: int) -> float:
    times, std = grid_times(kind, horizon, num_batches), _scale(problem)
    return std * static_grid_lower_bound(times, problem.num_arms, _smallest_gap(problem) / std)


_NAMING = {
    "identification": partial(identification_lower_bound, delta=DELTA),
    "characteristic_time": lambda problem: characteristic_time(problem).time,
    "h1": h1,
    "h2": h2,
}
"""Fields of the report on naming the best arm."""
_ASYMPTOTIC = Theorem("lower bound, asymptotic", (), "pulls", "Lai and Robbins 1985, Theorem 1",
                      lai_robbins_constant, lambda problem: None)  # fmt: skip
ARM_THEOREMS = (
    Theorem("BaSE, minimax grid", ("base",), "pulls",
            f"{_GAO} Theorem 4, eq. (4), gamma >= 12{ORDER}", _minimax, _beyond_theorem_4),
    Theorem("BaSE, geometric grid", ("base",), "pulls",
            f"{_GAO} Theorem 4, eq. (5), gamma >= 12{ORDER}", _geometric,
            lambda problem: _beyond_theorem_4(problem) or _equal(problem)),
)  # fmt: skip
"""Upper bounds that are proved of policies."""


_LOWER = (
    Theorem("lower bound, adaptive grids", (), "pulls", f"{_GAO} Theorem 3{ORDER}", _adaptive,
            _foreign),
    *(
        Theorem(f"lower bound, {kind} grid{gap}", (), "pulls", f"{_GAO} Lemma 2",
                partial(value, kind), obstacle)
        for kind in KINDS
        for gap, value, obstacle in (
            ("", _on_grid, _foreign), (", this gap", _of_this_gap, _no_worst_instance)
        )
    ),
)  # fmt: skip
