"""Labels of matplotlib as plain text, with the symbols of Unicode."""

from __future__ import annotations

import re

_SYMBOLS = {
    r"\sum": "Σ",
    r"\epsilon": "ε",
    r"\alpha": "α",
    r"\beta": "β",
    r"\gamma": "γ",
    r"\notin": "∉",
    r"\neq": "≠",
    r"\log": "log",
    r"\min": "min",
    r"\,": " ",
    r"\!": "",
    r"\cdot": "·",
    r"\{": "{",
    r"\}": "}",
}
_GROUP = re.compile(r"\\math(?:rm|bf|it)\{([^{}]*)\}")
_RAISED = str.maketrans("0123456789+-()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-()ijkn", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎ᵢⱼₖₙ")


def plain(text: str) -> str:
    """A label without TeX: "$10^{3}$" as "10³".

    Example:
      >>> from jaxduel.studies.report.words import plain
      >>> plain(r"regret $R(t)=\\sum\\,(\\epsilon_i+\\epsilon_j)/2$, $K=5$")
      'regret R(t) = Σ (εᵢ + εⱼ)/2, K = 5'
    """
    text = re.sub(r"(?<!\\)\$(.*?)(?<!\\)\$", lambda found: _formula(found[1]), text)
    return text.replace(r"\$", "$").replace("\n", " ")


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def _formula(text: str) -> str:
    text = _GROUP.sub(r"\1", text)
    for name, symbol in _SYMBOLS.items():
        text = re.sub(re.escape(name) + ("(?![a-z])" if name[1].isalpha() else ""), symbol, text)
    text = re.sub(r"\^(?:\{([^{}]*)\}|(\w))", lambda m: (m[1] or m[2]).translate(_RAISED), text)
    text = re.sub(r"_(?:\{([^{}]*)\}|(\w))", lambda m: (m[1] or m[2]).translate(_LOWERED), text)
    return re.sub(r"(?<=\S) ?([=+≠∉]|(?<=[^(])-) ?(?=\S)", r" \1 ", text).replace(" - ", " − ")
