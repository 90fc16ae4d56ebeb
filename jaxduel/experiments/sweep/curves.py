"""Figures of a sweep: regret against time, or regret at the horizon against a varied quantity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jaxduel.errors import InputError
from jaxduel.experiments.file_names import named_after
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.sweep.axes import axis_name, value_of
from jaxduel.experiments.sweep.describing.entries import BATCHES
from jaxduel.experiments.sweep.drawing import Line, draw_curves, draw_maps
from jaxduel.experiments.sweep.grouping import (
    MOST_FACETS,
    facet_axes,
    grouped,
    label_axes,
    label_of,
    parameter_axes,
    too_many,
)
from jaxduel.experiments.sweep.readings import Reading, Readings
from jaxduel.experiments.tables import csv_text

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

Kind = Literal["curves", "heatmap"]

MOST_CURVES = 20
"""Most curves in a facet: more could not be told apart."""


@dataclass(frozen=True)
class SweepFigure:
    """A figure of a sweep, not drawn yet.

    Attributes:
      name: name of its files, such as "curves-horizon-by-K" or "curves-t-problem=arxiv".
      x: the horizontal axis.
      facets: by title, the curves or the map drawn there.
      draw: draws it.
    """

    name: str
    x: str
    facets: dict[str, tuple[Line, ...]]
    draw: Callable[[], Figure]

    def csv(self) -> str:
        """The numbers: one line per point, floats to the last bit."""
        header = ["facet", "curve", "x", "policy", "parameters", "problem", "num_arms", "horizon"]
        header += ["definition", "t", "num_seeds", "mean", "sem", "lower95", "upper95"]
        rows = []
        for title, lines in self.facets.items():
            for line in lines:
                lower, upper = line.interval95()
                for i, cell in enumerate(line.cells):
                    x = "" if np.isnan(line.at[i]) else float(line.at[i])
                    problem, horizon, definition = cell.setting
                    where: list[Any] = [title, line.label, x, *cell.variant, problem]
                    where += [cell.num_arms, horizon, definition, int(line.t[i]), cell.seeds]
                    numbers = (line.mean[i], line.sem[i], lower[i], upper[i])
                    rows.append([*where, *map(float, numbers)])
        return csv_text(header, rows)

    def write(self, folder: OutputFolder, name: str | None = None) -> list[Path]:
        """Writes NAME.png, NAME.pdf and NAME.csv, and returns their paths."""
        from jaxduel.plotting.figures import pdf, png

        name, figure = name or self.name, self.draw()
        contents = {"png": png(figure), "pdf": pdf(figure), "csv": self.csv()}
        return [folder.write(f"{name}.{suffix}", data) for suffix, data in contents.items()]


def sweep_figure(
    dataset: xarray.Dataset,
    *,
    x: str = "t",
    y: str | None = None,
    facet: str | None = None,
    kind: Kind = "curves",
    problems: Sequence[str] = (),
    horizons: Sequence[int] = (),
    policies: Sequence[str] = (),
    definitions: Sequence[str] = (),
) -> SweepFigure:
    """A figure of a sweep, finished or not.

    Curves are policies, with their parameters, problems and horizons where those differ and are
    neither on an axis nor in facets; means over seeds, with 95 % bands. Policies without the
    parameter on the horizontal axis are levels. Maps are of one policy each, regret at the horizon
    over x and y.

    Args:
      dataset: data set from `open_sweep`.
      x: horizontal axis: "t", "horizon", "K", "batches", or any parameter that is a number. For "t"
        regret at all checkpoints is drawn, else regret at the horizon.
      y: vertical axis of a heat map: as for x, without "t"; "horizon" by default, or "K" if x is
        "horizon".
      facet: a set of axes for each "problem", "K", "horizon", "definition", "policy",
        "parameters", or value of a parameter; by default for each problem and horizon, as far as
        they are on no axis. Definitions of regret always have axes of their own.
      kind: "curves" or "heatmap".
      problems, horizons, policies, definitions: those to keep, as for `Readings`.

    Raises:
      InputError: if a name is not in the sweep or cannot be drawn so, nothing has run yet, or
        there would be too much in one figure.
    """
    chosen = Readings(
        dataset, problems=problems, horizons=horizons, policies=policies, definitions=definitions
    )
    cells = [reading for reading in chosen.all if reading.seeds]
    if not cells:
        raise InputError("nothing of that has run yet: there is no number to draw.")
    x = _numeric(axis_name(x, cells), cells)
    if kind == "heatmap":
        default = "K" if x == "horizon" else "horizon"
        y = _numeric(axis_name(y or default, cells), cells)
        if "t" in (x, y) or x == y:
            raise InputError(
                "a heat map needs two different axes of 'horizon', 'K', 'batches' and parameters "
                f"that are numbers, not '{x}' and '{y}'."
            )
        cells = [c for c in cells if value_of(c, x) is not None and value_of(c, y) is not None]
    elif y is not None:
        raise InputError("y is for heat maps: curves have regret up.")
    used = {x, *([y] if y else [])}
    chosen_facet = axis_name(facet, cells) if facet else None
    if chosen_facet == "t" or chosen_facet in used:
        raise InputError(f"'{facet}' cannot be both an axis and the facet.")
    if kind == "heatmap":
        figure = _maps(chosen, cells, x, str(y), chosen_facet)
    else:
        figure = _curves(chosen, cells, x, chosen_facet)
    name = named_after(
        figure.name, problem=problems, T=horizons, policy=policies, regret=definitions
    )
    return replace(figure, name=name)


def _curves(chosen: Readings, cells: list[Reading], x: str, facet: str | None) -> SweepFigure:
    apart = facet_axes(cells, {x}, facet)
    facets: dict[str, tuple[Line, ...]] = {}
    groups = grouped(cells, apart)
    labels = label_axes(groups.values(), {x, *apart})
    parameters = parameter_axes(cells, {x, *apart})
    for title, members in groups.items():
        lines: dict[tuple[str, float | None], list[Reading]] = {}
        for cell in members:
            key = None if x == "t" or value_of(cell, x) is not None else np.nan
            lines.setdefault((label_of(cell, parameters, labels), key), []).append(cell)
        if len(lines) > MOST_CURVES:
            raise InputError(
                f"a figure would have {len(lines)} curves in one set of axes, more than "
                f"{MOST_CURVES}: choose policies (such as 'scomp2[num_batches=8]'), problems or "
                "horizons, or another facet."
            )
        facets[title] = tuple(
            line for (label, _), some in lines.items() for line in _lines(chosen, label, some, x)
        )
    name = f"curves-{x}" + (f"-by-{facet}" if facet else "")
    return SweepFigure(name, x, facets, lambda: draw_curves(x, facets))


def _lines(chosen: Readings, label: str, cells: list[Reading], x: str) -> list[Line]:
    """The curve through some cells."""
    if x == "t":
        lines = []
        for cell in cells:
            t, mean, sem = (
                chosen.at_checkpoints(name, cell) for name in ("t", "regret_mean", "regret_sem")
            )
            lines.append(Line(label, t, (cell,) * len(t), t, mean, sem))
        return lines
    ends = [_at_horizon(chosen, cell) for cell in cells]
    places = [value_of(cell, x) for cell in cells]
    at = np.array([np.nan if place is None else place for place in places], dtype=np.float64)
    order = np.argsort(at, kind="stable")
    t, mean, sem = np.array(ends)[order].T
    return [Line(label, at[order], tuple(cells[i] for i in order), t, mean, sem)]


def _maps(chosen: Readings, cells: list[Reading], x: str, y: str, facet: str | None) -> SweepFigure:
    if not cells:
        raise InputError(f"no policy that has run has both '{x}' and '{y}'.")
    if len({cell.setting.definition for cell in cells}) > 1:
        raise InputError("a heat map is of one definition of regret: choose one.")
    apart = facet_axes(cells, {x, y}, facet)
    used = {x, y, *apart}
    labels = label_axes(grouped(cells, apart).values(), used)
    parameters = parameter_axes(cells, used)
    found: dict[tuple[str, str], list[Reading]] = {}
    for title, members in grouped(cells, apart).items():
        for cell in members:
            found.setdefault((label_of(cell, parameters, labels), title), []).append(cell)
    if len(found) > MOST_FACETS:
        raise too_many(len(found))
    order = list(dict.fromkeys(label for label, _ in found))  # a row per policy
    facets: dict[str, tuple[Line, ...]] = {}
    for label, title in sorted(found, key=lambda key: order.index(key[0])):
        some = found[label, title]
        t, mean, sem = np.array([_at_horizon(chosen, cell) for cell in some]).T
        at = np.array([value_of(cell, x) for cell in some], dtype=np.float64)
        line = Line(label, at, tuple(some), t, mean, sem)
        facets[", ".join(part for part in (label, title) if part)] = (line,)
    name = f"heatmap-{x}-{y}" + (f"-by-{facet}" if facet else "")
    return SweepFigure(name, x, facets, lambda: draw_maps(x, y, facets))


def _at_horizon(chosen: Readings, cell: Reading) -> tuple[float, float, float]:
    """The time, mean and standard error at a cell's horizon."""
    names = ("t", "regret_mean", "regret_sem")
    t, mean, sem = (float(chosen.at_checkpoints(name, cell)[-1]) for name in names)
    return t, mean, sem


def _numeric(axis: str, cells: Sequence[Reading]) -> str:
    if axis == "t":
        return axis
    values = [value_of(cell, axis) for cell in cells]
    if any(isinstance(value, str) for value in values):
        raise InputError(
            f"'{axis}' is not a number, as an axis must be: 't', 'horizon', 'K', '{BATCHES}' and "
            "parameters that are numbers are."
        )
    return axis
