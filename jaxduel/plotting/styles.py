"""Styles of policies: the same colour, line and marker in every figure of every paper, and shades
of a policy's colour for its variants, no two curves alike."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.typing import ColorType

FONT_SIZE = 7.5
"""Points, for all text but panel titles, which are larger."""
LETTER = 0.06
"""Inches: about the width of a letter."""


class Style(NamedTuple):
    """Colour, line and marker of a policy.

    Example:
      >>> from jaxduel.plotting import STYLES
      >>> STYLES["dts"]
      Style(color='#AA3377', line='-', marker='*')
    """

    color: str
    line: str | tuple[float, tuple[float, ...]]  # a matplotlib line style
    marker: str


_DASH_DOT_DOT = (0.0, (4.0, 1.2, 1.0, 1.2, 1.0, 1.2))
_LONG_DASH = (0.0, (7.0, 2.0))

STYLES = {
    # batched elimination: blues
    "scomp2": Style("#0072B2", "-", "o"),
    "scomp2[num_batches=8]": Style("#4C97C9", "--", "s"),
    "scomp2[num_batches=2]": Style("#8DA0CB", "-.", "^"),
    "scomp": Style("#56B4E9", "--", "s"),
    "pcomp": Style("#332288", "-.", "^"),
    "base": Style("#004466", "-", "h"),
    "base[grid=geometric]": Style("#3A7CA5", "--", "s"),
    "base[grid=arithmetic]": Style("#7FB0CF", ":", "^"),
    "successive-elimination": Style("#00A0C6", _LONG_DASH, "p"),
    # minimum empirical divergence: reds
    "rmed1": Style("#D55E00", "-", "D"),
    "rmed2": Style("#882255", "--", "P"),
    "rmed2fh": Style("#CC6677", "-.", "X"),
    "cw-rmed": Style("#F28E6D", ":", "d"),
    "ecw-rmed": Style("#7A2E00", _LONG_DASH, "p"),
    "ecw-rmed[shuffle_arms=false]": Style("#B5651D", "--", "H"),
    # confidence bounds: greens
    "rucb": Style("#009E73", "--", "v"),
    "rucb[unseen=2]": Style("#7FBC41", ":", "<"),
    "rcs": Style("#66C2A5", "-.", "<"),
    "ccb": Style("#117733", ":", ">"),
    "scb": Style("#999933", _LONG_DASH, "8"),
    "scb[scale=0.51]": Style("#CCCC77", "-", "X"),
    "merge-rucb": Style("#A6D854", "-", "s"),
    "ucb1": Style("#44AA99", "-.", "v"),
    "sw-ucb": Style("#3B9A48", "--", "o"),
    "d-ucb": Style("#7FBF7B", ":", "D"),
    # posterior sampling: purples
    "dts": Style("#AA3377", "-", "*"),
    "dts+": Style("#CC79A7", "--", "P"),
    "pure-dts": Style("#6A3D9A", "-.", "X"),
    "merge-dts": Style("#7B4FFF", _LONG_DASH, "D"),
    "thompson-gaussian": Style("#B197D6", ":", "d"),
    # explore, then exploit: yellows, browns
    "btm": Style("#E69F00", "-.", "s"),
    "interleaved-filter": Style("#8C6D31", "--", "^"),
    "etc": Style("#C9B400", "-", "D"),
    "etc[grid=geometric]": Style("#8F7A00", "--", "X"),
    "detc": Style("#F2C14E", "-", "o"),
    "detc-known-gap": Style("#6B4E16", "--", "P"),
    "detc-minimax": Style("#B5835A", ":", "<"),
    "detc-batched": Style("#D98E04", _LONG_DASH, "p"),
    "detc-batched-known-gap": Style("#A0522D", _DASH_DOT_DOT, "d"),
    "detc-anytime": Style("#E3D26F", "-.", ">"),
    "detc-arms": Style("#5C4033", ":", "*"),
    # pairs sampled to estimate: slates, a magenta
    "uniform": Style("#8C9BAB", "-", "o"),
    "round-robin": Style("#5F7488", ":", "s"),
    "arena": Style("#E7298A", "-.", "p"),
    # the winner stays: ochres
    "ws-w": Style("#A6761D", "-", "d"),
    "ws-s": Style("#D9A441", "--", "P"),
    "beat-the-winner": Style("#BF8A30", ":", "h"),
    # outcomes of any law: oranges, an olive
    "versatile-db": Style("#6B8E00", "-", "s"),
    "rex3": Style("#FD8D3C", "--", "v"),
    "rex3[half=false]": Style("#E8590C", ":", "^"),
    "rex3[anytime=true]": Style("#FFB870", "-.", "<"),
    "self-sparring": Style("#A63603", "-.", "d"),
    "d-exp3": Style("#B45F06", ":", "h"),
    "borda-cb": Style("#F6A15B", _LONG_DASH, "^"),
    # answers, at a given error: turquoises
    "nts": Style("#006D77", "-", "o"),
    "select-then-verify": Style("#4ECDC4", "--", "s"),
    "dkwt": Style("#88D8C0", "-.", "D"),
    "pocowista": Style("#2F6B5E", ":", "P"),
    # the best of arms with rewards: pinks, a slate
    "successive-rejects": Style("#9C4F6E", "-", "s"),
    "sequential-halving": Style("#F06C9B", "--", "o"),
    "lucb": Style("#E4A0B7", "-.", "D"),
    "top-two-thompson": Style("#C2185B", ":", "^"),
    "uniform-arms": Style("#A9B4C2", ":", "o"),
    # the rest: greys
    "savage": Style("#777777", ":", "o"),
    "sparring": Style("#444444", _DASH_DOT_DOT, "v"),
    "multisbm": Style("#AAAAAA", _LONG_DASH, "<"),
    "pbr": Style("#111111", ":", ">"),
}
"""Colour, line and marker by policy (a variant of one has its parameters in brackets)."""

LINES = ("-", (0.0, (5.0, 1.2)), (0.0, (4.0, 1.2, 1.0, 1.2)), (0.0, (1.2, 1.0)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "d")
_OTHERS = ("#3B3B98", "#8F9400", "#57606F", "#218C74", "#B33771", "#CD6133", "#7A5195", "#2C6E49")
_FREE = (*MARKERS, "<", ">", "p", "h", "*", "8")
"""Markers for styles that would look like others."""
_DARKEST, _LIGHTEST = -0.35, 0.5
"""Shades of a policy's first and last variant: -1 would be black, 0 its colour, 1 white."""


def base_of(name: str) -> str:
    """A policy's name without its parameters, unless the variant has its own style."""
    return name if name in STYLES else name.partition("[")[0]


def style_of(name: str) -> Style:
    """The style of a policy or a variant; derived from the name for a policy that is not in
    `STYLES`.

    Example:
      >>> from jaxduel.plotting import style_of
      >>> style_of("dts")
      Style(color='#AA3377', line='-', marker='*')
      >>> style_of("dts[alpha=0.6]") == style_of("dts")
      True
    """
    base = base_of(name)
    return STYLES[base] if base in STYLES else other_styles(base)[0]


def other_styles(name: str) -> list[Style]:
    """Styles for a policy that is not in `STYLES`: the derived one, then alternatives for when it
    is taken."""
    first, count = zlib.crc32(name.encode()), len(_OTHERS)
    at = ((first + step) % count for step in range(count))
    return [Style(_OTHERS[i], LINES[i % len(LINES)], MARKERS[i]) for i in at]


def ink(color: ColorType) -> str:
    """The colour of letters on a colour: black on light ones, white on dark ones.

    Example:
      >>> from jaxduel.plotting.styles import ink
      >>> ink("#CCCC77"), ink("#332288")
      ('black', 'white')
    """
    red, green, blue = to_rgb(color)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def dress(axes: Axes, title: str, grid: Literal["both", "y"] = "both") -> None:
    """Sets the look of all axes: a title, a light grid, no frame above and to the right."""
    axes.set_title(title, fontsize=FONT_SIZE + 0.5)
    axes.grid(True, axis=grid, color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def looks_of(curves: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Style]:
    """The style of each name and label: `style_of` for a policy with one curve, shades of it for
    several curves. If two policies outside `STYLES` would look alike, the later one gets another
    style.

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
    """The styles, no two with the same line and marker: the later of two gets a free marker. Equal
    styles stay equal; colours never change.

    Example:
      >>> from jaxduel.plotting import STYLES
      >>> from jaxduel.plotting.styles import apart
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
