"""Styles of many curves: shades of a policy's colour for its variants, and further colours for
policies without a style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from jaxduel.plotting.styles import STYLES, Style, base_of, style_of

_FURTHER = ("#3B3B98", "#8F9400", "#57606F", "#218C74", "#B33771", "#CD6133", "#7A5195", "#2C6E49")
"""Colours of policies without a style, in the order in which they come."""
_LINES = ("-", (0.0, (5.0, 1.2)), (0.0, (4.0, 1.2, 1.0, 1.2)), (0.0, (1.2, 1.0)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "d")
_FREE = (*_MARKERS, "<", ">", "p", "h", "*", "8")
"""Markers for styles that would look like others."""
_DARKEST, _LIGHTEST = -0.35, 0.5
"""Shades of a policy's first and last variant: -1 would be black, 0 its colour, 1 white."""


def looks_of(curves: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Style]:
    """The style of each policy and label, policy by policy: the policy's own for one label, shades
    of its colour for several; policies without a style get further colours.

    Args:
      curves: policies and labels, in the order in which they come.
    """
    labels: dict[str, list[str]] = {}
    for policy, label in curves:
        of_policy = labels.setdefault(policy, [])
        if label not in of_policy:
            of_policy.append(label)
    further = [policy for policy in labels if policy not in STYLES]
    styles = {}
    for policy, some in labels.items():
        if policy in STYLES:
            base = STYLES[policy]
        else:
            number = further.index(policy)
            line, marker = _LINES[(number + 1) % len(_LINES)], _MARKERS[number % len(_MARKERS)]
            base = Style(_FURTHER[number % len(_FURTHER)], line, marker)
        for i, label in enumerate(some):
            styles[policy, label] = base if len(some) == 1 else _shade(base, i, len(some))
    return dict(zip(styles, apart(list(styles.values())), strict=True))


def variant_looks(curves: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Style]:
    """The style of each name and label: that of `style_of` where a policy has one curve, else
    shades of it.

    Args:
      curves: names, with parameters in brackets, and labels, in the order in which they come.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for curve in dict.fromkeys(curves):
        groups.setdefault(base_of(curve[0]), []).append(curve)
    looks = {}
    for base, some in groups.items():
        for i, curve in enumerate(some):
            style = style_of(base)
            looks[curve] = style if len(some) == 1 else _shade(style, i, len(some))
    return dict(zip(looks, apart(list(looks.values())), strict=True))


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
    line, marker = _LINES[number % len(_LINES)], _MARKERS[number % len(_MARKERS)]
    return Style(to_hex(tuple(mixed.tolist())), line, marker)
