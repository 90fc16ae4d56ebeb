"""Regret against time: means with 95 % bands, or points with error bars; of fewer than five seeds
the single runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from jaxduel.files import csv_text
from jaxduel.plotting import ticks
from jaxduel.plotting.lines import (
    End,
    draw_intervals,
    draw_runs,
    label_ends,
    marked,
    some_markers,
    spread_words,
)
from jaxduel.plotting.styles import Style, dress, looks_in
from jaxduel.plotting.ticks import Scale, scale_for
from jaxduel.plotting.words import FEW, policy_words, regret_words, seeds_words, steps_words
from jaxduel.stats import interval95

REGRET_LABELS = {
    "average": r"regret $R(t)=\sum\,(\epsilon_i+\epsilon_j)/2$",
    "copeland": "Copeland regret $R(t)$, normalised",
    "2 copeland": r"regret $\sum\,2\,\mathrm{cpld}_1-\mathrm{cpld}_i-\mathrm{cpld}_j$",
    "borda": "Borda regret $R(t)$",
    "binary weak": r"weak regret $R(t)=\sum\,\mathbf{1}[w\notin\{i,j\}]$",
    "binary strong": r"strong regret $R(t)=\sum\,\mathbf{1}[(i,j)\neq(w,w)]$",
    "pulls": "regret $R(t)$",
    "votes": "comparisons of two different arms",
    "weak": r"weak regret $R(t)=\sum\,\min(\epsilon_i,\epsilon_j)$",
}
"""Labels of the vertical axis, by definition of regret (behind a factor, where a paper's has one);
cumulative, in units of the gap; of binary ones, in comparisons."""

_REFERENCE_LOOKS = (("black", (0, (1, 1.5))), ("0.6", (0, (5, 1.5))), ("0.3", (0, (7, 2, 1, 2))))
"""Colours and line styles of reference lines, in order; a fourth looks like the first. Where lines
coincide the first is on top."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One policy's regret against time.

    Attributes:
      name: the policy, with parameters in brackets where it is a variant; it decides on the style.
        Variants of a policy have shades of its colour.
      label: text in the legend.
      times: (M,) comparisons made.
      mean, sem, std, median, q25, q75, lower95, upper95: (M,) over seeds, in units of the gap.
      num_seeds: number of seeds.
      separate: whether each time has runs of its own, to that horizon: drawn as points with error
        bars, not joined by a line.
      runs: (n, M) each seed's regret, where there are fewer than five: they are drawn in place of
        the interval.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import Curve
      >>> policy = jd.policies.make("rucb", num_arms=2, unseen=1)
      >>> problem = jd.problems.btl_from_weights([2, 1])
      >>> curve = Curve.from_result(jd.simulate(policy, problem, 100, num_seeds=8))
      >>> curve.label, int(curve.times[-1]), curve.num_seeds
      ('RUCB, unseen = 1', 100, 8)
    """

    name: str
    label: str
    times: np.ndarray
    mean: np.ndarray
    sem: np.ndarray
    std: np.ndarray
    median: np.ndarray
    q25: np.ndarray
    q75: np.ndarray
    lower95: np.ndarray
    upper95: np.ndarray
    num_seeds: int
    separate: bool = False
    runs: np.ndarray | None = None

    @classmethod
    def from_result(cls, result: Any, label: str | None = None) -> Curve:
        """The curve of a `jaxduel.Result`, with a Student t interval of the mean over its seeds.

        Name and label have the parameters and settings that are not at their defaults.
        """
        q25, median, q75 = result.quantile(np.array([0.25, 0.5, 0.75]))
        name, own = names_of(result.policy, result.changed)
        lower, upper = interval95(result.mean, result.sem, result.num_seeds)
        return cls(
            name=name,
            label=label or own,
            times=result.checkpoints,
            mean=result.mean,
            sem=result.sem,
            std=result.std,
            median=median,
            q25=q25,
            q75=q75,
            lower95=lower,
            upper95=upper,
            num_seeds=result.num_seeds,
            runs=few_runs(result.regret) if result.totals is None else None,
        )


def names_of(policy: str, changed: Mapping[str, str]) -> tuple[str, str]:
    """A policy with its changed parameters and settings: in brackets, and as text in a legend."""
    parts = ",".join(f"{name}={text}" for name, text in changed.items())
    return f"{policy}[{parts}]" if parts else policy, policy_words(policy, changed)


def few_runs(runs: np.ndarray) -> np.ndarray | None:
    """The runs, (n, M), if they are few enough to be drawn one by one, else None.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import few_runs
      >>> few_runs(np.zeros((4, 2))).shape, few_runs(np.zeros((5, 2)))
      ((4, 2), None)
    """
    return runs if 1 < len(runs) < FEW else None


@dataclass(frozen=True)
class Reference:
    """A reference line, such as a lower bound: a level, or one value per time.

    Example:
      >>> import numpy as np
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import Reference
      >>> constant = jd.theory.condorcet_lower_bound(jd.problems.load("arxiv"))
      >>> times = np.array([10, 100, 1000])
      >>> Reference("lower bound", constant * np.log(times), times).values.round(1)
      array([ 47.7,  95.5, 143.2])
    """

    label: str
    values: float | np.ndarray  # () or (M,)
    times: np.ndarray | None = None  # (M,), where there is more than one value


@dataclass(frozen=True)
class Panel:
    """One set of axes: curves, reference lines, scales, and the top of the axis of regret where
    curves may leave the picture above it. Without any regret its axis is linear.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.plotting import Curve, Panel, Reference
      >>> policy = jd.policies.make("sparring", num_arms=2)
      >>> result = jd.simulate(policy, jd.problems.btl_from_weights([2, 1]), 100, num_seeds=8)
      >>> panel = Panel(
      ...     [Curve.from_result(result)],
      ...     references=[Reference("one comparison", 0.5)],
      ...     definition=result.definition,
      ... )
      >>> panel.curves[0].label, panel.definition, panel.regret_scale
      ('Sparring', 'copeland', 'log')
    """

    curves: Sequence[Curve]
    title: str = ""
    references: Sequence[Reference] = ()
    definition: str = "average"
    time_scale: Scale = "linear"
    regret_scale: Scale = "log"
    top: float | None = None

    @property
    def up_scale(self) -> Scale:
        """The scale of the axis of regret: linear where there is none, as 0 has no logarithm."""
        return scale_for(self.regret_scale, (curve.mean for curve in self.curves))

    @property
    def about(self) -> str:
        """Regret and seeds in words."""
        seeds = {curve.num_seeds for curve in self.curves}
        words = seeds_words(seeds, spread_words(self.curves))
        return f"{regret_words(self.definition)}, {words}"


def draw(axes: Axes, panel: Panel, looks: Mapping[tuple[str, str], Style] | None = None) -> None:
    """Draws a panel: means, their 95 % intervals, and reference lines.

    Args:
      axes: the axes to draw on.
      panel: the panel to draw.
      looks: styles by name and label, shared with other panels; of this panel alone if None.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import COLUMNS, Curve, Figure, Panel, draw
      >>> numbers = dict.fromkeys(COLUMNS, np.array([3.0, 8.0]))  # all alike, for short
      >>> times = np.array([50, 100])
      >>> curve = Curve(name="dts", label="D-TS", times=times, num_seeds=20, **numbers)
      >>> axes = Figure().subplots()
      >>> draw(axes, Panel([curve], title="arxiv"))
      >>> axes.get_title(), axes.get_xlabel()
      ('arxiv', 'comparisons $t$')
    """
    floor = _floor(panel)
    looks = looks or looks_in(panel.curves)
    for position, curve in enumerate(panel.curves):
        paint = _draw_points if curve.separate else _draw_line
        paint(axes, curve, looks[curve.name, curve.label], floor, position)
    for position, reference in enumerate(panel.references):
        color, line = _REFERENCE_LOOKS[position % len(_REFERENCE_LOOKS)]
        look = {"color": color, "linestyle": line, "linewidth": 1.0, "zorder": 2 - 0.01 * position}
        if reference.times is None:
            axes.axhline(float(reference.values), label=reference.label, **look)  # type: ignore[arg-type]
        else:
            axes.plot(reference.times, reference.values, label=reference.label, **look)  # type: ignore[arg-type]
    _scale(axes, panel, floor)
    axes.set_ylabel(regret_label(panel.definition))
    dress(axes, panel.title)
    colors = [looks[curve.name, curve.label].color for curve in panel.curves]
    pairs = zip(panel.curves, colors, strict=True)
    label_ends(axes, [End(c.label, c.times[-1], c.mean[-1], color) for c, color in pairs])


def regret_label(definition: str, final: bool = False) -> str:
    """Label of the vertical axis for a definition of regret.

    Args:
      definition: a key of `REGRET_LABELS`, or another name.
      final: whether regret is that at the horizon.

    Example:
      >>> from jaxduel.plotting import regret_label
      >>> regret_label("copeland", final=True)
      'Copeland regret $R(T)$, normalised'
    """
    label = REGRET_LABELS.get(definition, f"{definition} regret $R(t)$")
    return label.replace("R(t)", "R(T)") if final else label


def _draw_line(axes: Axes, curve: Curve, look: Style, floor: float, position: int) -> None:
    axes.plot(
        curve.times,
        curve.mean,
        linestyle=look.line,
        linewidth=1.2,
        markevery=some_markers(curve.mean, 0.03 + 0.03 * (position % 6), 0.19),
        label=curve.label,
        zorder=3 + 0.01 * position,
        **marked(look),
    )
    if curve.runs is not None:
        draw_runs(axes, curve.times, curve.runs, look.color)
    elif np.isfinite(curve.lower95).any():
        lower, upper = np.maximum(curve.lower95, floor), np.maximum(curve.upper95, floor)
        draw_intervals(axes, curve.times, lower, upper, look.color, 0.13)


def _draw_points(axes: Axes, curve: Curve, look: Style, floor: float, position: int) -> None:
    lower = np.maximum(curve.lower95, 0.5 * floor)
    errors = np.nan_to_num(np.maximum([curve.mean - lower, curve.upper95 - curve.mean], 0))
    if curve.runs is not None:
        axes.plot(curve.times, curve.runs.T, ".", color=look.color, markersize=2.5, zorder=2.5)
    axes.errorbar(
        curve.times,
        curve.mean,
        yerr=errors if curve.runs is None else None,
        linestyle="none",
        elinewidth=0.8,
        label=curve.label,
        zorder=3 + 0.01 * position,
        **marked(look),
    )


def _floor(panel: Panel) -> float:
    """Lower end of the axis of regret: that of a linear one, or below every line at an early
    time, the first if that of time is logarithmic, too."""
    if panel.up_scale == "linear":
        return ticks.bottom(curve.mean for curve in panel.curves)
    linear, curves = panel.time_scale == "linear", panel.curves
    early = max(c.times[-1] for c in curves) / 100 if linear else min(c.times[0] for c in curves)
    values = [np.interp(early, curve.times, curve.mean) for curve in curves]
    for line in panel.references:
        level = line.values if line.times is None else np.interp(early, line.times, line.values)
        values.append(np.float64(level))
    positive = [value for value in values if value > 0]
    positive = positive or [c.mean[c.mean > 0].min() for c in curves if (c.mean > 0).any()]
    return 0.6 * float(min(positive))


def _scale(axes: Axes, panel: Panel, floor: float) -> None:
    end = max(int(curve.times[-1]) for curve in panel.curves)
    alone = any(curve.separate or len(curve.times) == 1 for curve in panel.curves)
    room = 1.15 if alone else 1.0  # for whole markers
    axes.set_yscale(panel.up_scale)
    axes.set_ylim(bottom=floor, top=panel.top)
    if panel.up_scale == "log":
        ticks.decades(axes.yaxis, 8)
    else:
        ticks.linear(axes.yaxis)
    axes.set_xscale(panel.time_scale)
    if panel.time_scale == "log":
        begin = ticks.begin([(curve.times, curve.mean) for curve in panel.curves], floor)
        ticks.span(axes, begin, end, room)
        if begin < end:
            ticks.decades(axes.xaxis, 8)
    else:
        axes.set_xlim(0, end * room)
        ticks.linear(axes.xaxis)
    axes.set_xlabel(f"{steps_words(panel.definition)} $t$")


COLUMNS = ("mean", "sem", "std", "median", "q25", "q75", "lower95", "upper95")
"""Columns of a curve's table besides policy, t and number of seeds."""


def rows_of(curve: Curve) -> list[tuple[Any, ...]]:
    """A row for each time: t, the `COLUMNS` and the number of seeds."""
    columns = (np.asarray(getattr(curve, name)).tolist() for name in ("times", *COLUMNS))
    return [(*row, curve.num_seeds) for row in zip(*columns, strict=True)]


def table(curves: Sequence[Curve], references: Sequence[Reference] = ()) -> str:
    """The numbers of curves as CSV: one line per policy and time, floats to the last bit.

    Reference lines follow, their values in the column of means; a level has no t.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import COLUMNS, Curve, table
      >>> numbers = dict.fromkeys(COLUMNS, np.array([3.0, 8.0]))  # all alike, for short
      >>> times = np.array([50, 100])
      >>> curve = Curve(name="dts", label="D-TS", times=times, num_seeds=20, **numbers)
      >>> print(table([curve]))
      policy,t,mean,sem,std,median,q25,q75,lower95,upper95,num_seeds
      dts,50,3.0,3.0,3.0,3.0,3.0,3.0,3.0,3.0,20
      dts,100,8.0,8.0,8.0,8.0,8.0,8.0,8.0,8.0,20
    """
    rows: list[Any] = [(curve.name, *row) for curve in curves for row in rows_of(curve)]
    for line in references:
        times = [""] if line.times is None else np.asarray(line.times).tolist()
        values = np.atleast_1d(np.asarray(line.values, np.float64)).tolist()
        pairs = zip(times, values, strict=True)
        rows += [(line.label, *pair, *[""] * len(COLUMNS)) for pair in pairs]
    return csv_text(["policy", "t", *COLUMNS, "num_seeds"], rows)
