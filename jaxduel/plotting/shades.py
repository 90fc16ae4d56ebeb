"""Styles of many curves: shades of a policy's colour for its variants, no two curves alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from jaxduel.plotting.styles import LINES, MARKERS, STYLES, Style, base_of, other_styles, style_of

_FREE = (*MARKERS, "<", ">", "p", "h", "*", "8")
"""Markers for styles that would look like others."""
_DARKEST, _LIGHTEST = -0.35, 0.5
"""Shades of a policy's first and last variant: -1 would be black, 0 its colour, 1 white."""


def looks_of(curves: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Style]:
    """The style of each name and label: that of `style_of` where a policy has one curve, else
    shades of it. Where two policies that have no style of their own would look alike, the later one
    gets another.

    Args:
      curves: names, with or without parameters in brackets, and labels, in the order in which they
        come.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for curve in dict.fromkeys(curves):
        groups.setdefault(base_of(curve[0]), []).append(curve)
    looks, taken = {}, set()
    for base, some in groups.items():
        style = style_of(base)
        if base not in STYLES:
            style = next((other for other in other_styles(base) if other not in taken), style)
            taken.add(style)
        for i, curve in enumerate(some):
            looks[curve] = style if len(some) == 1 else _shade(style, i, len(some))
    return dict(zip(looks, apart(list(looks.values())), strict=True))


def looks_in(drawn: Iterable[Any]) -> dict[tuple[str, str], Style]:
    """`looks_of` of curves or bars, of all panels of a figure, by their name and label."""
    return looks_of((one.name, one.label) for one in drawn)


def apart(styles: Sequence[Style]) -> list[Style]:
    """The styles, no two with the same line and marker: the later one of two gets a marker that is
    free. Those that are the same in all stay so; colours always do.

    Example:
      >>> from jaxduel.plotting import STYLES
      >>> from jaxduel.plotting.shades import apart
      >>> [style.marker for style in apart([STYLES["scomp"], STYLES["ws-s"]._replace(marker="s")])]
      ['s', 'o']
    """
    kept: dict[Style, Style] = {}
    taken = {style[1:] for style in styles}
    used: set[tuple[object, str]] = set()
    for style in styles:
        if style in kept:
            continue
        look = style
        if style[1:] in used:
            free = (m for m in _FREE if (style.line, m) not in taken)
            look = style._replace(marker=next(free, style.marker))
        kept[style] = look
        taken.add(look[1:])
        used.add(look[1:])
    return [kept[style] for style in styles]


def _shade(base: Style, number: int, count: int) -> Style:
    """The style of one of several variants: dark to light, with lines and markers of their own."""
    toward = _DARKEST + (_LIGHTEST - _DARKEST) * number / (count - 1)
    end = np.zeros(3) if toward < 0 else np.ones(3)
    color = np.array(to_rgb(base.color))
    mixed = color + (end - color) * abs(toward)
    line, marker = LINES[number % len(LINES)], MARKERS[number % len(MARKERS)]
    return Style(to_hex(tuple(mixed.tolist())), line, marker)
