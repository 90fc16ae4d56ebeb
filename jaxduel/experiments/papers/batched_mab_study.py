"""Study s1: BaSE's regret on the paper's instance over numbers of batches, of arms, and horizons.

The paper (Gao, Han, Ren and Zhou, NeurIPS 2019) varies one of the three at a time.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxduel import policies, problems
from jaxduel.experiments.curves import run_tasks
from jaxduel.experiments.keys import named_key
from jaxduel.experiments.papers.batched_mab_entries import GRIDS, READINGS, Reading, place
from jaxduel.experiments.tables import csv_text
from jaxduel.progress import Progress
from jaxduel.simulation import simulate_many
from jaxduel.simulation.devices import Device
from jaxduel.stats import t95

BATCHES = (2, 3, 4, 6, 8, 12, 16, 24, 32)
ARMS = (2, 4, 8, 16, 32, 64)
HORIZONS = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9)
_SIZES = (16, 64)
"""Numbers of arms that policies are padded to, as compiling takes longer than running."""


class Choice(NamedTuple):
    """The best grid in each cell; all arrays are (K, T, M)."""

    best: np.ndarray  # int: index of the best grid in GRIDS
    ratio: np.ndarray  # its regret over that of the second best
    lower95: np.ndarray
    upper95: np.ndarray

    @property
    def sure(self) -> np.ndarray:
        """True where it is better than the second best by the 95 % interval: (K, T, M) bool."""
        return self.upper95 < 1


@dataclass(frozen=True)
class _Slice:
    """Cells that run as one program, for all numbers of batches; a task for `run_tasks`."""

    reading: Reading
    grid: str
    num_arms: int
    horizon: int
    runs: int
    key: jax.Array

    @property
    def at(self) -> tuple[int, int, int, int]:
        """Its index in the arrays of a study."""
        return (
            READINGS.index(self.reading),
            GRIDS.index(self.grid),
            ARMS.index(self.num_arms),
            HORIZONS.index(self.horizon),
        )

    @property
    def program(self) -> tuple[Any, ...]:
        """Identity of the compiled program; slices that differ only in the horizon, or in numbers
        of arms padded to the same size, share it."""
        return self.reading, self.grid, self.size

    @property
    def size(self) -> int:
        """Number of arms that the policy is padded to."""
        return next(size for size in _SIZES if size >= self.num_arms)

    def run(self, device: Device, stop: threading.Event) -> tuple[np.ndarray, np.ndarray]:
        """Simulates: mean final regret and its standard error by number of batches, (M,) each."""
        del stop  # a slice takes about a second
        made = [
            policies.make(
                "base",
                num_arms=self.size,
                active_arms=np.arange(self.size) < self.num_arms,
                horizon=self.horizon,
                num_batches=number,
                grid=self.grid,
                **self.reading.parameters,
            )
            for number in BATCHES
        ]
        results = simulate_many(
            made,
            problems.one_better_arm(self.num_arms),
            self.horizon,
            num_seeds=self.runs,
            seed=self.key,
            checkpoints=[self.horizon],
            regret="pulls",
            devices=[device],
            progress=False,
        )
        return np.array([r.mean[-1] for r in results]), np.array([r.sem[-1] for r in results])


class Study:
    """Mean regrets in all cells, simulated when first needed.

    Args:
      runs: seeds of each cell.
      seed: root of all randomness.
      progress: as in `jaxduel.simulate`.

    Attributes:
      mean, sem: (readings, grids, K, T, M) float64, final regret and its standard error over the
        seeds; NaN for cells not simulated yet.
    """

    def __init__(self, runs: int, seed: int, progress: bool | None = None) -> None:
        shape = tuple(map(len, (READINGS, GRIDS, ARMS, HORIZONS, BATCHES)))
        self.runs = runs
        self.mean, self.sem = np.full(shape, np.nan), np.full(shape, np.nan)
        self._seed = seed
        self._progress = progress

    def complete(self, reading: Reading) -> None:
        """Simulates the missing cells of a reading, large numbers of arms first; after an interrupt
        the finished cells stay."""
        slices = [
            _Slice(*what, self.runs, self._key(*what))
            for what in itertools.product([reading], GRIDS, ARMS, HORIZONS)
        ]
        missing = [s for s in slices if np.isnan(self.mean[s.at]).any()]
        missing.sort(key=lambda s: -s.num_arms)
        total = len(missing) * len(BATCHES)
        shown = Progress("study s1", total, "cells", self._progress if total else False)
        with shown, closing(run_tasks(missing, jax.local_devices())) as events:
            for done, found in events:
                self.mean[done.at], self.sem[done.at] = found
                shown.tick(len(BATCHES))

    def _key(self, reading: Reading, grid: str, num_arms: int, horizon: int) -> jax.Array:
        names = reading.figure, grid, place(num_arms, horizon)
        return named_key(self._seed, "study", *names)

    @property
    def begun(self) -> list[Reading]:
        """Readings with at least one simulated cell."""
        return [r for r, mean in zip(READINGS, self.mean, strict=True) if np.isfinite(mean).any()]

    @property
    def is_unfinished(self) -> bool:
        """True if a reading has both simulated and missing cells."""
        return any(np.isnan(self.mean[READINGS.index(r)]).any() for r in self.begun)

    def ratio(self, reading: Reading, above: int, below: int) -> tuple[np.ndarray, ...]:
        """The regret on one grid over that on another, by their indices in GRIDS.

        Returns:
          (K, T, M): the ratio and its 95 % interval; the seeds of two grids are independent.
        """
        mean, sem = self.mean[READINGS.index(reading)], self.sem[READINGS.index(reading)]
        ratio = mean[above] / mean[below]
        error = np.hypot(sem[above] / mean[above], sem[below] / mean[below])
        half = t95(self.runs) * error
        return ratio, ratio * np.exp(-half), ratio * np.exp(half)

    def choice(self, reading: Reading) -> Choice:
        """The best grid in each cell; ratio and interval are NaN where a grid is missing."""
        order = np.argsort(self.mean[READINGS.index(reading)], axis=0)
        parts = np.full((3, *order.shape[1:]), np.nan)
        for above, below in itertools.permutations(range(len(GRIDS)), 2):
            here = (order[0] == above) & (order[1] == below)
            parts[:, here] = np.array(self.ratio(reading, above, below))[:, here]
        return Choice(order[0], *parts)

    def table(self, readings: Sequence[Reading]) -> str:
        """A line per simulated cell of the readings, as CSV."""
        header = (
            "grid", "gamma", "commit", "num_arms", "t", "num_batches", "mean", "sem", "num_seeds",
        )  # fmt: skip
        rows = []
        for at in zip(*np.nonzero(np.isfinite(self.mean)), strict=True):
            reading, grid, *where = (int(i) for i in at)
            reading = READINGS[reading]
            if reading in readings:
                cell = [of[i] for of, i in zip((ARMS, HORIZONS, BATCHES), where, strict=True)]
                numbers = float(self.mean[at]), float(self.sem[at])
                known = GRIDS[grid], reading.gamma, reading.commit
                rows.append((*known, *cell, *numbers, self.runs))
        return csv_text(header, rows)
