"""Small multiples: curves in one set of axes per problem, horizon or number of arms, up to six in a
row, with one legend."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    LogFormatterSciNotation,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from jaxduel.errors import InputError
from jaxduel.plotting.figures import COLUMN_WIDTH, PAGE_WIDTH, add_legend, drawing
from jaxduel.plotting.shades import looks_of
from jaxduel.plotting.styles import Style, dress
from jaxduel.plotting.sweeps import SweepPanel, draw_curves

MOST_IN_A_ROW = 6

_WIDTH, _HEIGHT, _LEFT = 1.75, 1.8, 0.45
"""Inches: width and height of one of several sets of axes, and the space at the left of a row."""
_NARROW = 5.0
"""Inches: a figure of two sets of axes, or of one with a long legend."""
_MOST_IN_COLUMN = 6
_LEGEND_LINE, _LEGEND_HANDLE, _LEGEND_LETTER = 0.145, 0.62, 0.058
_TITLE_LETTERS = 24
_TICK_ROOM = 0.17
"""Ticks nearer to each other than this share of the axis are left out."""
_LOG_FROM, _LEAST_DECADES = 20.0, 2.0
"""Regret that spans more than this factor has a logarithmic axis, of at least so many decades."""


def facet_figure(facets: Sequence[SweepPanel]) -> Figure:
    """Draws facets in rows of up to six, with one legend above them all. Those with the same label
    of the vertical axis share its scale: logarithmic if numbers are positive and span more than a
    factor of 20, else from 0.

    Raises:
      InputError: if there is no facet, or one without curves.
    """
    if not facets or not all(facet.curves for facet in facets):
        raise InputError("a figure needs at least one facet, and a facet at least one curve.")
    rows, columns, width = arrangement(len(facets))
    styles = looks_of((curve.name, curve.label) for f in facets for curve in f.curves)
    if len(styles) > _MOST_IN_COLUMN:
        width = max(width, _NARROW)
    with drawing():
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(rows, columns, squeeze=False)
        limits = {up: _limits([f for f in facets if f.up == up]) for up in {f.up for f in facets}}
        first: str | None = None
        for number, axes in enumerate(grid.ravel()):
            if number >= len(facets):
                axes.remove()
                continue
            facet = facets[number]
            _draw(axes, facet, styles, *limits[facet.up])
            if number % columns == 0:
                first = facet.up
            if facet.up == first and number % columns:
                axes.set_ylabel("")
                axes.yaxis.set_major_formatter(NullFormatter())
                axes.yaxis.get_offset_text().set_visible(False)
            if number + columns < len(facets):
                axes.set_xlabel("")
        labels = dict.fromkeys(label for _, label in styles)
        lines = 0
        if len(labels) > 1 or len(facets) > 1:
            lines = add_legend(figure, labels, partial(_legend_columns, width))
        height = (2.4 if len(facets) == 1 else 0.35 + _HEIGHT * rows) + _LEGEND_LINE * lines
        figure.set_size_inches(width, height)
        figure.draw_without_rendering()
    return figure


def arrangement(count: int, in_a_row: int | None = None) -> tuple[int, int, float]:
    """Rows and columns of some sets of axes, and the width of their figure in inches.

    Args:
      count: number of sets of axes.
      in_a_row: number in a row; None for about the same number in each, up to six.
    """
    columns = in_a_row or -(-count // -(-count // MOST_IN_A_ROW))
    rows = -(-count // columns)
    if count == 1:
        return 1, 1, COLUMN_WIDTH
    return rows, columns, max(PAGE_WIDTH if columns > 2 else _NARROW, _LEFT + _WIDTH * columns)


def broken(title: str, letters: int = _TITLE_LETTERS) -> str:
    """A title, broken into lines after commas and opening brackets where it has more letters."""
    lines = [""]
    for part in re.split(r"(?<=, )|(?<=\()", title):
        if lines[-1] and len(lines[-1] + part.removesuffix(", ")) > letters:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def ticks(values: Sequence[float], places: Sequence[float], room: float = _TICK_ROOM) -> list[int]:
    """Indices of the values that get ticks: the first, the last, and those that have room.

    Args:
      values: increasing.
      places: their positions on the axis, increasing.
      room: least share of the axis between two ticks.
    """
    last = len(values) - 1
    if last < 1:
        return list(range(last + 1))
    least = room * (places[-1] - places[0]) * (1 - 1e-9)
    kept = [0]
    for i in range(1, last):
        if places[i] - places[kept[-1]] >= least and places[last] - places[i] >= least:
            kept.append(i)
    return [*kept, last]


def short(value: float) -> str:
    """A number as the label of a tick: 32, 0.51; 1,000 and all from 10,000 on as multiples of
    powers of ten."""
    power = math.log10(abs(value)) if value else 0.0
    if not math.isfinite(value) or not (power >= 4 or round(power, 12) == 3):
        return f"{value:g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    mantissa = mantissa.removesuffix(".0")
    ten = f"10^{{{int(exponent)}}}"
    return f"${ten}$" if mantissa == "1" else rf"${mantissa}\!\cdot\!{ten}$"


def _draw(
    axes: Axes, facet: SweepPanel, styles: dict[tuple[str, str], Style], low: float, high: float
) -> None:
    log = low > 0
    looks = [styles[curve.name, curve.label] for curve in facet.curves]
    draw_curves(axes, facet.curves, looks, low if log else -np.inf)
    axes.set_ylim(low, high)
    axes.set_yscale("log" if log else "linear")
    if log:
        axes.yaxis.set_major_locator(LogLocator(numticks=6))
        axes.yaxis.set_major_formatter(LogFormatterSciNotation())
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.ticklabel_format(axis="y", scilimits=(-3, 4), useMathText=True)
    axes.set_xscale(facet.across_scale)
    _label_values(axes.xaxis, facet)
    axes.set_xlabel(facet.across)
    axes.set_ylabel(facet.up)
    dress(axes, broken(facet.title))


def _label_values(axis: Axis, facet: SweepPanel) -> None:
    """Ticks at values that were tried, or at powers of ten if points are many."""
    log = facet.across_scale == "log"
    if any(curve.dense for curve in facet.curves):
        if log:
            axis.set_major_locator(LogLocator(numticks=5))
            axis.set_minor_locator(NullLocator())
        else:
            axis.set_major_locator(MaxNLocator(4))
        return
    tried = [curve.at for curve in facet.curves if not curve.level] or [facet.curves[0].at]
    values = np.unique(np.concatenate(tried))
    kept = ticks(values.tolist(), (np.log(values) if log else values).tolist())
    axis.set_major_locator(FixedLocator(values[kept].tolist()))
    axis.set_major_formatter(FixedFormatter([short(value) for value in values[kept]]))
    axis.set_minor_locator(NullLocator())


def _limits(facets: Sequence[SweepPanel]) -> tuple[float, float]:
    """Ends of the axis of regret; a positive lower end stands for a logarithmic axis."""
    curves = [curve for facet in facets for curve in facet.curves]
    means = np.concatenate([curve.mean for curve in curves])
    tops = np.concatenate([curve.upper95 for curve in curves])
    top = float(np.nanmax(np.concatenate([means, tops]), initial=0.0))
    positive = means[means > 0]
    if any(curve.dense for curve in curves):  # early values are of no interest
        ends = [curve.mean[-(len(curve.mean) // 2 + 1) :] for curve in curves]
        positive = np.concatenate([end[end > 0] for end in ends])
    if len(positive) and (means >= 0).all() and top > _LOG_FROM * positive.min():
        low, high = np.log10(positive.min()) - 0.1, np.log10(top) + 0.1
        if high - low < _LEAST_DECADES:
            low, high = np.floor(low + 0.1), np.ceil(high - 0.1)
        return float(10**low), float(10**high)
    bottom = float(np.nanmin(means, initial=0.0))
    return 1.05 * min(bottom, 0.0), 1.06 * top if top > 0 else 1.0


def _legend_columns(width: float, labels: Sequence[str]) -> int:
    """Number of labels that fit side by side."""
    return max(1, int(width / (_LEGEND_HANDLE + _LEGEND_LETTER * max(map(len, labels)))))
