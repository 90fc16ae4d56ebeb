"""Study s1: BaSE's regret on the paper's instance over numbers of batches, of arms, and horizons:
heat maps, and the best grid in each cell.

The paper (Gao, Han, Ren and Zhou, NeurIPS 2019) varies one of the three at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from jaxduel import plotting
from jaxduel.files import csv_text
from jaxduel.runs import Runs
from jaxduel.studies.estimates import final_ratio
from jaxduel.studies.papers.batched_mab.entries import GRIDS, Reading, base, wanted
from jaxduel.studies.pictures import AllRuns, Setting, title_of
from jaxduel.studies.tables import short
from jaxduel.studies.wanted import Wanted

BATCHES = (2, 3, 4, 6, 8, 12, 16, 24, 32)
ARMS = (2, 4, 8, 16, 32, 64)
HORIZONS = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9)

_KINDS: dict[str, tuple[plotting.HeatKind, str, str]] = {
    "regret": ("amount", r"$\log_{10} R(T)$", "regret on the minimax grid, least framed"),
    "minimax / geometric": ("ratio", r"$\log_{10}$ ratio", "regret, minimax / geometric grid"),
    "best grid": ("choice", "best grid", "grid of least regret (pale: not significantly)"),
}
"""By quantity: the kind, the label of the scale, and the title of its maps."""
QUANTITIES = tuple(_KINDS)

Cells = Mapping[tuple[str, int, int, int], Wanted]
"""Wanted runs, by grid, K, T and M."""


def cells(reading: Reading, runs: int, seed: int, setting: Setting) -> Cells:
    """The cells of a reading, large numbers of arms first. All policies on a K and T have the same
    seeds, shared with panels of Figure 1 that have the same K and T."""
    return {
        (grid, k, t, m): wanted(base(reading, grid, m), k, t, runs, seed, setting)
        for k, t in itertools.product(reversed(ARMS), HORIZONS)
        for grid, m in itertools.product(GRIDS, BATCHES)
    }


class Choice(NamedTuple):
    """The best grid in each cell; all arrays are (K, T, M)."""

    best: np.ndarray  # int: index of the best grid in GRIDS
    ratio: np.ndarray  # the best grid's regret over the second best's
    lower95: np.ndarray
    upper95: np.ndarray

    @property
    def sure(self) -> np.ndarray:
        """True where the 95 % interval says it is better than the second best: (K, T, M) bool."""
        return self.upper95 < 1


class Study:
    """The runs of all cells of a reading.

    Attributes:
      mean: (grids, K, T, M) float64, mean final regret.
    """

    def __init__(self, all_runs: AllRuns, where: Cells) -> None:
        self._cells = [[all_runs[where[grid, *place].key] for place in _places()] for grid in GRIDS]
        shape = tuple(map(len, (GRIDS, ARMS, HORIZONS, BATCHES)))
        means = [[float(runs.mean[-1]) for runs in of_grid] for of_grid in self._cells]
        self.mean = np.array(means).reshape(shape)

    def rows(self) -> Iterator[tuple[str, int, int, int, Runs]]:
        """Rows of grid, K, T, M and runs, one per cell."""
        for grid, of_grid in zip(GRIDS, self._cells, strict=True):
            for place, runs in zip(_places(), of_grid, strict=True):
                yield grid, *place, runs

    def ratio(self, above: int, below: int) -> np.ndarray:
        """The ratio of regrets on two grids, by their indices in GRIDS, and the ends of its 95 %
        interval: (3, K, T, M)."""
        shape = self.mean.shape[1:]
        return self._ratios(np.full(shape, above), np.full(shape, below))

    def choice(self) -> Choice:
        """The best grid in each cell."""
        order = np.argsort(self.mean, axis=0)
        return Choice(order[0], *self._ratios(order[0], order[1]))

    def _ratios(self, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        """`ratio` of two grids in each cell, (K, T, M) of their indices."""
        found = []
        for number, pair in enumerate(zip(above.flat, below.flat, strict=True)):
            ratio = final_ratio(*(self._cells[grid][number] for grid in pair))
            found.append((ratio.value, *ratio.interval))
        return np.array(found).T.reshape(3, *above.shape)


def _places() -> Iterator[tuple[int, int, int]]:
    """K, T and M of the cells of a grid."""
    return itertools.product(ARMS, HORIZONS, BATCHES)


@dataclass(frozen=True)
class HeatPicture:
    """Heat maps of one quantity over all cells of a reading, one for each number of arms.

    Attributes:
      name: the panel's name.
      reading: the reading of BaSE.
      quantity: one of `QUANTITIES`.
      cells: the simulated runs.
      runs: runs of each cell.
      listed: whether the report lists the final regrets.
    """

    name: str
    reading: Reading
    quantity: str
    cells: Cells = field(repr=False)
    runs: int
    listed: bool = False

    @property
    def wanted(self) -> Sequence[Wanted]:
        """One per cell."""
        return list(self.cells.values())

    def panel(self, all_runs: AllRuns, setting: Setting) -> plotting.HeatPanel:
        """The maps."""
        study, (kind, label, title) = Study(all_runs, self.cells), _KINDS[self.quantity]
        sure = best = [None] * len(ARMS)
        if kind == "amount":
            values = np.log10(study.mean[0])
            best = values == values.min(axis=2, keepdims=True)
        elif kind == "ratio":
            values = np.log10(study.ratio(0, 1)[0])
        else:
            choice = study.choice()
            values = np.where(np.isnan(choice.ratio), np.nan, choice.best)
            sure = choice.sure
        maps = [
            plotting.HeatMap(f"$K={arms}$", values[i], sure[i], best[i])
            for i, arms in enumerate(ARMS)
        ]
        title = f"{title}, BaSE of {self.reading.source}, {self.reading.words}, {self.runs:,} seeds"
        return plotting.HeatPanel(
            maps=maps,
            kind=kind,
            label=label,
            across="batches $M$",
            up="horizon $T$",
            columns=[str(number) for number in BATCHES],
            rows=[f"$10^{{{len(str(horizon)) - 1}}}$" for horizon in HORIZONS],
            title=title_of(self.name, title),
            choices=GRIDS if kind == "choice" else (),
        )

    def table(self, all_runs: AllRuns, setting: Setting) -> str:
        """A line per cell; for the regret, a line per cell and grid."""
        study = Study(all_runs, self.cells)
        if self.quantity == QUANTITIES[0]:
            return self._regrets(study)
        numbers = ("ratio", "lower95", "upper95")
        header: tuple[str, ...] = ("num_arms", "t", "num_batches", *numbers)
        columns = tuple(study.ratio(0, 1))
        if self.quantity == QUANTITIES[2]:
            choice = study.choice()
            header = (*header[:3], "best", *(f"{name}_to_second" for name in numbers))
            columns = (np.array(GRIDS)[choice.best], *choice[1:])
        rows = [
            (ARMS[at[0]], HORIZONS[at[1]], BATCHES[at[2]], *(column[at] for column in columns))
            for at in np.ndindex(columns[-1].shape)
        ]
        return csv_text(header, rows)

    def _regrets(self, study: Study) -> str:
        header = (
            "grid", "gamma", "commit", "num_arms", "t", "num_batches", "mean", "sem", "num_seeds",
        )  # fmt: skip
        known = self.reading.gamma, self.reading.commit
        rows = [
            (grid, *known, *sizes, float(runs.mean[-1]), float(runs.sem[-1]), runs.num_runs)
            for grid, *sizes, runs in study.rows()
        ]
        return csv_text(header, rows)

    def lines(self, all_runs: AllRuns) -> list[str]:
        """A summary of the study, only with the map of the best grid."""
        if self.quantity != QUANTITIES[2]:
            return []
        choice = Study(all_runs, self.cells).choice()
        return [f"figure {self.name}: {line}" for line in summary(choice, self.reading, self.runs)]


def summary(choice: Choice, reading: Reading, runs: int) -> list[str]:
    """A study in words: how often each grid is the best, and where the minimax grid is the best.

    Cells without regret do not count.
    """
    known = np.isfinite(choice.ratio)
    counts = []
    for number, grid in enumerate(GRIDS):
        best = known & (choice.best == number)
        counts.append(f"{grid} in {best.sum()} ({(best & choice.sure).sum()} significantly)")
    text = [
        f"BaSE of {reading.source} ({reading.words}): of {known.sum()} cells, {runs:,} seeds "
        f"each, the grid of least regret is {', '.join(counts)}."
    ]
    wins = known & (choice.best == 0)
    for axis, letter, values in ((1, "T", HORIZONS), (0, "K", ARMS), (2, "M", BATCHES)):
        others = tuple({0, 1, 2} - {axis})
        shares = wins.sum(axis=others) / np.maximum(known.sum(axis=others), 1)
        each = ", ".join(
            f"{value:,}: {share:.0%}" for value, share in zip(values, shares, strict=True)
        )
        text.append(f"minimax is the best grid by {letter}: {each}.")
    return [
        *text,
        _stops(choice, wins, known),
        "losing the best arm costs up to T / 10, and where that is rarer than once in "
        f"{runs:,} runs it is hardly seen: at large T means may be too small.",
    ]


def _stops(choice: Choice, wins: np.ndarray, known: np.ndarray) -> str:
    """For each number of arms, the horizons at which the minimax grid is best for more than half of
    the numbers of batches; and counts of the best grids at other horizons."""
    most = wins.sum(axis=2) > len(BATCHES) / 2
    parts = []
    for arms, row in zip(ARMS, most, strict=True):
        there = [short(t) for t, yes in zip(HORIZONS, row, strict=True) if yes]
        parts.append(f"K = {arms}, T = {', '.join(there) or 'none'}")
    elsewhere = known & ~most[..., None]
    others = ", ".join(
        f"{grid} in {(elsewhere & (choice.best == number)).sum()}"
        for number, grid in enumerate(GRIDS)
    )
    return (
        f"minimax is the best grid for more than half of the M at {'; '.join(parts)}. At the other "
        f"T it stops winning: of their {elsewhere.sum()} cells the best grid is {others}."
    )
