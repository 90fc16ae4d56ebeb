"""Bar charts: one number per policy and instance, and stacked shares of a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from jaxduel.plotting import ticks
from jaxduel.plotting.styles import Style, dress, ink, style_of
from jaxduel.plotting.ticks import Scale, scale_for
from jaxduel.plotting.words import length

_LETTERS = 52
"""Letters that have room below a panel."""


@dataclass(frozen=True)
class Bar:
    """One policy's number in each group, with 95 % intervals; NaN if missing.

    Attributes:
      name: the policy, which decides on the colour.
      label: text in the legend.
      values, lower95, upper95: (G,) one per group.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import Bar, style_of
      >>> regret = np.array([40.0, 55.0])  # on two instances
      >>> bar = Bar("dts", "D-TS", regret, 0.9 * regret, 1.1 * regret)
      >>> style_of(bar.name).color
      '#AA3377'
    """

    name: str
    label: str
    values: np.ndarray
    lower95: np.ndarray
    upper95: np.ndarray


@dataclass(frozen=True)
class BarsPanel:
    """One set of axes: groups of bars side by side, a bar per policy in each group; `about`
    describes regret and seeds.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import Bar, BarsPanel
      >>> regret = np.array([40.0, 55.0])
      >>> bar = Bar("dts", "D-TS", regret, 0.9 * regret, 1.1 * regret)
      >>> panel = BarsPanel(["arxiv", "cyclic"], [bar], label="regret at T")
      >>> panel.scale
      'log'
    """

    groups: Sequence[str]
    bars: Sequence[Bar]
    title: str = ""
    label: str = ""
    scale: Scale = "log"
    about: str = ""

    @property
    def drawn_scale(self) -> Scale:
        """The scale of the axis: linear where no bar is above 0, as 0 has no logarithm."""
        return scale_for(self.scale, (bar.values for bar in self.bars))


@dataclass(frozen=True)
class Stack:
    """One column of segments: shares of a whole.

    Attributes:
      name: the policy; segments have its colour, lighter from one to the next.
      label: text below the column.
      shares: (S,) from the bottom, with sum 1.
      inscriptions: S words, one in each segment.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import Stack
      >>> stack = Stack("pcomp", "PCOMP", np.array([0.25, 0.75]), ["round 1", "round 2"])
      >>> float(stack.shares.sum())
      1.0
    """

    name: str
    label: str
    shares: np.ndarray
    inscriptions: Sequence[str]


@dataclass(frozen=True)
class SharesPanel:
    """One set of axes: columns of shares side by side; `about` describes the numbers.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import SharesPanel, Stack
      >>> stack = Stack("pcomp", "PCOMP", np.array([0.25, 0.75]), ["round 1", "round 2"])
      >>> panel = SharesPanel([stack], label="share of the regret")
      >>> [column.label for column in panel.stacks]
      ['PCOMP']
    """

    stacks: Sequence[Stack]
    title: str = ""
    label: str = ""
    about: str = ""


def draw_bars(axes: Axes, panel: BarsPanel, looks: Mapping[tuple[str, str], Style]) -> None:
    """Draws groups of bars, with their 95 % intervals; `looks` has styles by name and label."""
    width = 0.84 / len(panel.bars)
    places = np.arange(len(panel.groups))
    for position, bar in enumerate(panel.bars):
        at = places + (position - (len(panel.bars) - 1) / 2) * width
        errors = np.maximum([bar.values - bar.lower95, bar.upper95 - bar.values], 0)
        axes.bar(
            at,
            bar.values,
            width=0.88 * width,
            color=looks[bar.name, bar.label].color,
            label=bar.label,
            yerr=np.nan_to_num(errors),
            error_kw={"elinewidth": 0.7, "ecolor": "0.15"},
        )
    _scale(axes, panel)
    _name_places(axes, panel.groups)
    axes.set_ylabel(panel.label)
    dress(axes, panel.title, grid="y")


def _name_places(axes: Axes, names: Sequence[str]) -> None:
    """Writes names at 0, 1, 2, ... of the axis, tilted if they do not fit side by side."""
    longest = max(length(line) for name in names for line in name.split("\n"))
    tilt = {"rotation": 25, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xticks(
        range(len(names)), list(names), **tilt if longest * len(names) > _LETTERS else {}
    )
    axes.tick_params(axis="x", length=0)


def _scale(axes: Axes, panel: BarsPanel) -> None:
    """Scales the axis of the numbers; a logarithmic one begins well below the lowest bar."""
    values = np.concatenate([bar.values for bar in panel.bars])
    axes.set_yscale(panel.drawn_scale)
    if panel.drawn_scale == "log":
        axes.set_ylim(bottom=min(axes.get_ylim()[0], 0.5 * values[values > 0].min()))
        ticks.decades(axes.yaxis)
    else:
        axes.set_ylim(bottom=ticks.bottom([values]))
        ticks.linear(axes.yaxis)


def draw_shares(axes: Axes, panel: SharesPanel) -> None:
    """Draws columns of shares, with a word in each segment that has room for it."""
    for place, stack in enumerate(panel.stacks):
        color = np.array(to_rgb(style_of(stack.name).color))
        bottom = 0.0
        for number, (share, word) in enumerate(zip(stack.shares, stack.inscriptions, strict=True)):
            shade = tuple(color + (1 - color) * 0.85 * number / len(stack.shares))
            axes.bar(
                place,
                share,
                bottom=bottom,
                width=0.7,
                color=shade,
                edgecolor="white",
                linewidth=0.6,
            )
            if share > 0.07:
                middle = bottom + share / 2
                axes.text(place, middle, word, ha="center", va="center", color=ink(shade))
            bottom += share
    _name_places(axes, [stack.label for stack in panel.stacks])
    axes.set_ylim(0, 1)
    axes.set_ylabel(panel.label)
    dress(axes, panel.title, grid="y")
