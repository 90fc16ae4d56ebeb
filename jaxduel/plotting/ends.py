"""Labels at the ends of lines that end too close to each other to be told apart."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from jaxduel.plotting.words import length

_CLOSE = 0.022
"""Lines whose ends are nearer than this share of the axis are taken to coincide."""
_LONGEST = 20
"""Letters: with a longer label the axes would be too narrow, and there are none."""
_SIZE = 5.5
"""Points: the labels' letters."""
_STEP = 0.066
"""Share of the axis that a label takes."""


class End(NamedTuple):
    """The end of a line: where it is on the horizontal axis, and its height there."""

    label: str
    at: float
    value: float
    color: str


def label_ends(axes: Axes, ends: Sequence[End]) -> None:
    """Writes labels beside the ends that coincide with others, of the lines that go farthest, in
    the order of their values, each with a line to its end. The limits of the axes must be final.

    Example:
      >>> from matplotlib.figure import Figure
      >>> from jaxduel.plotting.ends import End, label_ends
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
    """Places at least a step apart, in order, as near as possible to increasing heights: where they
    would overlap, a block of neighbours is centred on the mean of theirs.

    Example:
      >>> from jaxduel.plotting.ends import spread
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
