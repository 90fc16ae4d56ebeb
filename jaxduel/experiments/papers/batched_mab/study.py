"""Study s1: BaSE's regret on the paper's instance over numbers of batches, of arms, and horizons.

The paper (Gao, Han, Ren and Zhou, NeurIPS 2019) varies one of the three at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from jaxduel.experiments.estimates import final_ratio
from jaxduel.experiments.papers.batched_mab.entries import GRIDS, Reading, base, data_set
from jaxduel.experiments.plans import Entry, Samples
from jaxduel.experiments.samples import Sample

BATCHES = (2, 3, 4, 6, 8, 12, 16, 24, 32)
ARMS = (2, 4, 8, 16, 32, 64)
HORIZONS = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9)

Cells = Mapping[tuple[str, int, int, int], Entry]
"""Entries by grid, K, T and M."""


def cells(reading: Reading, runs: int, seed: int) -> Cells:
    """The cells of a reading, large numbers of arms first. All policies on a K and T have the same
    seeds, those of panels of Figure 1 where they have that K and T too."""
    return {
        (grid, k, t, m): (data_set(k, t, runs, seed), base(reading, grid, m))
        for k, t in itertools.product(reversed(ARMS), HORIZONS)
        for grid, m in itertools.product(GRIDS, BATCHES)
    }


class Ratios(NamedTuple):
    """Ratios of mean regrets with their 95 % intervals: (K, T, M) each."""

    ratio: np.ndarray
    lower95: np.ndarray
    upper95: np.ndarray


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


class Study:
    """The samples of all cells of a reading.

    Attributes:
      mean: (grids, K, T, M) float64, mean final regret.
    """

    def __init__(self, samples: Samples, where: Cells) -> None:
        self._cells = [
            [
                samples[data.name, c.name]
                for data, c in (where[grid, k, t, m] for k, t, m in _places())
            ]
            for grid in GRIDS
        ]
        shape = tuple(map(len, (GRIDS, ARMS, HORIZONS, BATCHES)))
        means = [[float(sample.mean[-1]) for sample in of_grid] for of_grid in self._cells]
        self.mean = np.array(means).reshape(shape)

    def rows(self) -> Iterator[tuple[str, int, int, int, Sample]]:
        """Grid, K, T, M and the runs of each cell."""
        for grid, of_grid in zip(GRIDS, self._cells, strict=True):
            for place, sample in zip(_places(), of_grid, strict=True):
                yield grid, *place, sample

    def ratio(self, above: int, below: int) -> Ratios:
        """The regret on one grid over that on another, by their indices in GRIDS."""
        shape = self.mean.shape[1:]
        return self._ratios(np.full(shape, above), np.full(shape, below))

    def choice(self) -> Choice:
        """The best grid in each cell."""
        order = np.argsort(self.mean, axis=0)
        return Choice(order[0], *self._ratios(order[0], order[1]))

    def _ratios(self, above: np.ndarray, below: np.ndarray) -> Ratios:
        """Ratios of the regrets on two grids, (K, T, M) of their indices."""
        found = []
        for number, pair in enumerate(zip(above.flat, below.flat, strict=True)):
            ratio = final_ratio(*(self._cells[grid][number] for grid in pair))
            found.append((ratio.value, *ratio.interval))
        ratio, lower, upper = np.array(found).T.reshape(3, *above.shape)
        return Ratios(ratio, lower, upper)


def _places() -> Iterator[tuple[int, int, int]]:
    """K, T and M of the cells of a grid."""
    return itertools.product(ARMS, HORIZONS, BATCHES)
