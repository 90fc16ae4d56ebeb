"""Study s2: BaSE's measured worst-case regret, beside the lower bound for any policy on its grid.

The lower bound of Lemma 2 (Gao, Han, Ren and Zhou, NeurIPS 2019) is for K hypotheses with a common
gap (`jaxduel.problems.static_grid_family`). BaSE plays them over a range of gaps, and its largest
mean regret is compared with the largest value of the bound. Since runs shuffle the arms, all
hypotheses but the first are the same to BaSE, so that two are played. The largest of many estimated
means is somewhat above the largest mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jaxduel import plotting, problems, theory
from jaxduel.experiments.curves import DataSet, Draw
from jaxduel.experiments.papers.batched_mab.entries import GRIDS, NUM_ARMS, Reading, base, style
from jaxduel.experiments.papers.paper import named_key
from jaxduel.experiments.plans import Entry, Samples, Setting, title_of
from jaxduel.experiments.samples import Sample
from jaxduel.files import csv_text
from jaxduel.policies.arms.grids import grid_times
from jaxduel.stats import interval95, standard_error

BATCHES = (2, 3, 4, 5, 6, 8, 10, 12, 16)
GAPS = 20
LEAST_GAP = 0.5
"""The smallest gap, in units of 1 / sqrt(T); the largest gap, that of Lemma 2, is sqrt(K)."""


def gaps(horizon: int) -> np.ndarray:
    """The gaps that are played: (GAPS,) float64."""
    return np.geomspace(LEAST_GAP / math.sqrt(horizon), math.sqrt(NUM_ARMS), GAPS)


def instances(horizon: int, runs: int, seed: int) -> DataSet:
    """Two hypotheses for each gap, all with the same seeds."""
    key = named_key(seed, "worst case", f"T = {horizon:,}")
    draws = tuple(
        Draw(problem, key, runs)
        for gap in gaps(horizon)
        for problem in problems.static_grid_family(NUM_ARMS, float(gap))[:2]
    )
    name = f"hypotheses, K = {NUM_ARMS}, T = {horizon:,}"
    return DataSet(name, name, draws, horizon)


class Worst(NamedTuple):
    """The largest mean regret over gaps and hypotheses."""

    mean: float
    sem: float
    gap: float
    """The gap at which it occurs."""


def worst_of(sample: Sample, horizon: int) -> Worst:
    """The largest mean regret of a policy on an instance of `instances`."""
    each = sample.final.reshape(2 * GAPS, -1)
    at = int(np.argmax(each.mean(axis=1)))
    sem = float(standard_error(each[at], np.arange(each.shape[1])))
    return Worst(float(each[at].mean()), sem, float(gaps(horizon)[at // 2]))


@dataclass(frozen=True)
class WorstPlan:
    """Worst regret against the number of batches, with the lower bounds."""

    name: str
    reading: Reading
    data: DataSet
    listed: bool = False

    @property
    def entries(self) -> Sequence[Entry]:
        """One for each grid and number of batches."""
        return [(self.data, base(self.reading, grid, m)) for grid in GRIDS for m in BATCHES]

    @property
    def horizon(self) -> int:
        """T."""
        return self.data.horizon or 1

    @property
    def runs(self) -> int:
        """Runs of each policy on each instance."""
        return self.data.draws[0].num_runs

    def worst(self, samples: Samples, grid: str) -> list[Worst]:
        """The worst cases on a grid, by number of batches."""
        found = [samples[self.data.name, base(self.reading, grid, m).name] for m in BATCHES]
        return [worst_of(sample, self.horizon) for sample in found]

    def bounds(self, grid: str) -> np.ndarray:
        """Lemma 2's lower bound on a grid, maximised over the gap: (B,) float64."""
        times = [grid_times(grid, self.horizon, number) for number in BATCHES]
        return np.array([theory.static_minimax_lower_bound(t, NUM_ARMS) for t in times])

    def panel(self, samples: Samples, setting: Setting) -> plotting.SweepPanel:
        """A curve and a lower bound for each grid."""
        at, curves, bounds = np.array(BATCHES), [], []
        for grid in GRIDS:
            mean, sem, _ = np.array(self.worst(samples, grid)).T
            lower, upper = interval95(mean, sem, self.runs)
            name = style("base", grid)
            curves.append(
                plotting.SweepCurve(
                    name=name, label=f"BaSE {grid}", at=at, mean=mean, lower95=lower, upper95=upper
                )
            )
            bounds.append(plotting.SweepBound(name, f"bound, {grid}", at, self.bounds(grid)))
        seeds = plotting.seeds_words([self.runs], plotting.spread_words(curves))
        return plotting.SweepPanel(
            curves=curves,
            bounds=bounds,
            title=title_of(self.name, f"{self.reading.words}, $T$ = {self.horizon:,}"),
            across="batches $M$",
            up="worst regret $R(T)$ over gaps",
            up_scale="log",
            about=f"regret, $K={NUM_ARMS}$, {seeds}",
        )

    def table(self, samples: Samples, setting: Setting) -> str:
        """A line per grid and number of batches."""
        header = (
            "grid", "gamma", "commit", "num_arms", "t", "num_batches", "worst_mean", "sem",
            "at_gap", "lower_bound", "minimax_rate", "num_seeds",
        )  # fmt: skip
        rows = []
        for grid in GRIDS:
            of_grid = zip(BATCHES, self.worst(samples, grid), self.bounds(grid), strict=True)
            for number, found, bound in of_grid:
                what = (grid, self.reading.gamma, self.reading.commit, NUM_ARMS, self.horizon)
                rate = theory.base_minimax_rate(NUM_ARMS, self.horizon, number)
                rows.append((*what, number, *found, float(bound), rate, self.runs))
        return csv_text(header, rows)

    def lines(self, samples: Samples) -> list[str]:
        """Range of the ratio of worst regret and lower bound over M, for each grid."""
        parts = []
        for grid in GRIDS:
            ratio = [found.mean for found in self.worst(samples, grid)] / self.bounds(grid)
            parts.append(f"{grid} {ratio.min():.3g} to {ratio.max():.3g}")
        return [
            f"figure {self.name}, BaSE of {self.reading.source}: worst regret over the lower bound "
            f"of Lemma 2, over M: {'; '.join(parts)}."
        ]
