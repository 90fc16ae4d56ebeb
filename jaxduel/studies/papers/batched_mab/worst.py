"""Study s2: BaSE's measured worst-case regret, beside the lower bound for any policy on its grid.

The lower bound of Lemma 2 (Gao, Han, Ren and Zhou, NeurIPS 2019) is for K hypotheses with a common
gap (`jaxduel.problems.static_grid_family`). BaSE plays them over a range of gaps, and its largest
mean regret is compared with the largest value of the bound. Only two hypotheses are played: since
runs shuffle the arms, all but the first are the same to BaSE. The largest of many estimated means
is somewhat above the largest mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jaxduel import plotting, problems, theory
from jaxduel.files import csv_text
from jaxduel.policies.arms.grids import grid_times
from jaxduel.runs import Runs
from jaxduel.stats import interval95, standard_error
from jaxduel.studies.papers.batched_mab.entries import GRIDS, NUM_ARMS, Reading, base, style
from jaxduel.studies.papers.paper import Size, named_key
from jaxduel.studies.pictures import AllRuns, Setting, title_of
from jaxduel.studies.wanted import Draw, Wanted

BATCHES = (2, 3, 4, 5, 6, 8, 10, 12, 16)
GAPS = 20
LEAST_GAP = 0.5
"""The smallest gap, in units of 1 / sqrt(T); the largest gap, that of Lemma 2, is sqrt(K)."""


def gaps(horizon: int) -> np.ndarray:
    """The gaps played: (GAPS,) float64."""
    return np.geomspace(LEAST_GAP / math.sqrt(horizon), math.sqrt(NUM_ARMS), GAPS)


def drawn(horizon: int, runs: int, seed: int) -> tuple[Draw, ...]:
    """Two hypotheses for each gap, all with the same seeds."""
    key = named_key(seed, "worst case", f"T = {horizon:,}")
    return tuple(
        Draw(problem, key, runs)
        for gap in gaps(horizon)
        for problem in problems.static_grid_family(NUM_ARMS, float(gap))[:2]
    )


Cases = Mapping[tuple[str, int], Wanted]
"""Wanted runs, by grid and number of batches."""


def cases(reading: Reading, size: Size, seed: int, setting: Setting) -> Cases:
    """BaSE on all hypotheses."""
    draws = drawn(*size, seed)
    name = f"hypotheses, K = {NUM_ARMS}, T = {size.horizon:,}"
    return {
        (grid, m): setting.wanted(name, name, draws, base(reading, grid, m), size.horizon)
        for grid in GRIDS
        for m in BATCHES
    }


class Worst(NamedTuple):
    """The largest mean regret over gaps and hypotheses."""

    mean: float
    sem: float
    gap: float
    """The gap at which it occurs."""


def worst_of(runs: Runs, horizon: int) -> Worst:
    """The largest mean regret of a policy on an instance of `instances`."""
    each = runs.final.reshape(2 * GAPS, -1)
    at = int(np.argmax(each.mean(axis=1)))
    sem = float(standard_error(each[at], np.arange(each.shape[1])))
    return Worst(float(each[at].mean()), sem, float(gaps(horizon)[at // 2]))


@dataclass(frozen=True)
class WorstPicture:
    """Worst regret against the number of batches, with the lower bounds."""

    name: str
    reading: Reading
    cases: Cases
    size: Size
    listed: bool = False

    @property
    def wanted(self) -> Sequence[Wanted]:
        """One for each grid and number of batches."""
        return list(self.cases.values())

    def worst(self, all_runs: AllRuns, grid: str) -> list[Worst]:
        """The worst cases on a grid, by number of batches."""
        found = [all_runs[self.cases[grid, m].key] for m in BATCHES]
        return [worst_of(runs, self.size.horizon) for runs in found]

    def bounds(self, grid: str) -> np.ndarray:
        """Lemma 2's lower bound on a grid, maximised over the gap: (B,) float64."""
        times = [grid_times(grid, self.size.horizon, number) for number in BATCHES]
        return np.array([theory.static_minimax_lower_bound(t, NUM_ARMS) for t in times])

    def panel(self, all_runs: AllRuns, setting: Setting) -> plotting.LinePanel:
        """A line and a lower bound for each grid."""
        at, lines, bounds = np.array(BATCHES), [], []
        for grid in GRIDS:
            mean, sem, _ = np.array(self.worst(all_runs, grid)).T
            lower, upper = interval95(mean, sem, self.size.runs)
            name = style("base", grid)
            lines.append(
                plotting.Line(
                    name=name, label=f"BaSE {grid}", at=at, mean=mean, lower95=lower, upper95=upper
                )
            )
            bounds.append(plotting.Reference(f"bound, {grid}", self.bounds(grid), at, name))
        seeds = plotting.seeds_words([self.size.runs], plotting.spread_words(lines))
        return plotting.LinePanel(
            lines=lines,
            references=bounds,
            title=title_of(self.name, f"{self.reading.words}, $T$ = {self.size.horizon:,}"),
            across="batches $M$",
            up="worst regret $R(T)$ over gaps",
            up_scale="log",
            about=f"regret, $K={NUM_ARMS}$, {seeds}",
        )

    def table(self, all_runs: AllRuns, setting: Setting) -> str:
        """A line per grid and number of batches."""
        header = (
            "grid", "gamma", "commit", "num_arms", "t", "num_batches", "worst_mean", "sem",
            "at_gap", "lower_bound", "minimax_rate", "num_seeds",
        )  # fmt: skip
        rows = []
        for grid in GRIDS:
            of_grid = zip(BATCHES, self.worst(all_runs, grid), self.bounds(grid), strict=True)
            for number, found, bound in of_grid:
                what = (grid, self.reading.gamma, self.reading.commit, NUM_ARMS, self.size.horizon)
                rate = theory.base_minimax_rate(NUM_ARMS, self.size.horizon, number)
                rows.append((*what, number, *found, float(bound), rate, self.size.runs))
        return csv_text(header, rows)

    def lines(self, all_runs: AllRuns) -> list[str]:
        """Range of the ratio of worst regret and lower bound over M, for each grid."""
        parts = []
        for grid in GRIDS:
            ratio = [found.mean for found in self.worst(all_runs, grid)] / self.bounds(grid)
            parts.append(f"{grid} {ratio.min():.3g} to {ratio.max():.3g}")
        return [
            f"figure {self.name}, BaSE of {self.reading.source}: worst regret over the lower bound "
            f"of Lemma 2, over M: {'; '.join(parts)}."
        ]
