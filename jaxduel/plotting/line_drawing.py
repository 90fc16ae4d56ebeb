"""Drawing of panels of lines: means with 95 % bands, or points with error bars; single runs if
there are fewer than five seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from jaxduel.plotting import ticks
from jaxduel.plotting.line import Line, LinePanel
from jaxduel.plotting.marks import (
    End,
    draw_intervals,
    draw_seeds,
    label_ends,
    marked,
    some_markers,
)
from jaxduel.plotting.styles import Style, dress, looks_in, style_of

_REFERENCE_LOOKS = (("black", (0, (1, 1.5))), ("0.6", (0, (5, 1.5))), ("0.3", (0, (7, 2, 1, 2))))
"""Colours and line styles of reference lines, in order; a fourth looks like the first. Where lines
coincide the first is on top."""
_RULES = ("-", (0.0, (5.0, 1.2)), (0.0, (1.2, 1.0)), (0.0, (4.0, 1.2, 1.0, 1.2)))
"""Line styles of rules, in the order in which they come."""
_MOST_TICKS = 10
"""Up to about this many tried values get a tick each."""


class _Look(NamedTuple):
    """Markers and bands of the lines of a panel."""

    start: float  # share of the axes before the first of few markers
    cycle: int  # lines until one has its markers in the places of the first again
    step: float  # share of the axes between two markers
    alpha: float  # opacity of bands


_LOOKS = {
    "time": _Look(0.03, 6, 0.19, 0.13),
    "varied": _Look(0.04, 5, 0.24, 0.18),
    "votes": _Look(0.03, 6, 0.19, 0.13),
}


def draw_on(
    axes: Axes,
    panel: LinePanel,
    looks: Mapping[tuple[str, str], Style] | None = None,
    rules: Sequence[str] | None = None,
) -> None:
    """Draws a panel: means, their 95 % intervals, and references.

    Args:
      axes: the axes to draw on.
      panel: the panel to draw.
      looks: styles by name and label, shared with other panels; None: styles for this panel alone.
      rules: rules of all panels; None: the rules of this panel.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import Figure, Line, draw_on, regret_panel
      >>> ends = np.array([3.0, 8.0])
      >>> line = Line(
      ...     name="dts", label="D-TS", at=np.array([50, 100]),
      ...     mean=ends, lower95=ends, upper95=ends,
      ... )
      >>> axes = Figure().subplots()
      >>> draw_on(axes, regret_panel([line], title="arxiv"))
      >>> axes.get_title(), axes.get_xlabel()
      ('arxiv', 'comparisons $t$')
    """
    looks = looks or looks_in(panel.lines)
    rules = rules_of([panel]) if rules is None else rules
    floor = _floor(panel) if panel.kind == "time" else -np.inf
    draw_lines(axes, panel, looks, floor, rule_lines(rules))
    _draw_references(axes, panel)
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    if panel.kind == "votes":
        _draw_rules(axes, rules)
        _scale_votes(axes, panel)
        dress(axes, panel.title)
        return
    if panel.kind == "time":
        _scale_time(axes, panel, floor)
    else:
        _scale_varied(axes, panel)
    dress(axes, panel.title)
    label_lines(axes, panel.lines, looks)


def draw_lines(
    axes: Axes,
    panel: LinePanel,
    looks: Mapping[tuple[str, str], Style],
    floor: float = -np.inf,
    rules: Mapping[str, Any] | None = None,
) -> None:
    """Draws the lines of a panel with their 95 % intervals, cut at the floor; single runs if seeds
    are few. Line styles are those of `rules`, if given."""
    labelled: set[tuple[str, str]] = set()
    how = _LOOKS[panel.kind]
    for position, line in enumerate(panel.lines):
        look, key = looks[line.name, line.label], (line.name, line.label)
        if line.separate:
            _draw_points(axes, line, look, floor, position)
            continue
        style: dict[str, Any] = {"color": look.color} if line.level else marked(look)
        if line.dense or panel.kind != "varied":
            start = how.start + 0.03 * (position % how.cycle)
            style["markevery"] = some_markers(line.mean, start, how.step)
        axes.plot(
            line.at,
            line.mean,
            linestyle=(rules or {}).get(line.rule, look.line),
            linewidth=1.2,
            label=None if line.rule and key in labelled else line.label,
            zorder=3 + 0.01 * position,
            **style,
        )
        labelled.add(key)
        if line.seeds is not None:
            draw_seeds(axes, line.at, line.seeds, look.color)
        elif np.isfinite(line.lower95).any():
            lower, upper = np.maximum(line.lower95, floor), np.maximum(line.upper95, floor)
            draw_intervals(axes, line.at, lower, upper, look.color, how.alpha)


def label_lines(axes: Axes, lines: Sequence[Line], looks: Mapping[tuple[str, str], Style]) -> None:
    """Labels coinciding ends of the lines that go farthest."""
    ends = [End(c.label, c.at[-1], c.mean[-1], looks[c.name, c.label].color) for c in lines]
    label_ends(axes, ends)


def rules_of(panels: Iterable[LinePanel]) -> list[str]:
    """The rules of the lines of some panels, in order."""
    return list(dict.fromkeys(line.rule for panel in panels for line in panel.lines))


def rule_lines(rules: Sequence[str]) -> dict[str, Any]:
    """The line style of each rule; empty for a single rule, so that policies keep their own."""
    return {} if len(rules) == 1 else dict(zip(rules, _RULES * len(rules), strict=False))


def _draw_points(axes: Axes, line: Line, look: Style, floor: float, position: int) -> None:
    lower = np.maximum(line.lower95, 0.5 * floor)
    errors = np.nan_to_num(np.maximum([line.mean - lower, line.upper95 - line.mean], 0))
    if line.seeds is not None:
        axes.plot(line.at, line.seeds.T, ".", color=look.color, markersize=2.5, zorder=2.5)
    axes.errorbar(
        line.at,
        line.mean,
        yerr=errors if line.seeds is None else None,
        linestyle="none",
        elinewidth=0.8,
        label=line.label,
        zorder=3 + 0.01 * position,
        **marked(look),
    )


def _draw_references(axes: Axes, panel: LinePanel) -> None:
    for position, reference in enumerate(panel.references):
        color, line = _REFERENCE_LOOKS[position % len(_REFERENCE_LOOKS)]
        look: dict[str, Any] = {"color": color, "linestyle": line, "linewidth": 1.0}
        look["zorder"] = 2 - 0.01 * position
        if panel.kind == "votes":
            look |= {"color": "0.4", "linestyle": (0, (1, 1.5)), "linewidth": 0.8, "zorder": 2}
        if reference.name:
            own = style_of(reference.name)
            look = {"color": own.color, "linestyle": own.line, "linewidth": 0.7, "zorder": 2}
        if reference.at is None:
            axes.axhline(float(reference.values), label=reference.label, **look)
        else:
            axes.plot(reference.at, reference.values, label=reference.label, **look)


def _draw_rules(axes: Axes, rules: Sequence[str]) -> None:
    """Names the rules: several in the legend, a single one in the label of the axis."""
    for rule, line in rule_lines(rules).items():
        axes.plot([], [], color="0.3", linestyle=line, linewidth=1.2, label=f"by {rule}")
    if len(rules) == 1 and rules[0]:
        axes.set_ylabel(axes.get_ylabel().removesuffix(")") + f" by {rules[0]})")


def _floor(panel: LinePanel) -> float:
    """Lower end of the axis of regret. A logarithmic axis begins below every line at an early time,
    which is the first one if time is logarithmic, too."""
    if panel.drawn_scale == "linear":
        return ticks.bottom(line.mean for line in panel.lines)
    linear, lines = panel.across_scale == "linear", panel.lines
    early = max(c.at[-1] for c in lines) / 100 if linear else min(c.at[0] for c in lines)
    values = [np.interp(early, line.at, line.mean) for line in lines]
    for line in panel.references:
        level = line.values if line.at is None else np.interp(early, line.at, line.values)
        values.append(np.float64(level))
    positive = [value for value in values if value > 0]
    positive = positive or [c.mean[c.mean > 0].min() for c in lines if (c.mean > 0).any()]
    return 0.6 * float(min(positive))


def _scale_time(axes: Axes, panel: LinePanel, floor: float) -> None:
    end = max(int(line.at[-1]) for line in panel.lines)
    alone = any(line.separate or len(line.at) == 1 for line in panel.lines)
    room = 1.15 if alone else 1.0  # for whole markers
    axes.set_yscale(panel.drawn_scale)
    axes.set_ylim(bottom=floor, top=panel.top)
    if panel.drawn_scale == "log":
        ticks.decades(axes.yaxis, 8)
    else:
        ticks.linear(axes.yaxis)
    axes.set_xscale(panel.across_scale)
    if panel.across_scale == "log":
        begin = ticks.begin([(line.at, line.mean) for line in panel.lines], floor)
        ticks.span(axes, begin, end, room)
        if begin < end:
            ticks.decades(axes.xaxis, 8)
    else:
        axes.set_xlim(0, end * room)
        ticks.linear(axes.xaxis)


def _scale_varied(axes: Axes, panel: LinePanel) -> None:
    axes.set_xscale(panel.across_scale)
    values = np.unique(np.concatenate([line.at for line in panel.lines]))
    log = panel.across_scale == "log"
    if panel.names:
        ticks.at_names(axes, panel.names)
    elif len(values) <= _MOST_TICKS or not log:
        places = np.log(values) if log else values
        ticks.at_values(axes.xaxis, values.tolist(), places.tolist(), 1 / _MOST_TICKS)
    else:
        ticks.decades(axes.xaxis)
    axes.set_yscale(panel.drawn_scale)
    if panel.drawn_scale == "linear":
        axes.set_ylim(bottom=ticks.bottom(line.mean for line in panel.lines))
        ticks.linear(axes.yaxis)
        return
    low, high = np.log10(axes.get_ylim())
    if high - low < ticks.LEAST_DECADES:
        axes.set_ylim(10 ** np.floor(low), 10 ** np.ceil(high))
    ticks.decades(axes.yaxis)


def _scale_votes(axes: Axes, panel: LinePanel) -> None:
    votes = np.concatenate([line.at for line in panel.lines])
    first = votes[votes > 0].min(initial=max(votes.max(), 1))
    if votes.min() == 0:  # up to the first checkpoint linear
        axes.set_xscale("symlog", linthresh=first)
    else:
        axes.set_xscale("log")
    ticks.span(axes, votes.min(), votes.max())
    axes.set_ylim(0, 1.02)
