"""Drawing of the figures of a sweep: curves with axes for each facet, heat maps, and probabilities
that the best arm is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxduel.studies.sweep.axes import axis_of, plain_name
from jaxduel.studies.sweep.reading.cells import Frame
from jaxduel.studies.sweep.reading.found_table import DRAWN_TARGET
from jaxduel.studies.sweep.reading.layout import measure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RUNS = ("run 1", "run 2", "run 3", "run 4")
"""Columns of points with the regret of single seeds."""
_NOT_YET = "has not run yet"
"""Text in the place of a facet of which nothing has run."""
_LOG_FROM = 8.0
"""A quantity that varies by at least this factor has a logarithmic axis."""


def draw_lines(points: Frame, titles: Mapping[str, str], x: str) -> Figure:
    """Draws a set of axes with lines for each facet; `titles` are by facet."""
    from jaxduel.plotting import Line, LinePanel, Missing, spread_words
    from jaxduel.plotting.facets import facet_figure

    ends = np.array([points["x"].min(), points["x"].max()])
    log = x == "t" or (ends[0] > 0 and ends[1] >= _LOG_FROM * ends[0])
    drawn: list[LinePanel | Missing] = []
    for name, title in titles.items():
        some = points[points["facet"] == name]
        if not np.isfinite(some["mean"]).any():
            why = _NOT_YET if some.empty else f"P = {DRAWN_TARGET:g} is not reached"
            drawn.append(Missing(title, why))
            continue
        lines = []
        for _, line in some.groupby("line", sort=False):
            level = bool(line["x"].isna().all())
            mean, lower, upper, *runs = (
                np.repeat(np.where(np.isfinite(line[name]), line[name], np.nan), 1 + level)
                for name in ("mean", "lower95", "upper95", *(n for n in RUNS if n in line))
            )
            few = bool(runs) and line["num_seeds"].between(2, len(RUNS)).all()
            lines.append(
                Line(
                    name=line["policy"].iloc[0],
                    label=line["label"].iloc[0],
                    at=ends if level else line["x"].values,
                    mean=mean,
                    lower95=lower,
                    upper95=upper,
                    level=level,
                    dense=x == "t",
                    seeds=np.array([r for r in runs if np.isfinite(r).any()]) if few else None,
                )
            )
        facet = LinePanel(
            lines=lines,
            title=title,
            across=_axis_label(x, some),
            up=some["up"].iloc[0] if "up" in some else _regret_label(some, x),
            across_scale="log" if log else "linear",
        )
        drawn.append(facet)
    lines = [one for facet in drawn if isinstance(facet, LinePanel) for one in facet.lines]
    return facet_figure(drawn, _heading(points, spread_words(lines, measure_of(points).of)))


def draw_maps(points: Frame, x: str, y: str, left_out: Sequence[str] = ()) -> Figure:
    """Draws a heat map for each policy and facet, over two axes, setting by setting; a note names
    the policies in `left_out`."""
    from jaxduel.plotting import HeatMap
    from jaxduel.plotting.facets import facet_map_figure

    columns, rows = (np.unique(points[axis]).tolist() for axis in ("x", "y"))
    settings = {axis for axis in (x, y) if axis_of(axis).part == "setting"}
    groups: list[list[HeatMap]] = []
    for _, same in points.groupby("setting", sort=False):
        titles, stack = [], []
        for _, some in same.groupby("facet", sort=False):
            values = np.full((len(rows), len(columns)), np.nan)
            values[np.searchsorted(rows, some["y"]), np.searchsorted(columns, some["x"])] = some[
                "mean"
            ]
            names = [some["label"].iloc[0], some["title"].iloc[0]]
            titles.append(", ".join(dict.fromkeys(name for name in names if name)))
            stack.append(values)
        choices = (0, *(1 + i for i, a in enumerate((y, x)) if a not in settings))
        best = _least(np.array(stack), choices)
        groups.append(
            [HeatMap(*one) for one in zip(titles, stack, [None] * len(stack), best, strict=True)]
        )
    axes = [x, y]
    across, up = (_axis_label(axis, points) for axis in axes)
    each = " and ".join(_axis_label(axis, points) for axis in axes if axis in settings)
    framed = any(one.best.any() for group in groups for one in group if one.best is not None)
    heading = f"{_heading(points)}, at the horizon"
    if framed:
        heading += f", framed: the least{f' for each {each}' if each else ''}"
    note = ""
    if left_out:
        both = f"{across} and {up}"
        note = f"left out, since they do not have both {both}: {', '.join(left_out)}"
    return facet_map_figure(
        groups,
        across=across,
        up=up,
        columns=columns,
        rows=rows,
        heading=heading,
        note=note,
    )


def draw_found(points: Frame, titles: Mapping[str, str], x: str) -> Figure:
    """Draws the probability against votes or pulls (x = "t"), or those needed, in axes for each
    facet; `titles` are by facet."""
    if x != "t":
        return draw_lines(points, titles, x)
    from jaxduel.plotting import Missing, draw, spread_words, votes_line, votes_panel

    lines = {
        name: [
            votes_line(
                line["policy"].iloc[0],
                line["label"].iloc[0],
                line["t"].to_numpy(),
                [line[end].to_numpy() for end in ("mean", "lower95", "upper95")],
                line["rule"].iloc[0],
            )
            for _, line in points[points["facet"] == name].groupby("line", sort=False)
        ]
        for name in titles
    }
    every = (line for some in lines.values() for line in some)
    measure = measure_of(points)
    about, across = _heading(points, spread_words(every, measure.of)), measure.clock
    return draw([
        votes_panel(some, titles[name], about=about, across=across)
        if some
        else Missing(titles[name], _NOT_YET)
        for name, some in lines.items()
    ])  # fmt: skip


def _axis_label(axis: str, points: Frame) -> str:
    from jaxduel.plotting.words import SYMBOLS, steps_words

    if axis == "t":
        return f"{steps_words(points['definition'].iloc[0])} $t$"
    if axis == "horizon":
        return measure_of(points).across
    name = plain_name(axis)
    return axis_of(axis).label or SYMBOLS.get(name, name)


def _regret_label(points: Frame, x: str) -> str:
    from jaxduel.plotting import regret_words

    words = regret_words(str(points["definition"].iloc[0]))
    return f"{words} ${'R(t)' if x == 't' else 'R(T)'}$"


def _heading(points: Frame, drawn: str = "") -> str:
    """The problem without what is on axes, regret and seeds that all points share, in words;
    `drawn` is as for `seeds_words`."""
    from jaxduel.plotting.words import problem_words, regret_words, seeds_words, setting_words

    words, families = [], points["family"].unique()
    if len(families) == 1:
        words.append(problem_words(families[0]))
        if "num_arms=" not in families[0] and points["num_arms"].nunique() == 1:
            words.append(setting_words("num_arms", int(points["num_arms"].iloc[0])))
    if "definition" in points and points["definition"].nunique() == 1:
        words.append(regret_words(str(points["definition"].iloc[0])))
    return ", ".join([*words, seeds_words(points["num_seeds"], drawn)])


def _least(stack: np.ndarray, choices: tuple[int, ...]) -> np.ndarray:
    """True at the minimum of an array over the axes `choices`, if two values are known."""
    known = np.isfinite(stack)
    low = np.where(known, stack, np.inf).min(axis=choices, keepdims=True)
    return known & (stack == low) & (known.sum(axis=choices, keepdims=True) > 1)
