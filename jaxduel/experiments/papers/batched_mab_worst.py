"""Study s2: BaSE's measured worst-case regret, beside the lower bound for any policy on its grid.

The lower bound of Lemma 2 (Gao, Han, Ren and Zhou, NeurIPS 2019) is for K hypotheses with a common
gap (`jaxduel.problems.static_grid_family`). BaSE plays them over a range of gaps, and its largest
mean regret is compared with the largest value of the bound. Since runs shuffle the arms, all
hypotheses but the first are the same to BaSE, so that two are played. The largest of many estimated
means is somewhat above the largest mean.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxduel import plotting, policies, problems, theory
from jaxduel.experiments.curves import Stopped, run_tasks
from jaxduel.experiments.keys import named_key
from jaxduel.experiments.papers.batched_mab_entries import GRIDS, NUM_ARMS, Reading, style
from jaxduel.experiments.plans import Entry, Samples, Setting, title_of
from jaxduel.experiments.tables import csv_text
from jaxduel.policies.arms.grids import grid_times
from jaxduel.simulation import simulate_many
from jaxduel.simulation.devices import Device
from jaxduel.stats import interval95

BATCHES = (2, 3, 4, 5, 6, 8, 10, 12, 16)
GAPS = 20
LEAST_GAP = 0.5
"""The smallest gap, in units of 1 / sqrt(T); the largest gap, that of Lemma 2, is sqrt(K)."""


class Worst(NamedTuple):
    """The largest mean regret of BaSE over gaps and hypotheses, by number of batches."""

    mean: np.ndarray  # (B,) float64, the largest mean regret
    sem: np.ndarray  # (B,) float64, its standard error
    gap: np.ndarray  # (B,) float64, the gap at which it occurs


@dataclass(frozen=True)
class _Row:
    """A reading on a grid: all gaps and hypotheses as one program, for each number of batches."""

    reading: Reading
    grid: str
    horizon: int
    runs: int
    key: jax.Array

    @property
    def program(self) -> tuple[Any, ...]:
        """Identity of the compiled program; no two rows share one."""
        return self.reading, self.grid

    def run(self, device: Device, stop: threading.Event) -> Worst:
        """Simulates the row, one number of batches after the other."""
        gaps = np.geomspace(LEAST_GAP / math.sqrt(self.horizon), math.sqrt(NUM_ARMS), GAPS)
        instances = [
            instance
            for gap in gaps
            for instance in problems.static_grid_family(NUM_ARMS, float(gap))[:2]
        ]
        worst = []
        for number in BATCHES:
            if stop.is_set():
                raise Stopped
            policy = policies.make(
                "base",
                num_arms=NUM_ARMS,
                horizon=self.horizon,
                num_batches=number,
                grid=self.grid,
                **self.reading.parameters,
            )
            results = simulate_many(
                [policy] * len(instances),
                instances,
                self.horizon,
                num_seeds=self.runs,
                seed=self.key,
                checkpoints=[self.horizon],
                regret="pulls",
                devices=[device],
                progress=False,
            )
            at = int(np.argmax([result.mean[-1] for result in results]))
            worst.append((results[at].mean[-1], results[at].sem[-1], np.repeat(gaps, 2)[at]))
        return Worst(*np.array(worst).T)


class WorstCase:
    """Measured worst cases by reading and grid, simulated when first needed.

    Args:
      horizon: T.
      runs: seeds of each cell.
      seed: root of all randomness.
    """

    def __init__(self, horizon: int, runs: int, seed: int) -> None:
        self.horizon, self.runs = horizon, runs
        self._seed = seed
        self._found: dict[tuple[Reading, str], Worst] = {}

    def of(self, reading: Reading) -> dict[str, Worst]:
        """The worst cases of a reading, by grid."""
        missing = [
            _Row(reading, grid, self.horizon, self.runs, self._key(reading, grid))
            for grid in GRIDS
            if (reading, grid) not in self._found
        ]
        with closing(run_tasks(missing, jax.local_devices())) as events:
            for row, worst in events:
                self._found[row.reading, row.grid] = worst
        return {grid: self._found[reading, grid] for grid in GRIDS}

    def _key(self, reading: Reading, grid: str) -> jax.Array:
        return named_key(self._seed, "worst case", reading.figure, grid)

    def bounds(self) -> dict[str, np.ndarray]:
        """Lemma 2's lower bound on each grid, maximised over the gap: (B,) float64."""
        return {
            grid: np.array(
                [
                    theory.static_minimax_lower_bound(
                        grid_times(grid, self.horizon, number), NUM_ARMS
                    )
                    for number in BATCHES
                ]
            )
            for grid in GRIDS
        }


@dataclass(frozen=True)
class WorstPlan:
    """Worst regret against the number of batches, with the lower bounds, simulated when drawn."""

    name: str
    worst: WorstCase
    reading: Reading

    @property
    def entries(self) -> Sequence[Entry]:
        """None: the worst cases are simulated when drawn."""
        return []

    def panel(self, samples: Samples, setting: Setting) -> plotting.SweepPanel:
        """A curve and a lower bound for each grid."""
        at, curves, bounds = np.array(BATCHES), [], []
        known = self.worst.bounds()
        for grid, found in self.worst.of(self.reading).items():
            lower, upper = interval95(found.mean, found.sem, self.worst.runs)
            name = style("base", grid)
            curves.append(
                plotting.SweepCurve(
                    name=name,
                    label=f"BaSE {grid}",
                    at=at,
                    mean=found.mean,
                    lower95=lower,
                    upper95=upper,
                )
            )
            bounds.append(plotting.SweepBound(name, f"bound, {grid}", at, known[grid]))
        return plotting.SweepPanel(
            curves=curves,
            bounds=bounds,
            title=title_of(self.name, f"{self.reading.words}, $T$ = {self.worst.horizon:,}"),
            across="batches $M$",
            up="worst regret $R(T)$ over gaps",
            up_scale="log",
        )

    def table(self, samples: Samples, setting: Setting) -> str:
        """A line per grid and number of batches."""
        header = (
            "grid", "gamma", "commit", "num_arms", "t", "num_batches", "worst_mean", "sem",
            "at_gap", "lower_bound", "minimax_rate", "num_seeds",
        )  # fmt: skip
        known, end, rows = self.worst.bounds(), self.worst.horizon, []
        for grid, found in self.worst.of(self.reading).items():
            for i, number in enumerate(BATCHES):
                what = (grid, self.reading.gamma, self.reading.commit, NUM_ARMS, end, number)
                numbers = [float(x) for x in (*(column[i] for column in found), known[grid][i])]
                rate = theory.base_minimax_rate(NUM_ARMS, end, number)
                rows.append((*what, *numbers, rate, self.worst.runs))
        return csv_text(header, rows)

    def lines(self, samples: Samples) -> list[str]:
        """Range of the ratio of worst regret and lower bound over M, for each grid."""
        known, parts = self.worst.bounds(), []
        for grid, found in self.worst.of(self.reading).items():
            ratio = found.mean / known[grid]
            parts.append(f"{grid} {ratio.min():.3g} to {ratio.max():.3g}")
        return [
            f"figure {self.name}, BaSE of {self.reading.source}: worst regret over the lower bound "
            f"of Lemma 2, over M: {'; '.join(parts)}."
        ]

    def figure(self, panels: Sequence[plotting.SweepPanel]) -> plotting.Figure:
        """Panels of curves."""
        return plotting.sweep_figure(panels)
