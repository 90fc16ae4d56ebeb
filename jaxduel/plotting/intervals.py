"""Numbers of many names, below each other: a dot each, and a bar for its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.figure import Figure

from jaxduel.plotting.figures import COLUMN_WIDTH, PAGE_WIDTH, drawing
from jaxduel.plotting.styles import FONT_SIZE, LETTER, dress
from jaxduel.plotting.words import broken, inches

_COLOR, _REFERENCE = "#0072B2", "#D55E00"
_ROW, _AROUND, _LINE = 0.135, 0.6, 0.12
"""Inches: height of a name, of the axis with its label, and of each further line of that."""
_LEAST = 1.4
"""Inches: least width of the axis, whatever the names."""
_MANY = 25
"""Names from which on the numbers of the axis stand above, too."""
_MARGIN = 0.04
"""Share of the range of all numbers that is free at either end."""


@dataclass(frozen=True, kw_only=True)
class IntervalsPanel:
    """One set of axes: names below each other, the first above, each with a dot and a bar.

    Attributes:
      names: N names.
      values: (N,) the dots.
      lower95, upper95: (N,) ends of the bars; NaN for no bar.
      label: label of the axis.
      reference: number that a dotted line marks; none if None.
      ends: ends of the axis; if None, of all numbers.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting.intervals import IntervalsPanel
      >>> low, ratings, high = np.array([[980.0, 930.0], [1020.0, 980.0], [1070.0, 1010.0]])
      >>> panel = IntervalsPanel(
      ...     names=["ada", "bea"], values=ratings, lower95=low, upper95=high, label="rating"
      ... )
      >>> [part.names for part in panel.parts(1)]
      [['ada'], ['bea']]
    """

    names: Sequence[str]
    values: np.ndarray
    lower95: np.ndarray
    upper95: np.ndarray
    label: str
    reference: float | None = None
    ends: tuple[float, float] | None = None

    def parts(self, most: int) -> list[IntervalsPanel]:
        """Panels of at most `most` names, about equally many in each, with the same ends."""
        count = -(-len(self.names) // most)
        ends = _ends(self)
        return [
            replace(
                self,
                names=[self.names[place] for place in own],
                values=self.values[own],
                lower95=self.lower95[own],
                upper95=self.upper95[own],
                ends=ends,
            )
            for own in np.array_split(np.arange(len(self.names)), count)
        ]


def intervals_figure(panels: Sequence[IntervalsPanel]) -> Figure:
    """A panel at the width of a column, or several with one label side by side, at that of a page.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting.intervals import IntervalsPanel, intervals_figure
      >>> ends = np.array([1.0]), np.array([2.0]), np.array([3.0])
      >>> lower95, values, upper95 = ends
      >>> panel = IntervalsPanel(
      ...     names=["ada"], values=values, lower95=lower95, upper95=upper95, label="rating"
      ... )
      >>> [text.get_text() for text in intervals_figure([panel]).axes[0].get_yticklabels()]
      ['ada']
    """
    rows = max(len(panel.names) for panel in panels)
    names = inches((name for panel in panels for name in panel.names), FONT_SIZE)
    width = COLUMN_WIDTH if len(panels) == 1 else PAGE_WIDTH
    width = max(width, len(panels) * (names + _LEAST))
    label = broken(panels[0].label, int(width / LETTER) - 4)
    with drawing():
        figure = Figure(layout="constrained")
        figure.set_size_inches(width, rows * _ROW + _AROUND + _LINE * label.count("\n"))
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, panel in zip(grid, panels, strict=True):
            places = np.arange(len(panel.names))
            if panel.reference is not None:
                axes.axvline(panel.reference, color=_REFERENCE, linestyle=":", linewidth=0.9)
            axes.hlines(places, panel.lower95, panel.upper95, color=_COLOR, linewidth=1.3)
            axes.plot(panel.values, places, "o", color=_COLOR, markersize=2.8)
            axes.set_yticks(places, panel.names)
            axes.set_ylim(rows - 0.4, -0.6)
            axes.set_xlim(*(panel.ends or _ends(panel)))
            axes.tick_params(axis="y", length=0)
            if rows > _MANY:
                axes.tick_params(axis="x", top=True, labeltop=True)
            dress(axes, "")
        figure.supxlabel(label, fontsize=FONT_SIZE)
        figure.draw_without_rendering()
    return figure


def _ends(panel: IntervalsPanel) -> tuple[float, float]:
    """Ends of the axis: beyond all numbers of a panel."""
    drawn = np.concatenate([panel.values, panel.lower95, panel.upper95])
    if panel.reference is not None:
        drawn = np.append(drawn, panel.reference)
    low, high = float(np.nanmin(drawn)), float(np.nanmax(drawn))
    room = _MARGIN * (high - low) or 1.0
    return low - room, high + room
