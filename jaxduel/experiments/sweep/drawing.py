"""Curves and heat maps of a sweep, drawn by `jaxduel.plotting`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jaxduel.experiments.sweep.axes import axis_label, in_order, value_of
from jaxduel.experiments.sweep.readings import Reading
from jaxduel.stats import interval95

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOG_FROM = 8.0
"""A quantity that varies by at least this factor has a logarithmic axis."""


@dataclass(frozen=True)
class Line:
    """One curve, or one map: its numbers, with the cells that they are of.

    Attributes:
      label: the policy, with all that distinguishes it from others.
      at: (N,) values of x; NaN for a level, which does not depend on x.
      cells: N cells (for a curve over time the same cell N times).
      t: (N,) times.
      mean, sem: (N,) over seeds.
    """

    label: str
    at: np.ndarray
    cells: tuple[Reading, ...]
    t: np.ndarray
    mean: np.ndarray
    sem: np.ndarray

    def interval95(self) -> tuple[np.ndarray, np.ndarray]:
        """(N,) the ends of the 95 % intervals; NaN for one seed."""
        ends = [
            interval95(mean, sem, cell.seeds)
            for mean, sem, cell in zip(self.mean, self.sem, self.cells, strict=True)
        ]
        return np.array([end[0] for end in ends]), np.array([end[1] for end in ends])


def draw_curves(x: str, facets: dict[str, tuple[Line, ...]]) -> Figure:
    """Draws a set of axes for each title, with curves over an axis."""
    from jaxduel.plotting import SweepCurve, SweepPanel
    from jaxduel.plotting.facets import facet_figure

    lines = [line for some in facets.values() for line in some]
    places = np.concatenate([line.at for line in lines])
    places = places[np.isfinite(places)]
    ends = np.array([places.min(), places.max()])
    log = x == "t" or (ends[0] > 0 and ends[1] >= _LOG_FROM * ends[0])
    drawn = []
    for title, some in facets.items():
        curves = []
        for line in some:
            lower, upper = line.interval95()
            level = bool(np.isnan(line.at).all())
            at, mean = (ends, line.mean.repeat(2)) if level else (line.at, line.mean)
            if level:
                lower, upper = lower.repeat(2), upper.repeat(2)
            curves.append(
                SweepCurve(
                    name=line.cells[0].variant.policy,
                    label=line.label,
                    at=at,
                    mean=mean,
                    lower95=lower,
                    upper95=upper,
                    level=level,
                    dense=x == "t",
                )
            )
        up = _regret_label(some[0].cells[0].setting.definition, at_horizon=x != "t")
        facet = SweepPanel(
            curves=curves,
            title=title,
            across=axis_label(x),
            up=up,
            across_scale="log" if log else "linear",
        )
        drawn.append(facet)
    return facet_figure(drawn)


def draw_maps(x: str, y: str, facets: dict[str, tuple[Line, ...]]) -> Figure:
    """Draws a heat map for each title, of its only line, over two axes."""
    from jaxduel.plotting import HeatMap
    from jaxduel.plotting.facet_maps import facet_map_figure
    from jaxduel.plotting.facets import MOST_IN_A_ROW

    cells = [cell for (line,) in facets.values() for cell in line.cells]
    columns, rows = ([float(v) for v in _numbers(cells, axis)] for axis in (x, y))
    maps = []
    for title, (line,) in facets.items():
        values = np.full((len(rows), len(columns)), np.nan)
        for cell, mean in zip(line.cells, line.mean, strict=True):
            place = [float(value_of(cell, axis) or 0.0) for axis in (y, x)]
            values[rows.index(place[0]), columns.index(place[1])] = mean
        maps.append(HeatMap(title, values))
    of_each = Counter(line.label for (line,) in facets.values())
    count = max(of_each.values())
    whole_rows = len(of_each) > 1 and set(of_each.values()) == {count} and count <= MOST_IN_A_ROW
    return facet_map_figure(
        maps,
        in_a_row=count if whole_rows and count > 1 else None,
        across=axis_label(x),
        up=axis_label(y),
        columns=columns,
        rows=rows,
        label=_regret_label(cells[0].setting.definition, at_horizon=True),
    )


def _numbers(cells: Sequence[Reading], axis: str) -> list[float]:
    values = in_order([value_of(cell, axis) for cell in cells])
    return [value for value in values if isinstance(value, int | float)]


def _regret_label(definition: str, at_horizon: bool) -> str:
    when = "R(T)" if at_horizon else "R(t)"
    word = {"average": "", "pulls": ""}.get(definition, f"{definition} ")
    return f"{word}regret ${when}$"
