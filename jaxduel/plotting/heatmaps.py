"""Heat maps: a number per cell of a grid, several grids with one scale of colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.typing import ColorType

from jaxduel.plotting.missing import Missing, draw_missing
from jaxduel.plotting.styles import FONT_SIZE, LETTER, ink
from jaxduel.plotting.words import broken, length

HeatKind = Literal["amount", "ratio", "choice"]
"""Kind of the numbers: amounts; logarithms of ratios, white where they are 0; or the number of a
choice, from 0."""

CHOICE_COLORS = ("#00507A", "#E69F00", "#7FBF9B")
"""Colours of up to three choices, in their order: dark, middle, light, distinct in black and white
too."""
_FADED = 0.4
"""Share of its colour that a cell keeps if its choice is not sure."""
_MISSING = "0.88"
_SMALLEST, _LARGEST = 4.5, FONT_SIZE
"""Points: letters of the numbers in cells; numbers that would be smaller are left out."""
_MOST_IN_A_ROW = 3
_TITLE_LETTERS = 85
_MOST_LETTERS, _MOST_ROWS = 22, 9
"""Letters of the labels of columns in all, and labels of rows, that have room; surplus labels are
left out."""
_CHOICE_LETTERS = 10
"""Letters that have room beside the maps."""
_ROW, _HEAD, _FOOT = 1.1, 0.2, 0.36
"""Inches: height of a row of maps, space above it for titles, and below the last for labels."""
_TITLE, _LEFT, _RIGHT = 0.22, 0.52, 0.86
"""Inches: space for a panel's title, and the free space at the left, if labels of rows are short,
and the right."""


@dataclass(frozen=True)
class HeatMap:
    """One grid of cells.

    Attributes:
      title: text above the map.
      values: (rows, columns), the first row below; NaN where there is none.
      sure: (rows, columns) bool, True for choices that are sure; None: all are.
      best: (rows, columns) bool, the cells to frame; none if None.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import HeatMap
      >>> HeatMap("T = 1,000", np.array([[12.0, 30.0], [8.0, np.nan]])).values.shape
      (2, 2)
    """

    title: str
    values: np.ndarray
    sure: np.ndarray | None = None
    best: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class HeatPanel:
    """Heat maps of one size, up to three in a row.

    Attributes:
      maps: the grids, from left to right.
      kind: kind of their numbers.
      label: text beside the scale of colours.
      across, up: labels of the horizontal and the vertical axis.
      columns, rows: labels of columns and rows.
      title: text above the maps.
      choices: names of choices, by their numbers in the maps.

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


def heat_height(panel: HeatPanel | Missing) -> float:
    """Inches that a panel takes."""
    lines = 1 if isinstance(panel, Missing) else -(-len(panel.maps) // _MOST_IN_A_ROW)
    return _TITLE * (1 + _title(panel).count("\n")) + lines * (_HEAD + _ROW) + _FOOT


def _title(panel: HeatPanel | Missing) -> str:
    """The title, in lines that fit the page."""
    return broken(panel.title, _TITLE_LETTERS)


def draw_heat_panel(figure: Figure, panel: HeatPanel, below: float) -> None:
    """Draws heat maps over the width of a figure, with the scale or the legend of their colours at
    the right.

    Args:
      figure: the figure to draw on; its size is final.
      panel: the maps.
      below: inches from the figure's lower edge to that of the panel.
    """
    width, whole = figure.get_size_inches()
    margin = max(_LEFT, 0.3 + LETTER * max(map(length, panel.rows)))
    left, right, columns = margin / width, 1 - _RIGHT / width, min(len(panel.maps), _MOST_IN_A_ROW)
    lines = -(-len(panel.maps) // columns)
    bottom, top = (below + _FOOT) / whole, (below + _FOOT + lines * (_HEAD + _ROW) - _HEAD) / whole
    grid = figure.add_gridspec(
        lines, columns, left=left, right=right, bottom=bottom, top=top, wspace=0.08,
        hspace=_HEAD / _ROW,
    )  # fmt: skip
    look, room = _look(panel), (width - margin - _RIGHT) / columns
    row = [figure.add_subplot(grid[divmod(n, columns)]) for n in range(len(panel.maps))]
    for position, (axes, one) in enumerate(zip(row, panel.maps, strict=True)):
        draw_cells(axes, one.values if "norm" in look else _colored(one, look["cmap"]), **look)
        texts = _texts(panel, one.values)
        write_numbers(axes, one.values, room, _ROW, texts)
        frame_best(axes, one.best)
        lowest, leftmost = position + columns >= len(panel.maps), position % columns == 0
        axes.set_title(one.title, fontsize=FONT_SIZE, pad=2.5)
        letters = sum(map(length, panel.columns))
        _label(axes.xaxis, panel.columns, -(-letters // _MOST_LETTERS), shown=lowest)
        _label(axes.yaxis, panel.rows, -(-len(panel.rows) // _MOST_ROWS), shown=leftmost)
        axes.set_xlabel(panel.across if lowest else "", labelpad=2.0)
        axes.set_ylabel(panel.up if leftmost else "", labelpad=2.0)
    figure.text(left, top + _TITLE / whole, _title(panel), fontsize=FONT_SIZE + 0.5)
    if panel.kind == "choice":
        _explain_choices(row[-1], panel)
    else:
        place = (right + 0.08 / width, bottom, 0.09 / width, top - bottom)
        bar = figure.colorbar(row[-1].images[0], cax=figure.add_axes(place))
        bar.set_label(panel.label, labelpad=2.0)
        bar.ax.tick_params(length=1.5, pad=1.5)


def draw_heat_missing(figure: Figure, panel: Missing, below: float) -> None:
    """Draws a frame in the place of a panel that is missing."""
    width, whole = figure.get_size_inches()
    size = (_LEFT / width, (below + _FOOT) / whole, 1 - (_LEFT + _RIGHT) / width, _ROW / whole)
    draw_missing(figure.add_axes(size), panel, 80)


def write_numbers(
    axes: Axes,
    values: np.ndarray,
    width: float,
    height: float,
    texts: Sequence[str] | None = None,
) -> None:
    """Writes the numbers of a map into its cells, if there is room.

    Args:
      axes: the axes, with the map drawn.
      values: (rows, columns) numbers.
      width, height: of the map, in inches.
      texts: texts to write instead of the numbers, row by row.
    """
    texts = [compact(value) for value in values.flat] if texts is None else texts
    longest = max((len(text) for text in texts), default=0)
    down, across = 72 * height / values.shape[0], 72 * width / values.shape[1]
    size = min(_LARGEST, 0.8 * down, 0.85 * across / (0.62 * max(longest, 1)))
    if size < _SMALLEST:
        return
    (image,) = axes.images
    shown = image.get_array()
    assert shown is not None
    cells = image.to_rgba(shown).tolist()
    for (row, column), text in zip(np.ndindex(values.shape), texts, strict=True):
        if not np.isfinite(values[row, column]):
            continue
        color = ink(cells[row][column])
        axes.text(column, row, text, fontsize=size, color=color, ha="center", va="center")


def frame_best(axes: Axes, best: np.ndarray | None) -> None:
    """Frames the cells that are best."""
    for row, column in np.argwhere(best) if best is not None else ():
        box = (column - 0.46, row - 0.46), 0.92, 0.92
        axes.add_patch(Rectangle(*box, fill=False, edgecolor="#D55E00", linewidth=1.3))


def compact(value: float, digits: int = 3) -> str:
    """A number in a cell, rounded to `digits` digits or to an integer: 0.123, 12.3, 1234, 1.2e4;
    empty for NaN.

    Example:
      >>> from jaxduel.plotting.heatmaps import compact
      >>> [compact(value) for value in (0.1234, 12.34, 1234.0, 12345.0)]
      ['0.123', '12.3', '1234', '1.2e4']
      >>> [compact(value, 2) for value in (0.04, 1.26, 99.6)]
      ['0.04', '1.3', '100']
    """
    if not np.isfinite(value):
        return ""
    if abs(value) >= 1e4 or 0 < abs(value) < 1e-3:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
    value += 0.0  # removes the sign of -0.0
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


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
        return {"cmap": ListedColormap(_choice_colors(len(panel.choices)))}
    values = np.concatenate([one.values.ravel() for one in panel.maps])
    values = values[np.isfinite(values)]
    if panel.kind == "ratio":
        most = float(np.abs(values).max(initial=0.0)) or 1.0
        return {"cmap": "RdBu_r", "norm": Normalize(-most, most)}
    least, most = (values.min(), values.max()) if len(values) else (0.0, 1.0)
    return {"cmap": "viridis", "norm": Normalize(float(least), float(most))}


def _texts(panel: HeatPanel, values: np.ndarray) -> list[str] | None:
    """Texts of the cells: initials of choices, logarithms of ratios with one decimal, amounts with
    two digits."""
    if panel.kind == "choice":
        known = np.isfinite(values)
        initials = dict(enumerate(choice[:1] for choice in panel.choices))
        return [initials.get(int(i), "") for i in np.where(known, values, -1).flat]
    if panel.kind == "ratio":
        return [f"{value:.1f}".replace("-0.0", "0.0") for value in values.flat]
    return [_two_digits(value) for value in values.flat]


def _two_digits(value: float) -> str:
    """An amount: 0.04, 0.12, 4.0, 12; numbers from 1 on keep their decimal, as columns of them
    read better."""
    return f"{value:.1f}" if 0.995 <= abs(value) < 9.95 else compact(value, 2)


def _choice_colors(count: int) -> list[ColorType]:
    """`count` distinct colours of choices, from dark to light."""
    if count <= len(CHOICE_COLORS):
        return list(CHOICE_COLORS[:count])
    return list(colormaps["viridis"](np.linspace(0, 1, count)))


def _colored(one: HeatMap, colors: ListedColormap) -> np.ndarray:
    """(rows, columns, 4): the colours of choices, paler where they are not sure."""
    known = np.isfinite(one.values)
    cells = colors(np.where(known, one.values, 0).astype(int))
    if one.sure is not None:
        cells[~one.sure, :3] = 1 - _FADED * (1 - cells[~one.sure, :3])
    cells[~known, 3] = 0.0
    return cells


def _label(axis: Axis, labels: Sequence[str], step: int, shown: bool) -> None:
    """Sets a tick at every `step`-th cell."""
    chosen = list(labels)[::step]
    axis.set_ticks(range(0, len(labels), step), chosen if shown else [""] * len(chosen))


def _explain_choices(axes: Axes, panel: HeatPanel) -> None:
    """A legend to the right of the last map."""
    pairs = zip(_choice_colors(len(panel.choices)), panel.choices, strict=True)
    axes.legend(
        handles=[Patch(color=c, label=broken(choice, _CHOICE_LETTERS)) for c, choice in pairs],
        title=broken(panel.label, _CHOICE_LETTERS),
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        handlelength=0.9,
        handletextpad=0.4,
        borderaxespad=0.8,
        borderpad=0.0,
        title_fontsize=FONT_SIZE,
    )
