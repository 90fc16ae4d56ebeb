"""Ticks in one style: powers of ten on logarithmic axes, few plain numbers on linear ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    FuncFormatter,
    LogFormatterSciNotation,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from jaxduel.plotting.words import number

ROOM = 0.17
"""Ticks nearer to each other than this share of the axis are left out."""
LEAST_DECADES = 2.0
"""Logarithmic axes of numbers that span less begin and end with whole decades."""
_WIDE = 20.0
_NAME_LETTERS = 28
"""Letters of names that have room side by side below a panel."""

Scale = Literal["linear", "log"]


def is_wide(low: float, high: float) -> bool:
    """True if a logarithmic scale suits numbers between two ends: they are positive, and span more
    than a factor of 20."""
    return bool(low > 0 and high > _WIDE * low)


def scale_for(asked: Scale, values: Iterable[np.ndarray]) -> Scale:
    """The scale asked for; linear if no value is positive, as 0 has no logarithm."""
    return asked if any((some > 0).any() for some in values) else "linear"


def bottom(values: Iterable[np.ndarray]) -> float:
    """Lower end of a linear axis of some values: 0, or below the negative values."""
    return 1.05 * min(
        (float(some.min(initial=0.0, where=some < 0)) for some in values), default=0.0
    )


def linear(axis: Axis, most: int = 5) -> None:
    """Ticks of a linear axis, in at most `most` steps; large numbers as multiples of powers of
    ten."""
    axis.set_major_locator(MaxNLocator(most))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _plain(value)))


def decades(axis: Axis, most: int = 6) -> None:
    """Ticks of a logarithmic axis whose ends are set: at most `most` powers of ten, and no numbers
    between them. An axis with fewer than two powers has 1, 2 and 5 times powers of ten, or even
    steps."""
    low, high = np.array(axis.get_view_interval()) * (1 - 1e-9, 1 + 1e-9)
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.log10(high))
    values = [at for at in np.outer(powers, (1, 2, 5)).ravel().tolist() if low <= at <= high]
    if np.isin(values, powers).sum() > 1:
        axis.set_major_locator(LogLocator(numticks=most))
        axis.set_major_formatter(LogFormatterSciNotation())
        axis.set_minor_formatter(NullFormatter())
    elif len(values) > 2:
        at_values(axis, values, values, room=0)
    else:
        linear(axis, 4)
        axis.set_minor_locator(NullLocator())


def begin(lines: Sequence[tuple[np.ndarray, np.ndarray]], floor: float) -> float:
    """The first place at which any of the lines, (places, values), is not below the floor."""
    shown = [places[values >= floor] for places, values in lines]
    return float(min([places[0] for places in shown if len(places)] or [lines[0][0][0]]))


def span(axes: Axes, begin: float, end: float, room: float = 1.0) -> None:
    """Sets the ends of a logarithmic horizontal axis, extended by the factor `room`; a single value
    is in the middle, with the only tick."""
    if begin < end:
        axes.set_xlim(begin / room, end * room)
    else:
        axes.set_xlim(begin / 2, end * 2 or 1)
        at_values(axes.xaxis, [end], [end])


def at_values(
    axis: Axis, values: Sequence[float], places: Sequence[float], room: float = ROOM
) -> None:
    """Ticks at values tried, as far as there is room; arguments as for `kept`."""
    some = kept(values, places, room)
    axis.set_major_locator(FixedLocator([values[i] for i in some]))
    axis.set_major_formatter(FixedFormatter([number(values[i]) for i in some]))
    axis.set_minor_locator(NullLocator())


def at_names(axes: Axes, names: Sequence[str]) -> None:
    """A tick at each of the places 0, 1, 2, ... with its name, slanted if they are long."""
    axes.set_xticks(range(len(names)), list(names))
    axes.set_xlim(-0.5, len(names) - 0.5)
    if sum(map(len, names)) > _NAME_LETTERS:
        axes.tick_params(axis="x", rotation=30)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def kept(values: Sequence[float], places: Sequence[float], room: float = ROOM) -> list[int]:
    """Indices of the values that get ticks: the first, the last, and others with room.

    Args:
      values: increasing.
      places: their positions on the axis, increasing.
      room: least share of the axis between two ticks.
    """
    last = len(values) - 1
    if last < 1:
        return list(range(last + 1))
    least = room * (places[-1] - places[0]) * (1 - 1e-9)
    some = [0]
    for i in range(1, last):
        if places[i] - places[some[-1]] >= least and places[last] - places[i] >= least:
            some.append(i)
    return [*some, last]


def _plain(value: float) -> str:
    """A tick of a linear axis, where 1,000 stands beside 500."""
    return f"{value:g}" if 1e3 <= abs(value) < 1e4 else number(value)
