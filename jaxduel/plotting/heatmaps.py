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
"""What the numbers are: amounts; logarithms of ratios, white where they are 0; or the number of a
choice, from 0."""

CHOICE_COLORS = ("#00507A", "#E69F00", "#7FBF9B")
"""What choices look like, in their order: dark, middle, light, told apart without colours too."""
_FADED = 0.4
"""How much colour a cell keeps that is not sure."""
_MISSING = "0.88"
_MOST_LABELS = 5
"""Of more labels of rows or columns every other one is left out."""

HEAT_HEAD, HEAT_FOOT = 0.38, 0.36
"""Inches above a row of maps, for titles, and below the last one, for labels."""
_TITLE, _LEFT, _RIGHT = 0.2, 0.52, 0.86
"""Inches: a row's title above its maps, and what is left free at both sides."""


@dataclass(frozen=True)
class HeatMap:
    """One grid of cells.

    Attributes:
      title: what it is of.
      values: (rows, columns), the first row below; NaN where there is none.
      sure: (rows, columns) bool, whether a choice is; all are if None.
    """

    title: str
    values: np.ndarray
    sure: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class HeatPanel:
    """A row of heat maps of one size.

    Attributes:
      maps: the grids, from left to right.
      kind: what their numbers are.
      label: what the scale of colours says.
      across, up: what the columns and the rows are.
      columns, rows: their labels.
      title: stands above the row.
      choices: what the numbers of choices mean.
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
    """Draws heat maps side by side over the width of a figure, with what their colours mean at the
    right.

    Args:
      figure: what they are drawn on; its size is final.
      panel: the maps.
      below, height: inches, where they begin above the figure's lower edge, and how high they are.
        Above them `HEAT_HEAD` inches are taken, and `HEAT_FOOT` below the last row.
      last: whether it is, and columns have their labels below.
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
        axes.set_facecolor(_MISSING)
        cells = one.values if "norm" in look else _colored(one, look["cmap"])
        axes.imshow(cells, origin="lower", aspect="auto", interpolation="nearest", **look)
        axes.set_title(one.title, fontsize=FONT_SIZE, pad=2.5)
        _label(axes.xaxis, panel.columns, shown=last)
        _label(axes.yaxis, panel.rows, shown=position == 0)
        axes.set_xlabel(panel.across if last else "", labelpad=2.0)
        axes.set_ylabel(panel.up if position == 0 else "", labelpad=2.0)
        axes.tick_params(length=1.5, pad=1.5)
    figure.text(left, top + _TITLE / whole, panel.title, fontsize=FONT_SIZE + 0.5)
    if panel.kind == "choice":
        _explain_choices(row[-1], panel)
    else:
        place = (right + 0.08 / width, bottom, 0.09 / width, top - bottom)
        bar = figure.colorbar(row[-1].images[0], cax=figure.add_axes(place))
        bar.set_label(panel.label, labelpad=2.0)
        bar.ax.tick_params(length=1.5, pad=1.5)


def _look(panel: HeatPanel) -> dict[str, Any]:
    """Colours and their scale, the same for all maps of a row; a scale is of numbers only."""
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
    """Ticks at all cells, or at every other where they are many."""
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
