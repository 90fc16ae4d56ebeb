"""A number per policy against a varied quantity: batches, arms, the horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from jaxduel.plotting.curves import Scale, marked
from jaxduel.plotting.styles import Style, dress, style_of

_MOST_TICKS = 8
"""Most values on a linear axis that get a tick each; of more, matplotlib chooses."""
_LEAST_DECADES = 2.0
"""Logarithmic axes of numbers that span less begin and end with whole decades."""


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
    """One set of axes: curves, reference curves, labels and scales.

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


def draw_sweep(axes: Axes, panel: SweepPanel) -> None:
    """Draws a panel: means joined by lines, their 95 % bands, and reference curves."""
    draw_curves(axes, panel.curves, [style_of(curve.name) for curve in panel.curves])
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


def draw_curves(
    axes: Axes, curves: Sequence[SweepCurve], looks: Sequence[Style], floor: float = -np.inf
) -> None:
    """Draws means joined by lines, and their 95 % bands, which end at the floor."""
    for position, (curve, look) in enumerate(zip(curves, looks, strict=True)):
        style: dict[str, Any] = {"color": look.color} if curve.level else marked(look)
        axes.plot(
            curve.at,
            curve.mean,
            linestyle=look.line,
            linewidth=1.2,
            markevery=(0.04 + 0.03 * (position % 5), 0.24) if curve.dense else None,
            label=curve.label,
            zorder=3 + 0.01 * position,
            **style,
        )
        if np.isfinite(curve.lower95).any():
            lower = np.maximum(curve.lower95, floor)
            axes.fill_between(
                curve.at, lower, curve.upper95, color=look.color, alpha=0.18, linewidth=0
            )


def _scale(axes: Axes, panel: SweepPanel) -> None:
    axes.set_xscale(panel.across_scale)
    values = np.unique(np.concatenate([curve.at for curve in panel.curves]))
    if panel.across_scale == "linear" and len(values) <= _MOST_TICKS:
        axes.xaxis.set_major_locator(FixedLocator(values.tolist()))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yscale(panel.up_scale)
    if panel.up_scale == "linear":
        axes.set_ylim(bottom=0)
        axes.ticklabel_format(axis="y", scilimits=(-3, 4), useMathText=True)
        return
    low, high = np.log10(axes.get_ylim())
    if high - low < _LEAST_DECADES:
        axes.set_ylim(10 ** np.floor(low), 10 ** np.ceil(high))
