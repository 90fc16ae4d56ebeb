"""A frame in the place of a panel that cannot be drawn, with the reason."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from matplotlib.axes import Axes

from jaxduel.plotting.styles import FONT_SIZE
from jaxduel.plotting.words import broken, plain

_LETTERS = 30


@dataclass(frozen=True)
class Missing:
    """A panel without numbers: its title, and the reason.

    Example:
      >>> from jaxduel.plotting import Missing
      >>> Missing("(b) Sushi", "the data are not here").why
      'the data are not here'
    """

    title: str
    why: str


def draw_missing(axes: Axes, panel: Missing, letters: int = _LETTERS) -> None:
    """Draws an empty frame with the reason in it, in lines of `letters` letters; lines of the title
    are a little longer."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set(color="0.7", linestyle=(0, (4, 3)), visible=True)
    axes.set_title(broken(panel.title, letters + 8), fontsize=FONT_SIZE + 0.5)
    text = plain("\n".join(textwrap.wrap(panel.why, letters)))
    place = {"ha": "center", "va": "center", "transform": axes.transAxes}
    axes.text(0.5, 0.5, text, color="0.35", **place)
