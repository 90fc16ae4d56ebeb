"""All bounds of an instance of arms with rewards: the text of `jaxduel bounds` for those."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from jaxduel.errors import InputError
from jaxduel.policies.grids import KINDS, grid_times
from jaxduel.problems import ArmsProblem
from jaxduel.theory.arm_bounds import (
    adaptive_grid_minimax_rate,
    base_minimax_rate,
    base_problem_dependent_rate,
    require_batches,
    static_grid_lower_bound,
    static_minimax_lower_bound,
)
from jaxduel.theory.lai_robbins import lai_robbins_constant
from jaxduel.theory.table import Bound, bound_unless, shown, table

_GAO = "Gao et al. 2019,"
_ORDER = " (an order, not a bound)"
_COIN = 0.5


@dataclasses.dataclass(frozen=True)
class ArmBoundsReport:
    """An instance's bounds, and the numbers that they depend on; arms are counted from 0."""

    name: str
    """What the instance is called."""
    rewards: str
    """The law of the rewards: "gaussian" or "bernoulli"."""
    best_arms: tuple[int, ...]
    """The arms of the largest mean."""
    gaps: tuple[float, ...]
    """What a pull of each of the K arms costs."""
    horizon: int | None
    """T, or None if it was not given."""
    num_batches: int | None
    """M, or None if it was not given."""
    bounds: tuple[Bound, ...]
    """The bounds, those that apply and those that do not."""

    @property
    def smallest_gap(self) -> float | None:
        """The least gap that is not zero; None if all arms are equally good."""
        return min((gap for gap in self.gaps if gap > 0), default=None)

    def lines(self) -> list[str]:
        """The report as text."""
        if self.smallest_gap is None:
            extent = "no gaps"
        else:
            extent = f"gaps from {self.smallest_gap:.4g} to {max(self.gaps):.4g}"
        title = (
            f"{self.name}: K = {len(self.gaps)}, {self.rewards} rewards, best arm"
            f"{'s' if len(self.best_arms) > 1 else ''} {shown(self.best_arms)} "
            f"(arms counted from 0), {extent}"
        )
        unit = "  the first constant multiplies log T (natural)"
        if self.horizon is not None:
            unit += f"; the others are the regret at T = {self.horizon:,}, M = {self.num_batches}"
        return [title, unit, *table(self.bounds)]


def arm_bounds(
    problem: ArmsProblem, horizon: int | None = None, num_batches: int | None = None
) -> ArmBoundsReport:
    """All bounds that apply to an instance of arms with rewards.

    Lemma 2 is computed for Gaussian arms with a standard deviation that is common to all; the rates
    are scaled by the largest, which of a Bernoulli arm is 1/2 at most. A grid with a name ends
    where `jaxduel.policies.grids.grid_times` says.

    Args:
      problem: the instance.
      horizon: T, up to 2^31 - 1, for the bounds of batched policies, left out without it.
      num_batches: M, from 1 to T, likewise.

    Raises:
      InputError: only one of `horizon` and `num_batches`, or a number out of range.
    """
    if (horizon is None) != (num_batches is None):
        raise InputError("bounds of batched policies need the horizon and the number of batches.")
    asymptotic = Bound(
        "lower bound, asymptotic",
        "pulls",
        lai_robbins_constant(problem),
        "Lai and Robbins 1985, Theorem 1",
    )
    return ArmBoundsReport(
        name=problem.name,
        rewards=problem.rewards,
        best_arms=problem.best_arms,
        gaps=tuple(float(gap) for gap in problem.gaps("pulls")),
        horizon=horizon,
        num_batches=num_batches,
        bounds=(asymptotic, *_batched(problem, horizon, num_batches)),
    )


def _batched(problem: ArmsProblem, horizon: int | None, num_batches: int | None) -> list[Bound]:
    if horizon is None or num_batches is None:
        unknown = "depends on the horizon and the number of batches"
        names = ("BaSE, minimax grid", "BaSE, geometric grid", "lower bounds of grids")
        return [Bound(name, "pulls", None, unknown) for name in names]
    require_batches(horizon, num_batches)
    at = (problem.num_arms, horizon, num_batches)
    gaps = problem.gaps("pulls")
    equal = None if gaps.any() else "all arms are equally good"
    gap = math.nan if equal else float(gaps[gaps > 0].min())
    stds = np.full(1, _COIN) if problem.std is None else np.asarray(problem.std, np.float64)
    std = float(stds.max())
    foreign = None
    if problem.std is None or not np.all(stds == std):
        foreign = "not Gaussian with one standard deviation for all arms"
    wide = f"the smallest gap is above sqrt(K) standard deviations, {math.sqrt(at[0]) * std:.4g}"
    obstacle = foreign or equal or (wide if gap > math.sqrt(at[0]) * std else None)
    rows: list[tuple[str, Callable[[], float], str, str | None]] = [
        ("BaSE, minimax grid", lambda: std * base_minimax_rate(*at, logarithms=True),
         f"{_GAO} Theorem 4, eq. (4){_ORDER}", None),
        ("BaSE, geometric grid",
         lambda: std * base_problem_dependent_rate(*at, gap / std, logarithms=True),
         f"{_GAO} Theorem 4, eq. (5){_ORDER}", equal),
        ("lower bound, adaptive grids", lambda: std * adaptive_grid_minimax_rate(*at),
         f"{_GAO} Theorem 3: the worst instance{_ORDER}", foreign),
    ]  # fmt: skip
    for kind in KINDS:
        times = grid_times(kind, horizon, num_batches)
        rows += [
            (f"lower bound, {kind} grid",
             lambda times=times: std * static_minimax_lower_bound(times, at[0]),
             f"{_GAO} Lemma 2: the worst instance", foreign),
            (f"lower bound, {kind} grid, this gap",
             lambda times=times: std * static_grid_lower_bound(times, at[0], gap / std),
             f"{_GAO} Lemma 2: the worst instance of the smallest gap", obstacle),
        ]  # fmt: skip
    return [bound_unless(name, "pulls", value, source, why) for name, value, source, why in rows]
