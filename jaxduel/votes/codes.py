"""Codes for the winner, such as W, L, D or 1, 2: read where one code alone fits all values."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_SIDES = ("left", "right")
_CODES: tuple[Mapping[str, str], ...] = (
    {word: side for words, side in (
        (("w", "win", "won", "wins"), "left"),
        (("l", "loss", "lose", "lost", "loses"), "right"),
        (("d", "drawn", "t", "tied"), "tie"),
    ) for word in words},
    {"l": "left", "r": "right", "t": "tie", "d": "tie"},
    {"1": "left", "0.5": "tie", "0": "right"},
    {"1": "left", "0": "tie", "-1": "right"},
    {"1": "left", "2": "right", "0": "tie"},
    {"0": "left", "1": "right", "2": "tie"},
)  # fmt: skip
"""Words, and the score, sign or number of the winner as it is counted from 1 or from 0."""
_FROM_ONE = _CODES[4]


def code_of(words: Collection[str], numbered: bool = False) -> tuple[dict[str, str], str]:
    """Meanings of coded winners, and half a sentence for those of several codes.

    Codes in which one side never wins give way to others.

    Args:
      words: the values of the column.
      numbered: whether the names of the columns of arms end with 1 and 2.

    Example:
      >>> from jaxduel.votes.codes import code_of
      >>> code_of({"1", "2"})[0] == {"1": "left", "2": "right"}
      True
      >>> code_of({"0", "1"})[0]
      {}
    """
    plain = {word: _plain(word) for word in words}
    values = set(plain.values())
    fitting = [code for code in _CODES if values <= code.keys()]
    both = [code for code in fitting if set(_SIDES) <= {code[value] for value in values}]
    found = both or fitting
    if numbered and _FROM_ONE in found:
        found = [_FROM_ONE]
    read = [{word: code[value] for word, value in plain.items()} for code in found]
    if all(each == read[0] for each in read):
        return (read[0] if read else {}), ""
    other = next(each for each in read if each != read[0])
    first, second = (
        " ".join(f"--outcome {word}={side}" for word, side in sorted(each.items()))
        for each in (read[0], other)
    )
    python = repr(dict(sorted(read[0].items())))
    return {}, (
        f"is of several codes: say {first}, or {second}, or another (in Python outcomes={python})"
    )


def _plain(word: str) -> str:
    """A word in lower case; a number as the shortest text."""
    try:
        return f"{float(word):g}" if "_" not in word else word
    except ValueError:
        return word.lower()
