"""Heat maps of a number over two varied quantities, up to six in a row, with one scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from jaxduel.errors import InputError
from jaxduel.plotting.facets import arrangement, broken, short, ticks
from jaxduel.plotting.figures import drawing
from jaxduel.plotting.heatmaps import HeatMap, draw_cells
from jaxduel.plotting.styles import FONT_SIZE

_HEIGHT = 1.75
"""Inches: a row of maps with its titles."""
_LOG_FROM = 20.0
"""Numbers that span more than this factor have logarithmic colours."""


def facet_map_figure(
    maps: Sequence[HeatMap],
    *,
    across: str,
    up: str,
    columns: Sequence[float],
    rows: Sequence[float],
    label: str,
    in_a_row: int | None = None,
) -> Figure:
    """Draws heat maps with one scale of colours at the right.

    Args:
      maps: from left to right, then down.
      across, up: labels of the horizontal and the vertical axis.
      columns, rows: values of columns and rows, increasing.
      label: label of the numbers, beside their scale of colours.
      in_a_row: number of maps in a row; None for about the same number in each, up to six.

    Raises:
      InputError: if there is no map, or no number in any.
    """
    values = np.concatenate([one.values.ravel() for one in maps]) if maps else np.zeros(0)
    values = values[np.isfinite(values)]
    if not len(values):
        raise InputError("a heat map needs at least one number.")
    low, high = float(values.min()), float(values.max())
    logarithmic = low > 0 and high > _LOG_FROM * low
    scale = LogNorm(low, high) if logarithmic else Normalize(min(low, 0.0), high)
    down, along, width = arrangement(len(maps), in_a_row)
    with drawing():
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(down, along, squeeze=False)
        for number, axes in enumerate(grid.ravel()):
            if number >= len(maps):
                axes.remove()
                continue
            one = maps[number]
            draw_cells(axes, one.values, cmap="viridis", norm=scale)
            axes.set_title(broken(one.title), fontsize=FONT_SIZE + 0.5)
            lowest, leftmost = number + along >= len(maps), number % along == 0
            _label(axes.xaxis, columns, 0.17, lowest)
            _label(axes.yaxis, rows, 0.09, leftmost)
            axes.set_xlabel(across if lowest else "")
            axes.set_ylabel(up if leftmost else "")
        kept = list(grid.ravel()[: len(maps)])
        bar = figure.colorbar(
            ScalarMappable(scale, "viridis"), ax=kept, aspect=14 * down, pad=0.02, fraction=0.05
        )
        bar.set_label(label)
        bar.ax.tick_params(length=1.5, which="both")
        figure.set_size_inches(width + 0.6, 0.45 + _HEIGHT * down)
        figure.draw_without_rendering()
    return figure


def _label(axis: Axis, values: Sequence[float], room: float, shown: bool) -> None:
    """Ticks at the cells that have room for one."""
    kept = ticks(values, range(len(values)), room)
    axis.set_ticks(kept, [short(values[i]) if shown else "" for i in kept])
