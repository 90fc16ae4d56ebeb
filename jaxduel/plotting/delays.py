"""Regret against the delay of feedback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from jaxduel.plotting.curves import Scale, marked, regret_label
from jaxduel.plotting.styles import dress, style_of


@dataclass(frozen=True, kw_only=True)
class DelayCurve:
    """One policy's regret at the horizon against the delay.

    Attributes:
      name: the policy, which decides on the style.
      label: text in the legend.
      delays: (D,) comparisons after which outcomes reach the policy.
      mean, lower95, upper95: (D,) over runs, in units of the gap.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import DelayCurve
      >>> mean = np.array([40.0, 44.0, 70.0])
      >>> curve = DelayCurve(
      ...     name="dts", label="D-TS", delays=np.array([1, 10, 100]),
      ...     mean=mean, lower95=mean - 2, upper95=mean + 2,
      ... )
      >>> print(curve.upper95 - curve.lower95)
      [4. 4. 4.]
    """

    name: str
    label: str
    delays: np.ndarray
    mean: np.ndarray
    lower95: np.ndarray
    upper95: np.ndarray


@dataclass(frozen=True)
class DelayPanel:
    """One set of axes: regret at the horizon against the delay, on a logarithmic axis.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import DelayCurve, DelayPanel
      >>> delays, mean = np.array([1, 10, 100]), np.array([40.0, 44.0, 70.0])
      >>> curve = DelayCurve(
      ...     name="dts", label="D-TS", delays=delays, mean=mean, lower95=mean - 2, upper95=mean + 2
      ... )
      >>> DelayPanel([curve], title="arxiv").regret_scale
      'linear'
    """

    curves: Sequence[DelayCurve]
    title: str = ""
    definition: str = "average"
    regret_scale: Scale = "linear"


def draw_delays(axes: Axes, panel: DelayPanel) -> None:
    """Draws a panel: means joined by lines, with 95 % error bars."""
    for position, curve in enumerate(panel.curves):
        errors = np.maximum([curve.mean - curve.lower95, curve.upper95 - curve.mean], 0)
        axes.errorbar(
            curve.delays,
            curve.mean,
            yerr=np.nan_to_num(errors),
            linestyle=style_of(curve.name).line,
            linewidth=1.2,
            elinewidth=0.8,
            capsize=1.5,
            label=curve.label,
            zorder=3 + 0.01 * position,
            **marked(curve.name),
        )
    axes.set_xscale("log")
    axes.set_yscale(panel.regret_scale)
    if panel.regret_scale == "linear":
        axes.set_ylim(bottom=0)
    axes.set_xlabel("delay $d$ (comparisons)")
    axes.set_ylabel(regret_label(panel.definition).replace("R(t)", "R(T)"))
    dress(axes, panel.title)
