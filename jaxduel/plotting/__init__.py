"""Figures of lines, bars and heat maps, at the width of a paper's column or page.

The package knows lines, bars and maps. Functions that draw results are in `figures` of
`simulation`, `gradients` and `votes`, and are imported from here on first use. pyplot is never
used, so that no window opens and no global figure is kept; the same numbers give the same bytes.
"""

import importlib
import typing

from matplotlib.figure import Figure as Figure

from jaxduel.display import exported as _exported
from jaxduel.plotting.bars import Bar as Bar
from jaxduel.plotting.bars import BarsPanel as BarsPanel
from jaxduel.plotting.bars import SharesPanel as SharesPanel
from jaxduel.plotting.bars import Stack as Stack
from jaxduel.plotting.figures import COLUMN_WIDTH as COLUMN_WIDTH
from jaxduel.plotting.figures import DPI as DPI
from jaxduel.plotting.figures import PAGE_WIDTH as PAGE_WIDTH
from jaxduel.plotting.figures import draw as draw
from jaxduel.plotting.figures import pdf as pdf
from jaxduel.plotting.figures import png as png
from jaxduel.plotting.heatmaps import HeatKind as HeatKind
from jaxduel.plotting.heatmaps import HeatMap as HeatMap
from jaxduel.plotting.heatmaps import HeatPanel as HeatPanel
from jaxduel.plotting.line import REGRET_LABELS as REGRET_LABELS
from jaxduel.plotting.line import Line as Line
from jaxduel.plotting.line import LinePanel as LinePanel
from jaxduel.plotting.line import Reference as Reference
from jaxduel.plotting.line import regret_label as regret_label
from jaxduel.plotting.line import regret_panel as regret_panel
from jaxduel.plotting.line import votes_line as votes_line
from jaxduel.plotting.line import votes_panel as votes_panel
from jaxduel.plotting.line_drawing import draw_on as draw_on
from jaxduel.plotting.marks import spread_words as spread_words
from jaxduel.plotting.missing import Missing as Missing
from jaxduel.plotting.styles import FONT_SIZE as FONT_SIZE
from jaxduel.plotting.styles import STYLES as STYLES
from jaxduel.plotting.styles import Style as Style
from jaxduel.plotting.styles import style_of as style_of
from jaxduel.plotting.ticks import Scale as Scale
from jaxduel.plotting.words import regret_words as regret_words
from jaxduel.plotting.words import seeds_words as seeds_words

if typing.TYPE_CHECKING:
    from jaxduel.gradients.figures import worst_case_figure as worst_case_figure
    from jaxduel.simulation.figures import result_lines as result_lines
    from jaxduel.simulation.figures import results_figure as results_figure
    from jaxduel.votes.figures import identification_figure as identification_figure

_OF_RESULTS = {
    "identification_figure": "votes",
    "result_lines": "simulation",
    "results_figure": "simulation",
    "worst_case_figure": "gradients",
}
"""The packages, above this one, that draw their results."""


def __getattr__(name: str) -> typing.Any:
    """A function that draws results, imported on first use."""
    if name not in _OF_RESULTS:
        raise AttributeError(f"module 'jaxduel.plotting' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"jaxduel.{_OF_RESULTS[name]}.figures"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*_exported(globals()), *_OF_RESULTS})
