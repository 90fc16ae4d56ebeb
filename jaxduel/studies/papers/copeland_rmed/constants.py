"""Constants of the regret bounds that Komiyama, Honda and Nakagawa (ICML 2016) draw and tabulate.

All are for "copeland" regret, (L_i + L_j - 2 L_1) / (2 (K - 1)), per unit of log T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from jaxduel import plotting, theory
from jaxduel.files import csv_text
from jaxduel.problems import DuelingProblem
from jaxduel.stats import moments_of
from jaxduel.studies.estimates import Estimate, mean_of
from jaxduel.studies.papers.copeland_rmed.instances import random_submatrices
from jaxduel.studies.pictures import AllRuns, Setting
from jaxduel.studies.wanted import Wanted

LB, ECWB, CCB = "LB", "ECWB", "CCB"
PRINTED = {LB: 6.7e2, ECWB: 7.3e2, CCB: 8.8e5}
"""Means as printed in Table 1."""
NUM_ARMS = 16
_STYLES = {LB: "cw-rmed", ECWB: "ecw-rmed", CCB: "ccb"}


class Constants(NamedTuple):
    """Constants of one instance, of Theorems 2 and 4, and its number of Copeland winners."""

    lower: float
    efficient: float
    num_winners: int

    def lines(self) -> dict[str, float]:
        """The constants drawn in figures, by label."""
        return {LB: self.lower, ECWB: self.efficient}


class SubmatrixTable:
    """Table 1: constants of random 16-arm submatrices, computed when first needed.

    Args:
      whole: the instance from which arms are taken.
      number: number of submatrices.
      seed: root of the randomness; a longer table begins with the rows of a shorter one.
    """

    def __init__(self, whole: DuelingProblem, number: int, seed: int) -> None:
        self.number = number
        self._whole = whole
        self._rows: list[tuple[float, float, float]] = []
        rng = np.random.default_rng(seed)
        self._arms = random_submatrices(np.asarray(whole.preferences), NUM_ARMS, rng)

    def complete(self) -> None:
        """Computes the missing rows."""
        while len(self._rows) < self.number:
            problem = self._whole.submatrix(next(self._arms).tolist())
            lower = theory.copeland_lower_bound(problem).constant
            efficient = float(theory.ecw_constant(problem))
            self._rows.append((lower, efficient, theory.ccb_constant(problem)))

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The n rows computed so far, by constant: (n,) float64 each; empty if there are none."""
        return dict(zip(PRINTED, np.array(self._rows).T, strict=False))

    def means(self) -> dict[str, Estimate]:
        """Means of the columns."""
        return {label: mean_of(column) for label, column in self.columns.items()}

    def sem(self, label: str) -> float:
        """The standard error of a column's mean."""
        return float(moments_of(self.columns[label]).sem)


@cache
def constants_of(problem: DuelingProblem) -> Constants:
    """The constants of an instance without ties."""
    lower = theory.copeland_lower_bound(problem).constant
    return Constants(lower, float(theory.ecw_constant(problem)), len(problem.copeland_winners))


@dataclass(frozen=True)
class TablePicture:
    """Table 1 as bars, beside the paper's numbers, without simulation."""

    name: str
    rows: SubmatrixTable
    listed: bool = True

    @property
    def wanted(self) -> Sequence[Wanted]:
        """None: the constants are computed, not simulated."""
        return []

    def panel(self, all_runs: AllRuns, setting: Setting) -> plotting.BarsPanel:
        """Two groups of bars: the means of the rows, and the printed means."""
        self.rows.complete()
        bars = []
        for label, mean in self.rows.means().items():
            values = np.array([mean.value, PRINTED[label]])
            ends = [np.array([end, PRINTED[label]]) for end in mean.interval]
            bars.append(plotting.Bar(_STYLES[label], label, values, *ends))
        groups = [f"mean of {self.rows.number:,}", "as printed"]
        title = f"MSLR, random submatrices, $K={NUM_ARMS}$"
        return plotting.BarsPanel(groups, bars, title, r"constant of $\log T$")

    def table(self, all_runs: AllRuns, setting: Setting) -> str:
        """A line per constant."""
        header = ("constant", "mean", "sem", "lower95", "upper95", "printed", "num_submatrices")
        lines = [
            (label, mean.value, self.rows.sem(label), *mean.interval, PRINTED[label], mean.runs)
            for label, mean in self.rows.means().items()
        ]
        return csv_text(header, lines)

    def lines(self, all_runs: AllRuns) -> list[str]:
        """The means beside the printed ones."""
        means = ", ".join(
            f"{label} {mean.value:.4g} ± {self.rows.sem(label):.2g} (printed {PRINTED[label]:.2g})"
            for label, mean in self.rows.means().items()
        )
        return [f"figure {self.name}, mean ± sem of {self.rows.number:,} submatrices: {means}."]
