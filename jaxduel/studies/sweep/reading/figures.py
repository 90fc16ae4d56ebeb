"""Figures of a sweep: regret against time, or regret at the horizon against a varied quantity; or
the probability that the best arm is named, or the votes needed for a probability."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jaxduel import policies
from jaxduel.errors import InputError, unknown_name
from jaxduel.files import csv_text
from jaxduel.studies.engine.groups import BATCHES
from jaxduel.studies.output import OutputFolder, named_after
from jaxduel.studies.sweep.axes import (
    AXES,
    CELL,
    OF_PROBLEMS,
    axes_of,
    axis_of,
    columns_of,
    plain_name,
)
from jaxduel.studies.sweep.reading.cells import (
    Frame,
    at_checkpoints,
    choose,
    parameter_names,
)
from jaxduel.studies.sweep.reading.drawing import RUNS, draw_found, draw_lines, draw_maps
from jaxduel.studies.sweep.reading.found_table import found_points
from jaxduel.studies.sweep.reading.labels import (
    family_of,
    labelled,
    lasting,
    ranks_of,
    require_few,
)
from jaxduel.studies.sweep.reading.layout import NAMED, REGRET, measure_of

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

Kind = Literal["curves", "heatmap"]

MOST_CURVES = 20
"""Most curves in a facet: more would be indistinguishable."""
_MOST_TOGETHER = 10
"""Most curves of policies on one problem, of all horizons, in one set of axes."""

_ALIASES = {"time": "t"} | {alias: axis.name for axis in AXES for alias in axis.aliases}


@dataclass(frozen=True)
class SweepFigure:
    """A figure of a sweep, not drawn yet.

    Attributes:
      name: name of its files, such as "curves-horizon-by-K" or "curves-t-problem=arxiv".
      x, y: the horizontal axis, and the vertical one of a heat map, or None.
      points: the numbers, one row per point, facet by facet and curve by curve: facet and curve
        (their labels; title and label in figures), setting, line (one number per curve of a facet),
        x (NaN for a level, which does not depend on it) and y, the columns of cells, t, mean, sem,
        lower95, upper95, and `RUNS`.
      titles: titles by facet, including facets of which nothing has run.
      left_out: policies that a heat map cannot show, as named in figures.
    """

    name: str
    x: str
    y: str | None
    points: Frame
    titles: Mapping[str, str]
    left_out: Sequence[str] = ()

    def csv(self) -> str:
        """The numbers: one line per point, floats to the last bit."""
        x = ["" if np.isnan(value) else float(value) for value in self.points["x"]]
        columns = ["facet", "curve", "x", *columns_of(self.points, "policy", "setting", "measure")]
        numbers = ("t", "num_seeds", "mean", "sem", "lower95", "upper95")
        columns += [name for name in numbers if name in self.points]
        rows = self.points.assign(x=np.array(x, object))[columns].itertuples(index=False)
        return csv_text(columns, rows)

    def draw(self) -> Figure:
        """The figure."""
        if self.y is not None:
            return draw_maps(self.points, self.x, self.y, self.left_out)
        return _DRAWN[measure_of(self.points).dimension].draw(self.points, self.titles, self.x)

    def write(self, folder: OutputFolder, name: str | None = None) -> list[Path]:
        """Writes NAME.png, NAME.pdf and NAME.csv, and returns their paths."""
        return folder.write_figure(name or self.name, self.draw(), self.csv())


def sweep_figures(dataset: xarray.Dataset, x: str = "t", **asked: Any) -> list[SweepFigure]:
    """The figure of `sweep_figure`; if arms are identified and x is "t", also figures of the votes
    needed against each varied parameter, if the best arm is named often enough."""
    figures = [sweep_figure(dataset, x=x, **asked)]
    if x != "t" or not _DRAWN[measure_of(dataset).dimension].further:
        return figures
    cells = figures[0].points
    for name in parameter_names(dataset):
        values = cells[name].dropna()
        if values.nunique() > 1 and not any(isinstance(value, str) for value in values):
            with suppress(InputError):  # the best arm is not named often enough
                figures.append(sweep_figure(dataset, x=name, **asked))
    return figures


def sweep_figure(
    dataset: xarray.Dataset,
    *,
    x: str = "t",
    y: str | None = None,
    facet: str | None = None,
    kind: Kind = "curves",
    **chosen: Any,
) -> SweepFigure:
    """A figure of a sweep, finished or not.

    Curves are policies, with the parameters, problems and horizons that differ and are neither on
    an axis nor in facets. They are means over seeds, with 95 % bands, or single seeds if there are
    fewer than five. Against t a policy that does not depend on the horizon has one curve, to the
    longest horizon. Policies without the parameter on the horizontal axis are levels. Maps show one
    policy each, regret at the horizon over x and y; the smallest of a setting is framed. If arms
    are identified, curves are policies and rules: the probability that the best arm is named
    against votes or pulls, or for another x those needed for 0.9; there are no maps.

    Args:
      dataset: data set from `open_sweep`.
      x: horizontal axis: "t", "horizon", "K", "batches", or any parameter of policies or instances
        that is a number; problems without it are left out. "t" draws regret at all checkpoints,
        other axes regret at the horizon.
      y: vertical axis of a heat map: as for x, without "t"; "horizon" by default, or "K" if x is
        "horizon".
      facet: a set of axes for each "problem", "K", "horizon", "definition", "policy", "parameters",
        or value of a parameter; by default for each problem and horizon that is on no axis (against
        t horizons share axes unless curves are many). Definitions of regret always have separate
        axes.
      kind: "curves" or "heatmap".
      **chosen: the cells to keep, as for `choose`.

    Raises:
      InputError: if a name is not in the sweep or cannot be drawn as asked, nothing has run yet, or
        one figure would hold too much.
    """
    drawn = _DRAWN[measure_of(dataset).dimension]
    if kind == "heatmap" and drawn.no_maps:
        raise InputError(drawn.no_maps)
    cells = choose(dataset, **chosen)
    cells = cells.assign(K=cells["num_arms"]).dropna(axis="columns", how="all")
    names = [name for name in parameter_names(dataset) if name in cells]
    some = [*names, *(axis.name for axis in OF_PROBLEMS if axis.name in cells)]
    cells[some] = cells[some].astype(object).where(cells[some].notna(), None)
    x = _numeric(axis_name(x, names, cells), cells)
    if axis_of(x).part == "setting":
        cells = cells[cells[x].notna()]
    if not (cells["num_seeds"] > 0).any():
        raise InputError("nothing of that has run yet: there is no number to draw.")
    if kind == "heatmap":
        default = "K" if x == "horizon" else "horizon"
        y = _numeric(axis_name(y or default, names, cells), cells)
        if "t" in (x, y) or x == y:
            raise InputError(
                "a heat map needs two different axes of 'horizon', 'K', 'batches' and parameters "
                f"that are numbers, not '{x}' and '{y}'."
            )
        has = cells[x].notna() & cells[y].notna()
        left_out = [
            name for name in cells["policy"].unique() if name not in set(cells["policy"][has])
        ]
        cells = cells[has]
    elif y is not None:
        raise InputError("y is for heat maps: curves have regret up.")
    else:
        left_out = []
    by = axis_name(facet, names, cells) if facet else None
    if by == "t" or (by and by in (x, y)):
        raise InputError(f"'{facet}' cannot be both an axis and the facet.")
    apart = [plain_name(axis.column) for axis in OF_PROBLEMS if axis.name in (x, y, by)]
    cells = cells.assign(family=[family_of(name, apart) for name in cells["problem"]])
    lines = _curves(cells, names, x, by) if y is None else _maps(cells, names, x, y, by)
    titles = dict(zip(lines["facet"], lines["title"], strict=True))
    lines = lines[lines["num_seeds"] > 0]
    points = drawn.points(dataset, lines, x)
    points = points.assign(x=points[x].astype(float), y=points[y or x].astype(float))
    stem = drawn.stems[x != "t"].format(x=x, clock=measure_of(dataset).clock)
    stem = stem if y is None else f"heatmap-{x}-{y}"
    chosen_by = (axis for axis in axes_of("setting", "policy", "measure") if axis.option)
    parts = {axis.letter or axis.option: chosen.get(axis.option, ()) for axis in chosen_by}
    name = named_after(stem + (f"-by-{by}" if by else ""), **parts)
    return SweepFigure(name, x, y, points, titles, [policies.label(one) for one in left_out])


def _regret_points(dataset: xarray.Dataset, lines: Frame, x: str) -> Frame:
    """Regret at all checkpoints, or for another axis than "t" at the last."""
    return _with_runs(dataset, at_checkpoints(dataset, lines, last=x != "t"))


def _with_runs(dataset: xarray.Dataset, points: Frame) -> Frame:
    """Points of `at_checkpoints` with each seed's regret in `RUNS`, if a cell has fewer than five
    seeds: at all checkpoints if the sweep keeps them, else at the horizon. NaN elsewhere."""
    values = np.full((len(points), len(RUNS)), np.nan)
    few = points["num_seeds"].between(2, len(RUNS)).to_numpy()
    full = (*CELL, measure_of(dataset).dimension)
    shape = tuple(dataset.sizes.get(name, 1) for name in full)
    for index in np.unique(points.index[few]):
        rows = np.flatnonzero(few & (points.index == index))
        place = dict(zip(full, (int(at) for at in np.unravel_index(index, shape)), strict=True))
        one = dataset.isel(place, missing_dims="ignore")
        if "regret" in dataset:
            at = np.searchsorted(one["t"].dropna("checkpoint").values, points["t"].iloc[rows])
            runs = one["regret"].values[:, at]
        else:
            rows = rows[points["t"].iloc[rows] == points["horizon"].iloc[rows]]
            runs = np.repeat(one["final_regret"].values[:, None], len(rows), axis=1)
        runs = runs[np.isfinite(runs).any(axis=1)][: len(RUNS)] if len(rows) else runs[:0]
        values[rows, : len(runs)] = runs.T
    return points.assign(**dict(zip(RUNS, values.T, strict=True)))


@dataclass(frozen=True)
class _Drawn:
    """The drawing of a measure.

    Attributes:
      points: the numbers of curves over an axis.
      draw: draws the points, with titles by facet, over an axis.
      stems: beginnings of names of files: against t, and against another axis.
      further: whether there are figures against each varied parameter, besides.
      no_maps: the reason why there are no heat maps; "" if there are.
    """

    points: Callable[[xarray.Dataset, Frame, str], Frame]
    draw: Callable[[Frame, Mapping[str, str], str], Figure]
    stems: tuple[str, str]
    further: bool = False
    no_maps: str = ""


_DRAWN = {
    REGRET.dimension: _Drawn(_regret_points, draw_lines, ("curves-{x}", "curves-{x}")),
    NAMED.dimension: _Drawn(
        found_points,
        draw_found,
        ("named-{clock}", "needed-{x}"),
        further=True,
        no_maps="a heat map is of regret, and the sweep has none: it identifies arms.",
    ),
}


def axis_name(name: str, parameters: Sequence[str], cells: Frame) -> str:
    """The axis of cells that a name stands for: "t", "problem", "K", "horizon", "definition" or
    "rule", "policy", "parameters", or a parameter of a policy or of instances; "batches" and "B"
    are the number of batches.

    Raises:
      InputError: if there is no axis of that name, or there are two.
    """
    axes = (axis.name for axis in axes_of("policy", "setting", "measure"))
    known = {"t", *(axis for axis in axes if axis in cells), *parameters}
    both = f"parameter_{name}", f"problem_{name}"
    if name not in known and known.issuperset(both):
        raise InputError(
            f"'{name}' is a parameter of policies and one of instances: name '{both[0]}' or "
            f"'{both[1]}'."
        )
    for one in (name, *both, _ALIASES.get(name, name)):
        if one in known:
            return one
    raise unknown_name("axis of a figure", name, known)


def _curves(cells: Frame, names: Sequence[str], x: str, facet: str | None) -> Frame:
    """The cells with their facet, curve and line, in the order of the curves."""
    import pandas

    parts, axes, how = [], {x, "rule"} if x == "t" else {x}, {}  # rules have lines of their own
    if x == "t" and facet != "horizon":
        cells, how = _each_once(cells, names, facet)
    for some in labelled(cells, names, axes, facet, **how):
        keys = list(zip(some["curve"], some[x].isna() if x != "t" else some["curve"], strict=True))
        order = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        if len(order) > MOST_CURVES:
            raise InputError(
                f"a figure would have {len(order)} curves in one set of axes, more than "
                f"{MOST_CURVES}: choose policies (such as 'scomp2[num_batches=8]'), problems or "
                "horizons, or another facet."
            )
        at = some[x].astype(float) if x != "t" else 0.0
        some = some.assign(x=at, line=[order[key] for key in keys])
        some = some.sort_values("x", kind="stable").sort_values("line", kind="stable")
        parts.append(some.assign(line=range(len(some))) if x == "t" else some)
    return pandas.concat(parts)


def _each_once(
    cells: Frame, names: Sequence[str], facet: str | None
) -> tuple[Frame, dict[str, Any]]:
    """The cells, with only the longest horizon that has run for policies that do not depend on it;
    and options of `labelled`. Other policies have a curve for each horizon, in the same axes. If
    there are too many curves, all cells stay, and horizons have separate axes."""
    same = lasting(cells)
    own = [name for name in (*CELL, measure_of(cells).dimension) if name != "horizon"]
    rank = cells["horizon"] + 10**12 * (cells["num_seeds"] > 0)
    longest = rank == rank.groupby([cells[c] for c in own], observed=True).transform("max")
    once = cells[longest | ~cells["policy"].isin(same)]
    apart = [once["problem"], *([once["definition"]] if "definition" in once else [])]
    most = int(once.groupby(apart, observed=True).size().max())
    if facet is None and most > _MOST_TOGETHER and once["horizon"].nunique() > 1:
        return cells, {}
    return once, {"horizons_apart": False, "lasting": same}


def _maps(cells: Frame, names: Sequence[str], x: str, y: str, facet: str | None) -> Frame:
    """The cells with their facet, a map of one policy, policy by policy."""
    import pandas

    if cells.empty:
        raise InputError(f"no policy that has run has both '{x}' and '{y}'.")
    if cells["definition"].nunique() > 1:
        raise InputError("a heat map is of one definition of regret: choose one.")
    found = pandas.concat(labelled(cells, names, {x, y}, facet))
    require_few(len(found[["curve", "facet"]].drop_duplicates()))
    found = found.assign(line=ranks_of(found["curve"])).sort_values("line", kind="stable")
    pairs = zip(found["curve"], found["facet"], strict=True)
    return found.assign(facet=[", ".join(part for part in pair if part) for pair in pairs])


def _numeric(axis: str, cells: Frame) -> str:
    if axis != "t" and any(isinstance(value, str) for value in cells[axis]):
        raise InputError(
            f"'{axis}' is not a number, as an axis must be: 't', 'horizon', 'K', '{BATCHES}' and "
            "parameters that are numbers are."
        )
    return axis
