"""The numbers of a sweep's table: regret at the horizon by setting and policy, the best marked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jaxduel.experiments.sweep.readings import Reading, Readings, Setting, Variant
from jaxduel.experiments.tables import csv_text
from jaxduel.stats import interval95, moments_of, paired

BEST, EQUAL = "*", "~"
"""The marks within a setting: the smallest mean, and those not significantly larger."""


@dataclass(frozen=True)
class Entry:
    """Regret at the horizon of one cell.

    Attributes:
      seeds: number of seeds that have run.
      mean, sem: over them; NaN for none, or sem for one.
      mark: "*" for the smallest mean of the setting; "" if it is significantly more than that one:
        the 95 % interval of the difference, paired seed by seed, is above 0; "~" otherwise, and
        where fewer than two seeds have run in both.
    """

    seeds: int
    mean: float
    sem: float
    mark: str


class SweepTable:
    """The regret at the horizon of chosen cells of a sweep.

    Args:
      readings: the cells.

    Attributes:
      readings: the same.
      rows: by setting, the entry of each variant that it has in the grid.
    """

    def __init__(self, readings: Readings) -> None:
        self.readings = readings
        cells: dict[Setting, list[Reading]] = {}
        for reading in readings.all:
            cells.setdefault(reading.setting, []).append(reading)
        self.rows = {
            setting: _entries(cells[setting], [readings.final(r) for r in cells[setting]])
            for setting in readings.settings
        }

    @cached_property
    def num_arms(self) -> dict[str, int]:
        """Number of arms of each problem."""
        return {reading.setting.problem: reading.num_arms for reading in self.readings.all}

    def csv(self) -> str:
        """One line per cell of the grid and definition, floats to the last bit; nan for cells that
        have not run."""
        header = ["problem", "num_arms", "horizon", "definition", "policy", "parameters"]
        header += ["seeds", "mean", "sem", "lower95", "upper95", "mark"]
        rows = []
        for setting, entries in self.rows.items():
            problem, horizon, definition = setting
            for variant, one in entries.items():
                ends = interval95(np.array(one.mean), np.array(one.sem), one.seeds)
                where = [problem, self.num_arms[problem], horizon, definition, *variant]
                what = [one.seeds, one.mean, one.sem, *map(float, ends), one.mark]
                rows.append([*where, *what])
        return csv_text(header, rows)


def _entries(cells: list[Reading], final: list[np.ndarray]) -> dict[Variant, Entry]:
    """The entries of one setting."""
    known = [values[np.isfinite(values)] for values in final]
    means = [float(values.mean()) if len(values) else float("nan") for values in known]
    best = int(np.nanargmin(means)) if any(map(len, known)) else None
    entries = {}
    for i, (cell, values) in enumerate(zip(cells, known, strict=True)):
        sem = float(moments_of(values).sem) if len(values) else math.nan
        mark = ""
        if best is not None and len(values):
            pair = paired(final[i], final[best])
            more = pair is not None and pair.verdict == "worse"
            mark = BEST if i == best else ("" if more else EQUAL)
        entries[cell.variant] = Entry(len(values), means[i], sem, mark)
    return entries
