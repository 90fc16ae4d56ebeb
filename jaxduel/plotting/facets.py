"""Small multiples: lines in one set of axes per problem, horizon or number of arms, up to three in
a row, with one legend; or heat maps, each group with its own scale."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter, NullLocator

from jaxduel.errors import InputError
from jaxduel.plotting import ticks
from jaxduel.plotting.figures import (
    COLUMN_WIDTH,
    LEGEND_HANDLE,
    LEGEND_LINE,
    PAGE_WIDTH,
    add_legend,
    drawing,
)
from jaxduel.plotting.heatmaps import HeatMap, draw_cells, frame_best, write_numbers
from jaxduel.plotting.line import LinePanel
from jaxduel.plotting.line_drawing import draw_lines, label_lines
from jaxduel.plotting.missing import Missing, draw_missing
from jaxduel.plotting.styles import FONT_SIZE, LETTER, Style, dress, looks_in
from jaxduel.plotting.ticks import ROOM, is_wide, kept
from jaxduel.plotting.words import broken, length, number

MOST_IN_A_ROW = 3

_HEIGHT = 1.8
"""Inches: height of one of several sets of axes."""
_NARROW = 5.0
"""Inches: a figure of two sets of axes, or of one with a long legend."""
_MOST_IN_COLUMN = 6
TITLE_LETTERS = 32
"""Letters in a line of the title of one of three in a row."""
_MOST_DECADES = 4.0
"""Decades below its largest value from which on regret against time is shown."""
_MAP_HEIGHT = 1.75
"""Inches: a row of maps with its titles."""
_TITLE_LETTERS = 28
_FRAME = 0.72
"""Share of the width and the height that is maps, not labels and scales."""


def facet_figure(facets: Sequence[LinePanel | Missing], heading: str = "") -> Figure:
    """Draws facets in rows of up to three, with a heading and one legend above. Facets with the
    same label of the vertical axis share its scale: logarithmic if numbers are positive and far
    apart (`ticks.is_wide`), else from 0. Missing facets are empty frames that give the reason.

    Raises:
      InputError: if there is no facet, or one without lines.
    """
    there = [facet for facet in facets if isinstance(facet, LinePanel)]
    if not there or not all(facet.lines for facet in there):
        raise InputError("a figure needs at least one facet, and a facet at least one line.")
    rows, columns, width = arrangement(len(facets))
    styles = looks_in(line for facet in there for line in facet.lines)
    if len(styles) > _MOST_IN_COLUMN:
        width = max(width, _NARROW)
    with drawing():
        figure = Figure(layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        limits = {up: _limits([f for f in there if f.up == up]) for up in {f.up for f in there}}
        for number, axes in enumerate(grid.ravel()):
            if number >= len(facets):
                axes.remove()
                continue
            facet = facets[number]
            if isinstance(facet, Missing):
                draw_missing(axes, facet, TITLE_LETTERS - 8)
                continue
            _draw(axes, facet, styles, *limits[facet.up])
            left = facets[number - 1] if number % columns else None
            if isinstance(left, LinePanel) and left.up == facet.up:
                axes.set_ylabel("")
                axes.yaxis.set_major_formatter(NullFormatter())
            below = facets[number + columns] if number + columns < len(facets) else None
            if isinstance(below, LinePanel) and below.across == facet.across:
                axes.set_xlabel("")
        labels = dict.fromkeys(label for _, label in styles)
        lines = add_legend(figure, labels, partial(_legend_columns, width), heading, width)
        height = (2.2 if len(facets) == 1 else 0.2 + _HEIGHT * rows) + LEGEND_LINE * lines
        figure.set_size_inches(width, height)
        figure.draw_without_rendering()
    return figure


def arrangement(count: int) -> tuple[int, int, float]:
    """Rows and columns for `count` sets of axes, in rows of about equal length, and the width of
    the figure in inches."""
    rows = -(-count // MOST_IN_A_ROW)
    columns = -(-count // rows)
    return rows, columns, (COLUMN_WIDTH, _NARROW, PAGE_WIDTH)[columns - 1]


def _draw(
    axes: Axes, facet: LinePanel, styles: dict[tuple[str, str], Style], low: float, high: float
) -> None:
    log = low > 0
    draw_lines(axes, facet, styles, low if log else -np.inf)
    axes.set_ylim(low, high)
    axes.set_yscale("log" if log else "linear")
    (ticks.decades if log else ticks.linear)(axes.yaxis)
    axes.set_xscale(facet.across_scale)
    _scale_across(axes, facet, low)
    axes.set_xlabel(facet.across)
    axes.set_ylabel(facet.up)
    dress(axes, broken(facet.title, TITLE_LETTERS))
    label_lines(axes, facet.lines, styles)


def _scale_across(axes: Axes, facet: LinePanel, low: float) -> None:
    """Sets limits at the ends of the lines, and ticks at the values tried, or at powers of ten if
    points are many."""
    log, tried = facet.across_scale == "log", [c for c in facet.lines if not c.level]
    tried = tried or list(facet.lines)
    if any(line.dense for line in facet.lines):
        begin = ticks.begin([(line.at, line.mean) for line in tried], low)
        ends = begin, max(line.at[-1] for line in tried)
        ticks.span(axes, *ends)
        if log and ends[0] < ends[1]:
            ticks.decades(axes.xaxis, 5)
            axes.xaxis.set_minor_locator(NullLocator())
        elif not log:
            axes.xaxis.set_major_locator(MaxNLocator(4))
        return
    axes.margins(x=0.03)  # for whole markers
    values = np.unique(np.concatenate([line.at for line in tried]))
    ticks.at_values(axes.xaxis, values.tolist(), (np.log(values) if log else values).tolist())


def _limits(facets: Sequence[LinePanel]) -> tuple[float, float]:
    """Ends of the axis of regret; a positive lower end means a logarithmic axis."""
    lines = [line for facet in facets for line in facet.lines]
    means = np.concatenate([line.mean[np.isfinite(line.mean)] for line in lines])
    tops = [(line.upper95 if line.seeds is None else line.seeds).ravel() for line in lines]
    known = np.concatenate([means, *tops])
    top = float(known.max(initial=0.0, where=np.isfinite(known)))
    positive = means[means > 0]
    spanned = positive
    if any(line.dense for line in lines):  # early values do not decide on the scale
        ends = [line.mean[-(len(line.mean) // 2 + 1) :] for line in lines]
        spanned = np.concatenate([end[end > 0] for end in ends])
    if len(spanned) and not (means < 0).any() and ticks.is_wide(spanned.min(), top):
        high = np.log10(top) + 0.1
        low = max(np.log10(positive.min()), high - max(_MOST_DECADES, np.ptp(np.log10(spanned))))
        low -= 0.1
        if high - low < ticks.LEAST_DECADES:
            low, high = np.floor(low + 0.1), np.ceil(high - 0.1)
        return float(10**low), float(10**high)
    bottom = ticks.bottom([means])
    return bottom, 1.06 * top if top > 0 else 0.0 if bottom < 0 else 1.0


def _legend_columns(width: float, labels: Sequence[str]) -> int:
    """Number of labels that fit side by side."""
    return max(1, int(width / (LEGEND_HANDLE + LETTER * max(map(length, labels)))))


def facet_map_figure(
    groups: Sequence[Sequence[HeatMap]],
    *,
    across: str,
    up: str,
    columns: Sequence[float],
    rows: Sequence[float],
    heading: str = "",
    note: str = "",
) -> Figure:
    """Draws heat maps with their numbers; the best cells are framed.

    Args:
      groups: maps by group. A group shares a scale of colours; groups of several maps begin new
        rows.
      across, up: labels of the horizontal and the vertical axis.
      columns, rows: values of columns and rows, increasing.
      heading, note: lines above and below the maps.

    Raises:
      InputError: if there is no map, or no number in any.
    """
    maps = [one for group in groups for one in group]
    if not any(np.isfinite(one.values).any() for one in maps):
        raise InputError("a heat map needs at least one number.")
    if all(len(group) == 1 for group in groups):
        down, along, width = arrangement(len(groups))
        places = [divmod(number, along) for number in range(len(groups))]
    else:
        along, width = arrangement(max(map(len, groups)))[1:]
        places, down = [], 0
        for group in groups:
            places += [(down + n // along, n % along) for n in range(len(group))]
            down += -(-len(group) // along)
    with drawing():
        figure = Figure(layout="constrained")
        grid = figure.subplots(down, along, squeeze=False)
        for number, axes in enumerate(grid.ravel()):
            if divmod(number, along) not in places:
                axes.remove()
        of_map = iter(places)
        for group in groups:
            scale, mine = _scale(group), []
            for one in group:
                row, column = next(of_map)
                axes = grid[row, column]
                mine.append(axes)
                draw_cells(axes, one.values, cmap="viridis", norm=scale)
                write_numbers(axes, one.values, width * _FRAME / along, _FRAME * _MAP_HEIGHT)
                frame_best(axes, one.best)
                if not np.isfinite(one.values).any():
                    axes.text(0.5, 0.5, "no numbers yet", transform=axes.transAxes, ha="center")
                axes.set_title(broken(one.title, _TITLE_LETTERS), fontsize=FONT_SIZE + 0.5)
                lowest = (row + 1, column) not in places
                _label(axes.xaxis, columns, ROOM, lowest)
                _label(axes.yaxis, rows, 0.09, column == 0)
                axes.set_xlabel(across if lowest else "")
                axes.set_ylabel(up if column == 0 else "")
            if np.isfinite([one.values for one in group]).any():
                bar = figure.colorbar(
                    ScalarMappable(scale, "viridis"), ax=mine, aspect=16, pad=0.02, fraction=0.06
                )
                bar.ax.tick_params(length=1.5, which="both")
        letters = int(width / LETTER)
        figure.suptitle(broken(heading, letters), fontsize=FONT_SIZE)
        figure.supxlabel(broken(note, letters), fontsize=FONT_SIZE)
        figure.set_size_inches(width, 0.45 + 0.25 * bool(note) + _MAP_HEIGHT * down)
        figure.draw_without_rendering()
    return figure


def _scale(group: Sequence[HeatMap]) -> Normalize:
    """The scale of colours of a group of maps."""
    values = np.concatenate([one.values.ravel() for one in group])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return LogNorm(low, high) if is_wide(low, high) else Normalize(min(low, 0.0), high or 1.0)


def _label(axis: Axis, values: Sequence[float], room: float, shown: bool) -> None:
    """Sets ticks at as many cells as there is room for."""
    some = kept(values, range(len(values)), room)
    axis.set_ticks(some, [number(values[i]) if shown else "" for i in some])
