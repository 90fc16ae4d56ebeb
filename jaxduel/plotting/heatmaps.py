"""Heat maps: a number per cell of a grid, several grids in a row with one scale of colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from jaxduel.plotting.styles import FONT_SIZE

HeatKind = Literal["amount", "ratio", "choice"]
"""Kind of the numbers: amounts; logarithms of ratios, white where they are 0; or the number of a
choice, from 0."""

CHOICE_COLORS = ("#00507A", "#E69F00", "#7FBF9B")
"""Colours of choices, in their order: dark, middle, light, distinct in black and white too."""
_FADED = 0.4
"""Share of its colour that a cell keeps if its choice is not sure."""
_MISSING = "0.88"
_MOST_LABELS = 5
"""Of more labels of rows or columns every other one is left out."""

HEAT_HEAD, HEAT_FOOT = 0.38, 0.36
"""Inches above a row of maps, for titles, and below the last one, for labels."""
_TITLE, _LEFT, _RIGHT = 0.2, 0.52, 0.86
"""Inches: a row's title above its maps, and the free space at the left and the right."""


@dataclass(frozen=True)
class HeatMap:
    """One grid of cells.

    Attributes:
      title: text above the map.
      values: (rows, columns), the first row below; NaN where there is none.
      sure: (rows, columns) bool, True where a choice is sure; all are if None.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import HeatMap
      >>> HeatMap("T = 1,000", np.array([[12.0, 30.0], [8.0, np.nan]])).values.shape
      (2, 2)
    """

    title: str
    values: np.ndarray
    sure: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class HeatPanel:
    """A row of heat maps of one size.

    Attributes:
      maps: the grids, from left to right.
      kind: kind of their numbers.
      label: text beside the scale of colours.
      across, up: labels of the horizontal and the vertical axis.
      columns, rows: labels of columns and rows.
      title: text above the row.
      choices: meanings of the numbers of choices.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import HeatMap, HeatPanel
      >>> one = HeatMap("D-TS", np.array([[12.0, 30.0], [8.0, np.nan]]))
      >>> panel = HeatPanel(
      ...     maps=[one], kind="amount", label="regret", across="K", up="gap",
      ...     columns=["4", "8"], rows=["0.1", "0.2"],
      ... )
      >>> panel.maps[0].values.shape == (len(panel.rows), len(panel.columns))
      True
    """

    maps: Sequence[HeatMap]
    kind: HeatKind
    label: str
    across: str
    up: str
    columns: Sequence[str]
    rows: Sequence[str]
    title: str = ""
    choices: Sequence[str] = ()


def draw_heat_row(
    figure: Figure, panel: HeatPanel, below: float, height: float, last: bool
) -> None:
    """Draws heat maps side by side over the width of a figure, with the scale or the legend of
    their colours at the right.

    Args:
      figure: the figure to draw on; its size is final.
      panel: the maps.
      below, height: inches from the figure's lower edge to the maps, and the maps' height. Above
        them `HEAT_HEAD` inches are taken, and `HEAT_FOOT` below the last row.
      last: whether this is the last row, with the labels of columns below it.
    """
    width, whole = figure.get_size_inches()
    left, right = _LEFT / width, 1 - _RIGHT / width
    bottom, top = below / whole, (below + height) / whole
    grid = figure.add_gridspec(
        1, len(panel.maps), left=left, right=right, bottom=bottom, top=top, wspace=0.08
    )
    row = grid.subplots(squeeze=False)[0]
    look = _look(panel)
    for position, (axes, one) in enumerate(zip(row, panel.maps, strict=True)):
        draw_cells(axes, one.values if "norm" in look else _colored(one, look["cmap"]), **look)
        axes.set_title(one.title, fontsize=FONT_SIZE, pad=2.5)
        _label(axes.xaxis, panel.columns, shown=last)
        _label(axes.yaxis, panel.rows, shown=position == 0)
        axes.set_xlabel(panel.across if last else "", labelpad=2.0)
        axes.set_ylabel(panel.up if position == 0 else "", labelpad=2.0)
    figure.text(left, top + _TITLE / whole, panel.title, fontsize=FONT_SIZE + 0.5)
    if panel.kind == "choice":
        _explain_choices(row[-1], panel)
    else:
        place = (right + 0.08 / width, bottom, 0.09 / width, top - bottom)
        bar = figure.colorbar(row[-1].images[0], cax=figure.add_axes(place))
        bar.set_label(panel.label, labelpad=2.0)
        bar.ax.tick_params(length=1.5, pad=1.5)


def draw_cells(axes: Axes, cells: np.ndarray, **look: Any) -> None:
    """Draws one map: the first row below, cells without a number grey.

    Args:
      axes: the axes to draw on.
      cells: (rows, columns) numbers, or (rows, columns, 4) colours.
      **look: `cmap` and `norm` of numbers.
    """
    axes.set_facecolor(_MISSING)
    axes.imshow(cells, origin="lower", aspect="auto", interpolation="nearest", **look)
    axes.tick_params(length=1.5, pad=1.5)


def _look(panel: HeatPanel) -> dict[str, Any]:
    """Colour map and, unless values are choices, its scale: the same for all maps of a row."""
    if panel.kind == "choice":
        return {"cmap": ListedColormap(CHOICE_COLORS[: len(panel.choices)])}
    values = np.concatenate([one.values.ravel() for one in panel.maps])
    values = values[np.isfinite(values)]
    if panel.kind == "ratio":
        most = float(np.abs(values).max(initial=1e-9))
        return {"cmap": "RdBu_r", "norm": Normalize(-most, most)}
    least, most = (values.min(), values.max()) if len(values) else (0.0, 1.0)
    return {"cmap": "viridis", "norm": Normalize(float(least), float(most))}


def _colored(one: HeatMap, colors: ListedColormap) -> np.ndarray:
    """(rows, columns, 4): the colours of choices, paler where they are not sure."""
    known = np.isfinite(one.values)
    cells = colors(np.where(known, one.values, 0).astype(int))
    if one.sure is not None:
        cells[~one.sure, :3] = 1 - _FADED * (1 - cells[~one.sure, :3])
    cells[~known, 3] = 0.0
    return cells


def _label(axis: Axis, labels: Sequence[str], shown: bool) -> None:
    """Sets ticks at all cells, or at every other one where there are many."""
    step = 1 if len(labels) <= _MOST_LABELS else 2
    chosen = list(labels)[::step]
    axis.set_ticks(range(0, len(labels), step), chosen if shown else [""] * len(chosen))


def _explain_choices(axes: Axes, panel: HeatPanel) -> None:
    """A legend to the right of the last map."""
    pairs = zip(CHOICE_COLORS, panel.choices, strict=False)
    axes.legend(
        handles=[Patch(color=color, label=choice) for color, choice in pairs],
        title=panel.label,
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
        frameon=False,
        handlelength=0.9,
        handletextpad=0.4,
        borderaxespad=0.2,
        title_fontsize=FONT_SIZE,
    )
