"""Heat maps of a number over two varied quantities, up to three in a row, each group of them with a
scale of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axis import Axis
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from jaxduel.errors import InputError
from jaxduel.plotting.facets import arrangement
from jaxduel.plotting.figures import drawing
from jaxduel.plotting.heatmaps import HeatMap, draw_cells, frame_best, write_numbers
from jaxduel.plotting.styles import FONT_SIZE, LETTER
from jaxduel.plotting.ticks import ROOM, is_wide, kept
from jaxduel.plotting.words import broken, number

_HEIGHT = 1.75
"""Inches: a row of maps with its titles."""
_TITLE_LETTERS = 28
_FRAME = 0.72
"""Share of the width and the height that is maps, not labels and scales."""


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
    """Draws heat maps with their numbers; what is best is framed.

    Args:
      groups: maps of like things, which share a scale of colours and, if they are several, a row or
        more of their own.
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
                write_numbers(axes, one.values, width * _FRAME / along, _FRAME * _HEIGHT)
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
        figure.set_size_inches(width, 0.45 + 0.25 * bool(note) + _HEIGHT * down)
        figure.draw_without_rendering()
    return figure


def _scale(group: Sequence[HeatMap]) -> Normalize:
    """Colours of the numbers of like things."""
    values = np.concatenate([one.values.ravel() for one in group])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return LogNorm(low, high) if is_wide(low, high) else Normalize(min(low, 0.0), high or 1.0)


def _label(axis: Axis, values: Sequence[float], room: float, shown: bool) -> None:
    """Ticks at the cells that have room for one."""
    some = kept(values, range(len(values)), room)
    axis.set_ticks(some, [number(values[i]) if shown else "" for i in some])
