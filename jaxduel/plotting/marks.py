"""Parts of lines: markers, 95 % intervals, single seeds, a description of these in words, and
labels of ends that are too close to distinguish."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from jaxduel.plotting.styles import Style
from jaxduel.plotting.words import length

_RUNS = ("thin lines: single seeds", "dots: single seeds", "dots: single seeds at $T$")
_MARKER_SIZES = {"*": 6.0, "P": 4.4, "X": 4.4, "<": 4.0, ">": 4.0, "^": 3.8, "v": 3.8, ".": 5.0}
"""Points: markers that would look smaller than the others are drawn larger."""
_CLOSE = 0.022
"""Lines whose ends are nearer than this share of the axis are taken to coincide."""
_LONGEST = 20
"""Letters: longer labels would make the axes too narrow, and are left out."""
_SIZE = 5.5
"""Points: the labels' letters."""
_STEP = 0.066
"""Share of the axis that a label takes."""


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
    """Matplotlib's `markevery` for a few markers along a line, in shares of the axes; None, every
    point, for a single known value."""
    return (start, step) if np.isfinite(values).sum() > 1 else None


def draw_intervals(
    axes: Axes, times: np.ndarray, lower: np.ndarray, upper: np.ndarray, color: str, alpha: float
) -> None:
    """Draws 95 % intervals as a band, or a single one as a bar; NaN where there is none."""
    if _is_single(lower + upper):
        axes.vlines(times, lower, upper, color=color, linewidth=0.8)
    else:
        axes.fill_between(times, lower, upper, color=color, alpha=alpha, linewidth=0)


def draw_seeds(axes: Axes, times: np.ndarray, seeds: np.ndarray, color: str) -> None:
    """Draws single seeds as thin lines, or as a dot if only the end is known."""
    for run in seeds:
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


def spread_words(lines: Iterable[Any], of: str = " of the mean") -> str:
    """Words for the drawn spread over the seeds of lines: bands, bars, thin lines, dots.

    Args:
      lines: each a `Line`.
      of: text after "95 %": the number whose interval is drawn.

    Example:
      >>> import numpy as np
      >>> from jaxduel.plotting import Line, spread_words
      >>> mean = np.array([900.0, 210.0])
      >>> line = Line(
      ...     name="pcomp", label="PCOMP", at=np.array([2, 4]),
      ...     mean=mean, lower95=0.9 * mean, upper95=1.1 * mean,
      ... )
      >>> spread_words([line])
      'bands: 95 % of the mean'
    """
    words = dict.fromkeys((f"bands: 95 %{of}", f"bars: 95 %{of}", *_RUNS), False)
    band, bar, thin, dots, end_dots = words
    for line in lines:
        ends, seeds = line.lower95 + line.upper95, line.seeds
        if seeds is None:
            words[bar if line.separate or _is_single(ends) else band] |= bool(
                np.isfinite(ends).any()
            )
        elif line.separate or not all(map(_is_single, seeds)):
            words[dots if line.separate else thin] = True
        else:
            words[end_dots if seeds.shape[1] > 1 else dots] = True
    return ", ".join(word for word, there in words.items() if there)


def _is_single(values: np.ndarray) -> bool:
    """True if exactly one number is known."""
    return np.isfinite(values).sum() == 1


class End(NamedTuple):
    """The end of a line: its place on the horizontal axis, and its height."""

    label: str
    at: float
    value: float
    color: str


def label_ends(axes: Axes, ends: Sequence[End]) -> None:
    """Labels coinciding ends of the lines that go farthest, in the order of their values, each with
    a line to its end. The limits of the axes must be final.

    Example:
      >>> from matplotlib.figure import Figure
      >>> from jaxduel.plotting.marks import End, label_ends
      >>> axes = Figure().subplots()
      >>> ends = [End("D-TS", 1, 0.5, "red"), End("RUCB", 1, 0.501, "blue")]
      >>> label_ends(axes, [*ends, End("BTM", 1, 0.9, "black"), End("SCB", 0.9, 0.5, "green")])
      >>> [text.get_text() for text in axes.texts]
      ['D-TS', 'RUCB']
    """
    to_share = axes.transScale + axes.transLimits
    right = axes.get_xlim()[1]
    last = max(end.at for end in ends)
    known = [end for end in ends if end.at == last and np.isfinite(end.value)]
    heights = [float(to_share.transform((right, end.value))[1]) for end in known]
    inside = sorted((h, i) for i, h in enumerate(heights) if 0 <= h <= 1)
    if not inside:
        return
    near = [b[0] - a[0] < _CLOSE for a, b in itertools.pairwise(inside)]
    alike = [
        one for one, a, b in zip(inside, [False, *near], [*near, False], strict=True) if a or b
    ]
    if any(length(known[i].label) > _LONGEST for _, i in alike):
        return
    places = spread([height for height, _ in alike], _STEP)
    for (height, i), place in zip(alike, places, strict=True):
        axes.annotate(
            known[i].label,
            xy=(1.0, height),
            xytext=(1.05, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            fontsize=_SIZE,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": known[i].color, "linewidth": 0.7,
                        "relpos": (0.0, 0.5), "shrinkA": 0.5, "shrinkB": 0.0},
        )  # fmt: skip


def spread(heights: Sequence[float], step: float) -> list[float]:
    """Places at least a step apart, in order, as near as possible to increasing heights: neighbours
    that would overlap form a block around the mean of their heights.

    Example:
      >>> from jaxduel.plotting.marks import spread
      >>> [round(place, 2) for place in spread([0.5, 0.5, 0.9], 0.1)]
      [0.45, 0.55, 0.9]
    """
    blocks: list[list[float]] = []  # mean and size, of heights less the steps below
    for number, height in enumerate(heights):
        blocks.append([height - number * step, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, size = blocks.pop()
            before, more = blocks[-1]
            blocks[-1] = [(mean * size + before * more) / (size + more), size + more]
    flat = np.array([mean for mean, size in blocks for _ in range(int(size))])
    most = max(0.0, 1 - (len(heights) - 1) * step)
    return (np.clip(flat, 0, most) + step * np.arange(len(heights))).tolist()
