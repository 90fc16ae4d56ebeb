"""The sections of a sweep, finished or not: an overview, and one for each problem."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxduel.display import counted, range_text
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.report.charts import css_dash, interval, numbers, ranking, runs_words
from jaxduel.studies.report.page import Page
from jaxduel.studies.report.papers import origin
from jaxduel.studies.report.records import Chart, Figure, Line, Section, Table
from jaxduel.studies.report.words import capital, plain
from jaxduel.studies.sweep.axes import axis_of
from jaxduel.studies.sweep.reading.cells import (
    Frame,
    choose,
)
from jaxduel.studies.sweep.reading.dataset import open_sweep
from jaxduel.studies.sweep.reading.figures import MOST_CURVES, SweepFigure, sweep_figure
from jaxduel.studies.sweep.reading.layout import NAMED, REGRET, measure_of
from jaxduel.studies.sweep.reading.table import BEST, EQUAL, frame_of, marked, progress_line
from jaxduel.studies.tables import rounded, short

if TYPE_CHECKING:
    import xarray

MOST_FIGURES = 60
"""Most figures of a page; `jaxduel plot` draws the others of a large sweep."""
_MARKS = {BEST: "lowest", EQUAL: "not significantly more", "": ""}
_ENDS = ("mean", "lower95", "upper95")


def sweep_page(folder: str | os.PathLike[str], out: OutputFolder) -> Page:
    """The page of a sweep; its pictures are written into `out`.

    Raises:
      InputError: if the folder holds no sweep.
    """
    data = open_sweep(folder)
    cells = choose(data)
    name = shlex.quote(str(folder))
    made = _figures(data, cells, name, out)
    sections = [_overview(data, cells, name)]
    problems = list(dict.fromkeys(cells["problem"]))
    for number, problem in enumerate(problems, start=1):
        arms = cells["num_arms"][cells["problem"] == problem].iloc[0]
        figures = tuple(figure for of, figure in made if of == problem)
        sections.append(Section(f"problem-{number}", f"{problem}, K = {arms}", figures=figures))
    lead = f"{capital(progress_line(data))}. Means over seeds, with 95 % intervals."
    title = f"Sweep {Path(folder).resolve().name}"
    commands = {"Made again by": f"jaxduel report {name}"}
    return Page(title, lead, [(section, out.path) for section in sections], commands)


def _overview(data: xarray.Dataset, cells: Frame, name: str) -> Section:
    """The first section: the grid, versions, the least regret of each setting, unfinished cells."""
    measure = measure_of(data)
    grid = json.loads(data.attrs["grid"])
    seeds = {int(number) for number in data["planned_seeds"].values.ravel() if number}
    facts = [
        ("policies", ", ".join(dict.fromkeys(cells["variant"]))),
        ("problems", ", ".join(dict.fromkeys(cells["problem"]))),
        (measure.clock, ", ".join(map(short, data["horizon"].values))),
        (measure.kinds, ", ".join(dict.fromkeys(cells[measure.dimension]))),
        ("seeds of a cell", range_text(seeds)),
        *([("root seed", str(grid["seed"]))] if "seed" in grid else []),
        *origin(data.attrs),
    ]
    left = _left(data)
    tables = _REPORTED[measure.dimension].overview(data, cells)
    return Section(
        "overview",
        "Overview",
        facts=tuple(facts),
        notes=(f"Numbers as text: jaxduel show {name}.",),
        tables=(*tables, *([left] if left else [])),
        missing="" if left is None else "cells are left; sweep its grid again to go on",
    )


def _left(data: xarray.Dataset) -> Table | None:
    """Missing cells and runs, by policy; None if nothing is missing."""
    planned = data["planned_seeds"].values
    rows = []
    for number, policy in enumerate(np.atleast_1d(data["policy"].values).tolist()):
        wanted, ran = planned[number], data["num_seeds"].values[number]
        lacking = int(((wanted > 0) & (ran < wanted)).sum())
        if lacking:
            shares = f"{int(ran.sum()):,} of {int(wanted.sum()):,}"
            rows.append((policy, f"{lacking:,} of {int((wanted > 0).sum()):,}", shares))
    header = ("policy", "cells not finished", "runs so far")
    return Table("What is left", header, tuple(rows)) if rows else None


def _best(data: xarray.Dataset, cells: Frame) -> Table:
    """The policy of least regret in each setting, and policies that are not significantly worse."""
    rows = []
    for setting, some in marked(data, cells).groupby(REGRET.setting, observed=True, sort=False):
        problem, horizon, definition = setting
        best = some[some["mark"] == BEST]
        if best.empty:
            rows.append((problem, short(horizon), definition, "nothing has run", "", ""))
            continue
        one = best.iloc[0]
        near = some[(some["mark"] == EQUAL) & (some["num_seeds"] > 0)]["variant"]
        regret = interval(*(float(one[end]) for end in _ENDS))
        entry = (problem, short(horizon), definition, one["variant"], regret)
        rows.append((*entry, ", ".join(near) or "none"))
    header = ("problem", "T", "regret", "lowest", "mean [95 %]", "not significantly more")
    return Table("Lowest regret at the horizon", header, tuple(rows))


def _figures(
    data: xarray.Dataset, cells: Frame, name: str, out: OutputFolder
) -> list[tuple[str, Figure]]:
    """Problems and figures: one for each problem, horizon and definition of regret."""
    from jaxduel.plotting import regret_words

    measure = measure_of(data)
    keys = _REPORTED[measure.dimension].apart
    found: list[tuple[str, Figure]] = []
    for number, (setting, some) in enumerate(cells.groupby(keys, observed=True, sort=False)):
        problem, horizon, *definitions = setting
        chosen = {axis_of(key).option: [one] for key, one in zip(keys, setting, strict=True)}
        options = [word for key, (one,) in chosen.items() for word in (f"--{key}", str(one))]
        words = [*map(regret_words, definitions), f"{measure.clock} = {short(horizon)}"]
        command = f"jaxduel plot {name} {shlex.join(options)}"
        figure = Figure(str(number), capital(", ".join(words)), command=command)
        if not (some["num_seeds"] > 0).any():
            figure = replace(figure, command="", missing="nothing of it has run yet")
        elif sum(not figure.missing for _, figure in found) >= MOST_FIGURES:
            figure = replace(figure, missing=f"a page has at most {MOST_FIGURES} figures")
        else:
            figure = _figure(data, some, chosen, figure, out)
        found.append((problem, figure))
    return found


def _figure(
    data: xarray.Dataset, cells: Frame, chosen: dict[str, Any], blank: Figure, out: OutputFolder
) -> Figure:
    """Curves of a setting (the best, if there are too many), and a table of their ends."""
    (table, order, cut), command = _ends(data, cells), blank.command
    if cut:
        chosen = {**chosen, "policy": order}
        command += f" {shlex.join(['--policy', *order])}"
    figure = sweep_figure(data, **chosen)
    paths = figure.write(out, re.sub(r"[^A-Za-z0-9.,=_-]", "_", figure.name))
    chart = _chart(figure)
    ends = [(line.label, line.y[-1]) for line in chart.lines if line.y[-1] is not None]
    what = f"{capital(chart.up)}, against {chart.across}"
    seeds = cells["num_seeds"][cells["num_seeds"] > 0]
    lower = [np.array(line.lower, np.float64) for line in chart.lines]
    caption = f"{what}: {runs_words(seeds, lower, 'seed')}."
    if cut:
        caption += f" The {len(order)} best of {cells['variant'].nunique()} policies."
    return Figure(
        blank.name,
        blank.title,
        caption,
        f"{counted(len(chart.lines), 'curve')}. {ranking(ends, 'At the end')}",
        command,
        picture=paths[0].name,
        files=tuple(path.name for path in paths[1:]),
        chart=chart,
        table=table,
    )


def _ends(data: xarray.Dataset, cells: Frame) -> tuple[Table, list[str], bool]:
    """A table of all policies at the horizon, the best first; the names of the best, as `choose`
    takes them, as many as fit one figure; and whether some are left out."""
    table, frame, most = _REPORTED[measure_of(data).dimension].ends(data, cells)
    there = dict.fromkeys(frame[frame["num_seeds"] > 0]["variant"])
    names = [name if "[" in name else f"{name}[]" for name in there]
    return table, names[:most], len(names) > most


def _regret_ends(data: xarray.Dataset, cells: Frame) -> tuple[Table, Frame, int]:
    frame = marked(data, cells).sort_values("mean", kind="stable")
    rows = tuple(
        (
            one["variant"],
            f"{one['num_seeds']:,}",
            interval(*(one[end] for end in _ENDS)) if one["num_seeds"] else "not run yet",
            rounded(one["std"], one["sem"]),
            _MARKS[one["mark"]],
        )
        for one in frame.to_dict("records")
    )
    header = ("policy", "seeds", "mean [95 %]", "std", "paired seed by seed")
    return Table("Final regrets, the lowest mean first", header, rows), frame, MOST_CURVES


def _found_ends(data: xarray.Dataset, cells: Frame) -> tuple[Table, Frame, int]:
    frame = frame_of(data, cells, final=True).assign(variant=list(cells["variant"]))
    frame = frame.sort_values("probability", ascending=False, kind="stable")
    rows = tuple(
        (
            one["variant"],
            one["rule"],
            f"{one['num_seeds']:,}",
            interval(one["probability"], one["lower95"], one["upper95"]),
            rounded(one["simple_regret"], np.nan),
        )
        for one in frame.to_dict("records")
    )
    header = ("policy", "rule", "seeds", "probability [95 %]", "simple regret")
    table = Table(
        f"The best arm is named after the last {measure_of(data).clock[:-1]}", header, rows
    )
    return table, frame, max(1, MOST_CURVES // frame["rule"].nunique())


def _chart(figure: SweepFigure) -> Chart:
    """The curves of a figure with one facet, over comparisons, pulls or votes."""
    from matplotlib.colors import to_hex

    from jaxduel.plotting.line_drawing import rule_lines
    from jaxduel.plotting.styles import looks_of

    points = figure.points
    looks = looks_of(zip(points["policy"], points["label"], strict=True))
    by_rule = rule_lines(list(points["rule"].unique())) if "rule" in points else {}
    lines = []
    for _, some in points.groupby("line", sort=False):
        one = some.iloc[0]
        look, label = looks[one["policy"], one["label"]], plain(one["label"])
        if by_rule:
            label += f", by {one['rule']}"
        dash = css_dash(by_rule[one["rule"]] if by_rule else look.line)
        x, y, lower, upper = (numbers(some[name]) for name in ("x", *_ENDS))
        lines.append(Line(label, to_hex(look.color), dash, x, y, lower, upper))
    return _REPORTED[measure_of(points).dimension].chart(points, lines)


def _found_chart(points: Frame, lines: Sequence[Line]) -> Chart:
    up = "probability that the best arm is named"
    return Chart(measure_of(points).clock, up, True, False, 0.0, 1.02, tuple(lines))


def _regret_chart(points: Frame, lines: Sequence[Line]) -> Chart:
    from jaxduel.plotting.ticks import is_wide
    from jaxduel.plotting.words import regret_words, steps_words

    low, high = _range(lines)
    up_log = is_wide(low, high)
    definition = points["definition"].iloc[0]
    up = f"{regret_words(definition)} R(t)"
    ends = (0.8 * low, 1.2 * high) if up_log else (0.0, 1.05 * high or None)
    return Chart(f"{steps_words(definition)} t", up, True, up_log, *ends, tuple(lines))


@dataclass(frozen=True)
class _Reported:
    """The parts of a page that depend on the measure.

    Attributes:
      overview: the tables of the first section.
      apart: columns, by whose values there are figures.
      ends: the table of a setting, the best first; its rows; and the most policies of a figure.
      chart: the chart of some lines.
    """

    overview: Callable[[xarray.Dataset, Frame], list[Table]]
    apart: Sequence[str]
    ends: Callable[[xarray.Dataset, Frame], tuple[Table, Frame, int]]
    chart: Callable[[Frame, Sequence[Line]], Chart]


_REPORTED = {
    REGRET.dimension: _Reported(
        lambda data, cells: [_best(data, cells)], REGRET.setting, _regret_ends, _regret_chart
    ),
    NAMED.dimension: _Reported(
        lambda data, cells: [], NAMED.setting[:-1], _found_ends, _found_chart
    ),
}


def _range(lines: Sequence[Line]) -> tuple[float, float]:
    """The smallest mean, and the largest mean or upper end of an interval, from t = 10 on."""

    def values(line: Line) -> Iterator[float]:
        for x, y, upper in zip(line.x, line.y, line.upper, strict=True):
            if y is not None and x is not None and x >= min(10, line.x[-1] or 10):
                yield y
                yield y if upper is None else upper

    found = [value for line in lines for value in values(line)]
    return (min(found), max(found)) if found else (0.0, 0.0)
