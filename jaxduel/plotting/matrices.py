"""Square matrices of probabilities: a cell for each pair of names, white at 1/2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from jaxduel.plotting.figures import PAGE_WIDTH, drawing
from jaxduel.plotting.heatmaps import draw_cells, write_numbers
from jaxduel.plotting.styles import FONT_SIZE
from jaxduel.plotting.words import inches

_CELL, _LEAST_SIDE = 0.4, 1.9
"""Inches: largest cells, and the smallest square."""
_SMALLEST = 5.5
"""Points: letters of the names; if rows are lower, every second or third name is shown."""
_LEFT, _HEAD, _FOOT, _SCALE = 0.17, 0.26, 0.08, 0.66
"""Inches: beside the names, above the cells, below them, and at their right, for the scale of
colours."""
_STEPS = (1, 2, 5, 10, 20, 50, 100)
"""Steps of numbers above the columns; `_MOST_NUMBERS` have room."""
_MOST_NUMBERS = 20
_MOST_WRITTEN = 40
"""Most names for which cells might have room for numbers."""
_LEAST = 0.05
"""Least distance from 1/2 at which colours are full."""


@dataclass(frozen=True, kw_only=True)
class MatrixPanel:
    """Probabilities of the rows' names against the columns', which are the same.

    Attributes:
      names: K names, the first above and at the left.
      values: (K, K) from 0 to 1; NaN is grey.
      label: label of the scale of colours.

    Example:
      >>> from jaxduel.plotting.matrices import MatrixPanel
      >>> import numpy as np
      >>> panel = MatrixPanel(
      ...     names=["ada", "bea"], values=np.array([[np.nan, 0.7], [0.3, np.nan]]), label="P"
      ... )
      >>> panel.values.shape
      (2, 2)
    """

    names: Sequence[str]
    values: np.ndarray
    label: str


def matrix_figure(panel: MatrixPanel) -> Figure:
    """A heat map with names before its rows and, if they are short, above its columns; otherwise
    columns have the numbers of the rows, from 1. Cells have numbers where there is room.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting.matrices import MatrixPanel, matrix_figure
      >>> values = np.array([[np.nan, 0.7], [0.3, np.nan]])
      >>> figure = matrix_figure(MatrixPanel(names=["ada", "bea"], values=values, label="P"))
      >>> [text.get_text() for text in figure.axes[0].texts]
      ['0.70', '0.30']
    """
    count, names, numbers = len(panel.names), list(panel.names), []
    side = _side(names)
    if 1.1 * inches(names, FONT_SIZE) * count > side:
        numbers = [str(number) for number in range(1, count + 1)]
        names = [f"{number} {name}" for number, name in zip(numbers, names, strict=True)]
        side = _side(names)
    down = 72 * side / count
    step = int(np.ceil(_SMALLEST / down))
    size = min(FONT_SIZE, 0.95 * down * step)
    left = _LEFT + inches(names[::step], size)
    width, height = left + side + _SCALE, _HEAD + side + _FOOT
    most = max(_LEAST, float(np.fmax.reduce(np.abs(panel.values - 0.5), axis=None)))
    with drawing():
        figure = Figure()
        figure.set_size_inches(width, height)
        axes = figure.add_axes((left / width, _FOOT / height, side / width, side / height))
        draw_cells(axes, panel.values, cmap="RdBu", norm=Normalize(0.5 - most, 0.5 + most))
        if count <= _MOST_WRITTEN:
            texts = [f"{value:.2f}" for value in panel.values.flat]
            write_numbers(axes, panel.values, side, side, texts)
        axes.set_ylim(count - 0.5, -0.5)
        axes.set_yticks(range(0, count, step), names[::step], fontsize=size)
        apart = next(step for step in _STEPS if count / step <= _MOST_NUMBERS) if numbers else 1
        shown = [*([0] if apart > 2 else []), *range(apart - 1, count, apart)]
        axes.set_xticks(shown, [(numbers or names)[place] for place in shown])
        axes.xaxis.tick_top()
        place = ((left + side + 0.08) / width, _FOOT / height, 0.09 / width, side / height)
        bar = figure.colorbar(axes.images[0], cax=figure.add_axes(place))
        bar.set_label(panel.label, labelpad=4.0)
        bar.ax.tick_params(length=1.5, pad=1.5)
        figure.draw_without_rendering()
    return figure


def _side(names: Sequence[str]) -> float:
    """Inches of the square that leave room for names before it."""
    room = PAGE_WIDTH - _LEFT - inches(names, FONT_SIZE) - _SCALE
    return float(np.clip(_CELL * len(names), _LEAST_SIDE, room))
