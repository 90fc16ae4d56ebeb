"""A number per policy against a varied quantity: batches, arms, the horizon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from jaxduel.plotting import ticks
from jaxduel.plotting.lines import End, draw_intervals, draw_runs, label_ends, marked, some_markers
from jaxduel.plotting.styles import Style, dress, style_of
from jaxduel.plotting.ticks import Scale, scale_for

_MOST_TICKS = 10
"""About so many values that were tried get a tick each."""


@dataclass(frozen=True, kw_only=True)
class SweepCurve:
    """One policy's number against a varied quantity.

    Attributes:
      name: the policy, which decides on the style.
      label: text in the legend.
      at: (N,) the values that were tried, increasing.
      mean, lower95, upper95: (N,) the number and its 95 % interval; NaN where there is none.
      level: whether the number does not depend on the varied quantity: a line without markers.
      dense: whether there are many points, of which few have markers.
      runs: (n, N) each seed's number, where there are fewer than five seeds; NaN where it is not
        known. They are drawn in place of the band.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import SweepCurve
      >>> mean = np.array([900.0, 210.0, 120.0])
      >>> curve = SweepCurve(
      ...     name="pcomp", label="PCOMP", at=np.array([2, 4, 8]),
      ...     mean=mean, lower95=0.9 * mean, upper95=1.1 * mean,
      ... )
      >>> int(curve.at[curve.mean.argmin()])
      8
    """

    name: str
    label: str
    at: np.ndarray
    mean: np.ndarray
    lower95: np.ndarray
    upper95: np.ndarray
    level: bool = False
    dense: bool = False
    runs: np.ndarray | None = None


@dataclass(frozen=True)
class SweepBound:
    """A reference curve, computed rather than simulated.

    Attributes:
      name: the policy that it is for; it has that one's colour and line, thin and without markers.
      label: text in the legend.
      at, values: (N,) values of the varied quantity, and the curve there.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import SweepBound
      >>> batches = np.array([2, 4, 8])
      >>> SweepBound("pcomp", "its growth", batches, 10_000 ** (1 / batches)).values.round(1)
      array([100. ,  10. ,   3.2])
    """

    name: str
    label: str
    at: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, kw_only=True)
class SweepPanel:
    """One set of axes: curves, reference curves, labels and scales; `about` has regret and seeds in
    words.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import SweepCurve, SweepPanel
      >>> batches, mean = np.array([2, 4, 8]), np.array([900.0, 210.0, 120.0])
      >>> curve = SweepCurve(
      ...     name="pcomp", label="PCOMP", at=batches,
      ...     mean=mean, lower95=0.9 * mean, upper95=1.1 * mean,
      ... )
      >>> panel = SweepPanel(curves=[curve], across="batches", up="regret at T", up_scale="log")
      >>> panel.across_scale, panel.up_scale
      ('linear', 'log')
    """

    curves: Sequence[SweepCurve]
    bounds: Sequence[SweepBound] = ()
    title: str = ""
    across: str = ""
    up: str = ""
    across_scale: Scale = "linear"
    up_scale: Scale = "linear"
    about: str = ""

    @property
    def drawn_scale(self) -> Scale:
        """The scale of the vertical axis: linear if no number is above 0."""
        return scale_for(self.up_scale, (curve.mean for curve in self.curves))


def draw_sweep(axes: Axes, panel: SweepPanel, looks: Mapping[tuple[str, str], Style]) -> None:
    """Draws a panel: means joined by lines, their 95 % bands, and reference curves; looks are by
    name and label."""
    own = [looks[curve.name, curve.label] for curve in panel.curves]
    draw_curves(axes, panel.curves, own)
    for bound in panel.bounds:
        look = style_of(bound.name)
        axes.plot(
            bound.at,
            bound.values,
            color=look.color,
            linestyle=look.line,
            linewidth=0.7,
            label=bound.label,
            zorder=2,
        )
    _scale(axes, panel)
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    dress(axes, panel.title)
    label_curves(axes, panel.curves, own)


def draw_curves(
    axes: Axes, curves: Sequence[SweepCurve], looks: Sequence[Style], floor: float = -np.inf
) -> None:
    """Draws means joined by lines, and their 95 % intervals, which end at the floor; of few seeds
    the runs themselves."""
    for position, (curve, look) in enumerate(zip(curves, looks, strict=True)):
        style: dict[str, Any] = {"color": look.color} if curve.level else marked(look)
        if curve.dense:
            style["markevery"] = some_markers(curve.mean, 0.04 + 0.03 * (position % 5), 0.24)
        axes.plot(
            curve.at,
            curve.mean,
            linestyle=look.line,
            linewidth=1.2,
            label=curve.label,
            zorder=3 + 0.01 * position,
            **style,
        )
        if curve.runs is not None:
            draw_runs(axes, curve.at, curve.runs, look.color)
        elif np.isfinite(curve.lower95).any():
            lower = np.maximum(curve.lower95, floor)
            draw_intervals(axes, curve.at, lower, curve.upper95, look.color, 0.18)


def label_curves(axes: Axes, curves: Sequence[SweepCurve], looks: Sequence[Style]) -> None:
    """Labels the ends that coincide of curves that reach the end of the axis."""
    pairs = zip(curves, looks, strict=True)
    label_ends(axes, [End(c.label, c.at[-1], c.mean[-1], look.color) for c, look in pairs])


def _scale(axes: Axes, panel: SweepPanel) -> None:
    axes.set_xscale(panel.across_scale)
    values = np.unique(np.concatenate([curve.at for curve in panel.curves]))
    log = panel.across_scale == "log"
    if len(values) <= _MOST_TICKS or not log:
        places = np.log(values) if log else values
        ticks.at_values(axes.xaxis, values.tolist(), places.tolist(), 1 / _MOST_TICKS)
    else:
        ticks.decades(axes.xaxis)
    axes.set_yscale(panel.drawn_scale)
    if panel.drawn_scale == "linear":
        axes.set_ylim(bottom=ticks.bottom(curve.mean for curve in panel.curves))
        ticks.linear(axes.yaxis)
        return
    low, high = np.log10(axes.get_ylim())
    if high - low < ticks.LEAST_DECADES:
        axes.set_ylim(10 ** np.floor(low), 10 ** np.ceil(high))
    ticks.decades(axes.yaxis)
