"""Panels laid out at the width of a column or a page, with one legend, and written to bytes."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from jaxduel.errors import InputError
from jaxduel.plotting.bars import BarsPanel, SharesPanel, draw_bars, draw_shares
from jaxduel.plotting.heatmaps import (
    HeatPanel,
    draw_heat_missing,
    draw_heat_panel,
    heat_height,
)
from jaxduel.plotting.line import Line, LinePanel, Reference
from jaxduel.plotting.line_drawing import draw_on, rules_of
from jaxduel.plotting.missing import Missing, draw_missing
from jaxduel.plotting.styles import FONT_SIZE, LETTER, looks_in
from jaxduel.plotting.words import FONT, broken, length

logging.getLogger("fontTools.ttLib").setLevel(logging.ERROR)  # else it warns of the dates of fonts

AnyPanel = LinePanel | BarsPanel | SharesPanel | HeatPanel
"""A panel of any kind."""

COLUMN_WIDTH = 3.3
"""Inches: one column of a two-column paper."""
PAGE_WIDTH = 6.75
"""Inches: both columns."""
DPI = 300

_TITLE_LETTERS, _ABOUT_LETTERS = 46, 54
"""Letters that are about as wide as a panel, or as a panel and the room beside it."""
_LONG_LABEL = 8
"""Characters: of labels longer than this only two fit side by side in a column."""
LEGEND_LINE, LEGEND_HANDLE = 0.14, 0.54
"""Inches: height of a legend's line, width of the space before a label."""


def draw(panels: Sequence[AnyPanel | Missing]) -> Figure:
    """A figure of panels of one kind: one at column width, or several at page width, two in a row.

    All panels share one legend outside the axes: a policy looks the same in each. A heading above
    it names the numbers and the seeds. A missing panel is an empty frame that gives the reason.
    Panels of heat maps stand below each other, at page width, each with its scale of colours.

    Raises:
      InputError: if there is no panel, a panel is empty, or panels have different numbers of heat
        maps.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import Line, draw, regret_panel
      >>> policy = jd.policies.make("sparring", num_arms=2)
      >>> result = jd.simulate(policy, jd.problems.btl_from_weights([2, 1]), 100, num_seeds=8)
      >>> panel = regret_panel([Line.of(result.runs)], "two arms", regret="copeland")
      >>> [axes.get_title() for axes in draw([panel]).axes]
      ['two arms']
    """
    there: list[Any] = [panel for panel in panels if not isinstance(panel, Missing)]
    kind = type(there[0]) if there else LinePanel
    if kind is HeatPanel:
        return _heat_figure(panels)
    if kind is SharesPanel:
        return _panels_figure(panels, draw_shares, lambda panel: panel.stacks, "column")
    if kind is BarsPanel:
        looks = looks_in(bar for panel in there for bar in panel.bars)
        one = partial(draw_bars, looks=looks)
        return _panels_figure(panels, one, lambda panel: panel.bars, "bar")
    looks = looks_in(line for panel in there for line in panel.lines)
    one = partial(draw_on, looks=looks, rules=rules_of(there))
    same_axis = all(panel.kind != "varied" for panel in there)
    return _panels_figure(panels, one, _in_legend, "line", same_axis)


def _in_legend(panel: LinePanel) -> list[Line | Reference]:
    """Lines, and references that belong to a policy."""
    references = [reference for reference in panel.references if reference.name]
    return [*panel.lines, *references] if panel.lines else []


def _heat_figure(panels: Sequence[Any]) -> Figure:
    """Heat maps, panel below panel, at page width; the best cells are framed."""
    sizes = {len(panel.maps) for panel in panels if isinstance(panel, HeatPanel)}
    if len(sizes) != 1 or 0 in sizes:
        raise InputError("a figure needs at least one panel, and panels the same number of maps.")
    left = height = sum(map(heat_height, panels))
    with drawing():
        figure = Figure()
        figure.set_size_inches(PAGE_WIDTH, height)
        for panel in panels:
            left -= heat_height(panel)
            if isinstance(panel, Missing):
                draw_heat_missing(figure, panel, left)
            else:
                draw_heat_panel(figure, panel, left)
        figure.draw_without_rendering()
    return figure


def _panels_figure(
    panels: Sequence[Any],
    draw_panel: Callable[[Axes, Any], None],
    contents: Callable[[Any], Sequence[Any]],
    what: str,
    same_axis: bool = True,
) -> Figure:
    """Panels laid out as in `draw`.

    Args:
      panels: at least one; some may be missing.
      draw_panel: draws one of them.
      contents: the things drawn in a panel: at least one, with a label for the legend.
      what: the name of such a thing in errors.
      same_axis: whether only the lowest row has a label of the horizontal axis.
    """
    there = [panel for panel in panels if not isinstance(panel, Missing)]
    if not panels or not all(map(contents, there)):
        raise InputError(f"a figure needs at least one panel, and a panel at least one {what}.")
    alone = len(panels) == 1
    columns, rows = (1, 1) if alone else (2, -(-len(panels) // 2))
    abouts = {panel.about for panel in there}
    heading = abouts.pop() if len(abouts) == 1 else ""
    with drawing():
        figure = Figure(layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            if isinstance(panel, Missing):
                draw_missing(axes, panel)
                continue
            draw_panel(axes, panel)
            title = broken(panel.title, _TITLE_LETTERS)
            if abouts:
                title = f"{title}\n{broken(panel.about, _ABOUT_LETTERS)}".strip()
            axes.set_title(title, fontsize=FONT_SIZE + 0.5)
        for axes in grid[len(panels) :]:
            axes.remove()
        if not alone:
            _say_once(list(grid[: len(panels)]), columns, same_axis)
        order = dict.fromkeys(entry.label for panel in there for entry in contents(panel))
        width = COLUMN_WIDTH if alone else PAGE_WIDTH
        lines = add_legend(figure, order, partial(_legend_columns, alone), heading, width)
        extra = LEGEND_LINE * max(0, lines - (2 if alone else 1))
        figure.set_size_inches(width, (2.75 if alone else 0.55 + 2.2 * rows) + extra)
        figure.draw_without_rendering()
    return figure


def _say_once(grid: Sequence[Axes], columns: int, same_axis: bool) -> None:
    """Removes labels of axes that repeat those of the axes at the left or below."""
    for position, axes in enumerate(grid):
        below = grid[position + columns] if position + columns < len(grid) else None
        if same_axis and below is not None and below.get_xlabel() == axes.get_xlabel():
            axes.set_xlabel("")
        first = grid[position - position % columns]
        if axes is not first and axes.get_ylabel() == first.get_ylabel():
            axes.set_ylabel("")


def add_legend(
    figure: Figure,
    order: Iterable[str],
    columns_for: Callable[[Sequence[str]], int],
    heading: str = "",
    width: float = PAGE_WIDTH,
) -> int:
    """Adds one legend above all axes.

    Args:
      figure: the figure, with all axes drawn.
      order: the labels to show first.
      columns_for: the most labels to show side by side; fewer where they do not fit.
      heading: the line above the labels.
      width: width of the figure, in inches.

    Returns:
      Number of lines of the legend and the heading.
    """
    found: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    heading = broken(heading, int(width / LETTER))
    above = heading.count("\n") + bool(heading)
    if not found:
        figure.suptitle(heading, fontsize=FONT_SIZE)
        return above
    labels = list(dict.fromkeys([*(label for label in order if label in found), *found]))
    columns = min(len(labels), columns_for(labels))
    letters = int((width - LEGEND_HANDLE) / LETTER)
    texts = [broken(label, letters) for label in labels]
    while True:
        lines = -(-len(labels) // columns)
        legend = figure.legend(
            [found[label] for label in labels],
            texts,
            loc="outside upper center",
            ncols=-(-len(labels) // lines),
            frameon=False,
            handlelength=3.2,
            columnspacing=1.2,
        )
        if columns == 1 or legend.get_window_extent().width <= width * figure.dpi:
            break
        legend.remove()
        columns -= 1
    if heading:
        legend.set_title(heading, FontProperties(size=FONT_SIZE))
    legend.get_title().set_multialignment("center")
    return above + lines + "".join(texts).count("\n")


def _legend_columns(alone: bool, labels: Sequence[str]) -> int:
    """Number of legend entries that fit side by side: fewer where labels are long."""
    lengths = sorted(map(length, labels))
    if not alone:
        widths = [LEGEND_HANDLE + LETTER * letters for letters in lengths[-6:]]
        return 6 if sum(widths) <= PAGE_WIDTH else 3
    return 3 if lengths[-1] <= _LONG_LABEL else 2


@contextmanager
def drawing() -> Iterator[None]:
    """Context in which figures are drawn with the package's fonts and line widths."""
    chosen = {
        "font.family": FONT,
        "font.size": FONT_SIZE,
        "axes.labelsize": FONT_SIZE,
        "axes.linewidth": 0.6,
        "xtick.labelsize": FONT_SIZE,
        "ytick.labelsize": FONT_SIZE,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "ytick.minor.width": 0.4,
        "legend.fontsize": FONT_SIZE,
        "savefig.format": "png",
        "pdf.fonttype": 42,
        "svg.hashsalt": "jaxduel",
    }
    with mpl.rc_context(chosen):  # type: ignore[arg-type]
        yield


def png(figure: Figure, dpi: int = DPI) -> bytes:
    """The figure as a PNG file, without a date.

    Example:
      >>> from pathlib import Path
      >>> import numpy as np
      >>> from jaxduel.plotting import SharesPanel, Stack, draw, png
      >>> stack = Stack("pcomp", "PCOMP", np.array([0.25, 0.75]), ["round 1", "round 2"])
      >>> data = png(draw([SharesPanel([stack])]), dpi=100)
      >>> Path("shares.png").write_bytes(data) == len(data)
      True
      >>> data[1:4]
      b'PNG'
    """
    return _rendered(figure, "png", {"Software": None}, dpi)


def pdf(figure: Figure) -> bytes:
    """The figure as a PDF file with embedded fonts, without a date.

    Example:
      >>> from pathlib import Path
      >>> import numpy as np
      >>> from jaxduel.plotting import SharesPanel, Stack, draw, pdf
      >>> stack = Stack("pcomp", "PCOMP", np.array([0.25, 0.75]), ["round 1", "round 2"])
      >>> data = pdf(draw([SharesPanel([stack])]))
      >>> Path("shares.pdf").write_bytes(data) == len(data)
      True
      >>> data[:4]
      b'%PDF'
    """
    nothing: dict[str, None] = dict.fromkeys(("Creator", "Producer", "CreationDate"))
    return _rendered(figure, "pdf", nothing, DPI)


def _rendered(figure: Figure, kind: str, metadata: dict[str, None], dpi: int) -> bytes:
    file = io.BytesIO()
    with drawing():
        figure.savefig(file, format=kind, metadata=metadata, dpi=dpi)  # type: ignore[arg-type]
    return file.getvalue()
