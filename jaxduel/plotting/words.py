"""Words of figures: policies, problems and regret as papers name them, and numbers as in ticks."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping
from functools import cache
from numbers import Real
from typing import Any

from jaxduel import policies
from jaxduel.display import range_text
from jaxduel.runs import problem_parts, variant_name

FONT = "DejaVu Sans"
"""The figures' font."""
_POINTS = 100
"""Size at which letters are measured."""
FEW = 5
"""With fewer seeds than this, single runs are drawn in place of an interval."""

SYMBOLS = {
    "num_arms": "K",
    "horizon": "T",
    "num_batches": "B",
    "alpha": r"$\alpha$",
    "beta": r"$\beta$",
    "gamma": r"$\gamma$",
}
"""Symbols of parameters for which papers have letters."""
_REGRETS = {
    "copeland": "Copeland regret",
    "2 copeland": "twice the Copeland regret",
    "borda": "Borda regret",
    "pulls": "regret",
    "votes": "comparisons of two different arms",
}


def number(value: float) -> str:
    """A number in a tick or a title: 32, 0.51, 2000; 1,000, numbers from 10,000 on and numbers
    below 0.0001 as multiples of powers of ten."""
    power = math.log10(abs(value)) if value else 0.0
    if not math.isfinite(value) or not (power >= 4 or power < -4 or round(power, 12) == 3):
        return f"{value:g}"
    mantissa, exponent = f"{value:.3e}".split("e")
    ten = f"10^{{{int(exponent)}}}"
    mantissa = f"{float(mantissa):g}"
    return f"${ten}$" if mantissa == "1" else rf"${mantissa}\!\cdot\!{ten}$"


def policy_words(name: str, parameters: Mapping[str, Any]) -> str:
    """A policy as papers write it, with the parameters given: "SCOMP2, B = 8"."""
    parts = (setting_words(key, value) for key, value in parameters.items())
    return ", ".join([plain(policies.label(name)), *parts])


def names_of(policy: str, changed: Mapping[str, str]) -> tuple[str, str]:
    """A policy with its changed parameters and settings: in brackets, and as text in a legend."""
    return variant_name(policy, changed), policy_words(policy, changed)


def setting_words(name: str, value: Any) -> str:
    """A parameter or a size with its value: "B = 8"."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    text = number(float(value)) if is_number else plain(str(value))
    return f"{SYMBOLS.get(name, name)} = {text}"


def problem_words(name: str) -> str:
    """A problem: "btl, K = 4, instance = 0" for "btl(num_arms=4, instance=0)"."""
    what, settings = problem_parts(name)
    return ", ".join([plain(what), *(setting_words(*pair) for pair in settings)])


def plain(text: str) -> str:
    """A text of the user's, such as a file's name, for a figure: $ is escaped and begins no
    formula."""
    return text.replace("$", r"\$")


def boxed(text: str) -> str:
    """A text with a box in place of letters, one or several, that the figures' font lacks.

    Example:
      >>> from jaxduel.plotting.words import boxed
      >>> boxed("été, 東京")
      'été, □'
    """
    known = _letters()
    return re.sub("□+", "□", "".join(x if ord(x) in known else "□" for x in text))


def inches(texts: Iterable[str], points: float) -> float:
    """Width of the widest of some texts without formulas, in the figures' font, of a size in
    points.

    Example:
      >>> from jaxduel.plotting.words import inches
      >>> round(inches(["iii", "WWW"], 7.5), 2)
      0.31
    """
    widths = (sum(map(_advance, text.replace(r"\$", "$"))) for text in texts)
    return points / 72 * max(widths, default=0.0)


@cache
def _advance(letter: str) -> float:
    """Width of a letter in the figures' font, by its size."""
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.ft2font import LoadFlags

    font = get_font(findfont(FONT))
    font.set_size(_POINTS, 72)
    return font.load_char(ord(letter), LoadFlags.NO_HINTING).linearHoriAdvance / 65536 / _POINTS


@cache
def _letters() -> Container[int]:
    """Code points of the letters of the figures' font."""
    from matplotlib.font_manager import findfont, get_font

    return get_font(findfont(FONT)).get_charmap()


def regret_words(definition: str) -> str:
    """A definition of regret in words.

    Example:
      >>> from jaxduel.plotting import regret_words
      >>> regret_words("average"), regret_words("copeland")
      ('average regret', 'Copeland regret')
    """
    return _REGRETS.get(definition, f"{definition} regret")


def steps_words(definition: str) -> str:
    """The unit of time for a definition of regret.

    Example:
      >>> from jaxduel.plotting.words import steps_words
      >>> steps_words("pulls"), steps_words("average")
      ('pulls', 'comparisons')
    """
    return "pulls" if definition == "pulls" else "comparisons"


def seeds_words(counts: Iterable[int], drawn: str = "") -> str:
    """Numbers of seeds in words, followed by a description of the spread, `drawn`.

    Example:
      >>> from jaxduel.plotting import seeds_words
      >>> seeds_words([100, 20], "bands: 95 %")
      '20 to 100 seeds, bands: 95 %'
    """
    known = {int(count) for count in counts}
    if not known:
        return ""
    text = f"{range_text(known)} seed{'' if max(known) == 1 else 's'}"
    return f"{text}, {drawn}" if drawn else text


def length(text: str) -> int:
    """Approximate width of a text, in letters, with formulas typeset."""
    return len(re.sub(r"[${}^_]|\\[!,;]", "", re.sub(r"\\[A-Za-z]+", "x", text)))


def broken(text: str, letters: int) -> str:
    """A text broken into lines of about `letters` letters: after commas before a space or a letter,
    and after opening brackets. Longer parts without formulas break at spaces or anywhere."""
    lines = [""]
    parts = re.split(r"(?<=, )|(?<=[(\[])|(?<=,)(?=[a-z])", text)
    for part in (piece for whole in parts for piece in _pieces(whole, letters)):
        if lines[-1] and length((lines[-1] + part).rstrip(", ")) > letters:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _pieces(part: str, letters: int) -> list[str]:
    if "$" in part or len(part) <= letters:
        return [part]
    words = re.split(r"(?<= )", part)
    return [word[at : at + letters] for word in words for at in range(0, len(word), letters)]
