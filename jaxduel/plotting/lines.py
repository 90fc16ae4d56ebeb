"""Parts of curves: markers, 95 % intervals, single runs, and how these are drawn, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from jaxduel.plotting.styles import Style

_RUNS = ("thin lines: single seeds", "dots: single seeds", "dots: single seeds at $T$")
_MARKER_SIZES = {"*": 6.0, "P": 4.4, "X": 4.4, "<": 4.0, ">": 4.0, "^": 3.8, "v": 3.8, ".": 5.0}
"""Points: markers that would look smaller than the others are drawn larger."""


def marked(look: Style) -> dict[str, Any]:
    """Colour and marker of a style, as matplotlib's keywords."""
    return {
        "color": look.color,
        "marker": look.marker,
        "markersize": _MARKER_SIZES.get(look.marker, 3.4),
        "markeredgewidth": 0.35,
        "markeredgecolor": "white",
    }


def some_markers(values: np.ndarray, start: float, step: float) -> tuple[float, float] | None:
    """Matplotlib's `markevery` for a few markers along a line, in shares of the axes: at a single
    known value one there."""
    return (start, step) if np.isfinite(values).sum() > 1 else None


def draw_intervals(
    axes: Axes, times: np.ndarray, lower: np.ndarray, upper: np.ndarray, color: str, alpha: float
) -> None:
    """Draws 95 % intervals as a band, or a single one as a bar; NaN where there is none."""
    if _is_single(lower + upper):
        axes.vlines(times, lower, upper, color=color, linewidth=0.8)
    else:
        axes.fill_between(times, lower, upper, color=color, alpha=alpha, linewidth=0)


def draw_runs(axes: Axes, times: np.ndarray, runs: np.ndarray, color: str) -> None:
    """Draws single runs as thin lines; where only the end of one is known, as a dot."""
    for run in runs:
        alone = _is_single(run)
        axes.plot(
            times,
            run,
            color=color,
            linewidth=0.5,
            alpha=0.75,
            marker="." if alone else None,
            markersize=3.0,
            clip_on=not alone,
            in_layout=False,  # on a logarithmic axis a run without regret is far below
            zorder=2.5,
        )


def spread_words(curves: Iterable[Any], of: str = " of the mean") -> str:
    """Words for the spread over the seeds of curves as it is drawn: bands, bars, thin lines, dots.

    Args:
      curves: with `lower95` and `upper95`, and maybe `runs` and `separate`, as in `Curve`.
      of: behind "95 %", the number whose interval it is.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import SweepCurve, spread_words
      >>> mean = np.array([900.0, 210.0])
      >>> curve = SweepCurve(
      ...     name="pcomp", label="PCOMP", at=np.array([2, 4]),
      ...     mean=mean, lower95=0.9 * mean, upper95=1.1 * mean,
      ... )
      >>> spread_words([curve])
      'bands: 95 % of the mean'
    """
    words = dict.fromkeys((f"bands: 95 %{of}", f"bars: 95 %{of}", *_RUNS), False)
    band, bar, lines, dots, end_dots = words
    for curve in curves:
        points, runs = getattr(curve, "separate", False), getattr(curve, "runs", None)
        ends = curve.lower95 + curve.upper95
        if runs is None:
            words[bar if points or _is_single(ends) else band] |= bool(np.isfinite(ends).any())
        elif points or not all(map(_is_single, runs)):
            words[dots if points else lines] = True
        else:
            words[end_dots if runs.shape[1] > 1 else dots] = True
    return ", ".join(word for word, there in words.items() if there)


def _is_single(values: np.ndarray) -> bool:
    """True if one number alone is known."""
    return np.isfinite(values).sum() == 1
