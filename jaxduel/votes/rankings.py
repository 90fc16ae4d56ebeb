"""Rankings and weighted graphs in PrefLib's formats, as counts of pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import IO

import numpy as np

from jaxduel.display import counted
from jaxduel.errors import InputError, shorten
from jaxduel.problems.dueling import MAX_ARMS
from jaxduel.votes.counts import MOST_VOTES
from jaxduel.votes.lines import Lines

SUFFIXES = (".soc", ".soi", ".toc", ".toi", ".wmd", ".pwg")
"""Endings of the names of files in these formats."""
_NAME = re.compile(r"#\s*ALTERNATIVE NAME (\d+)\s*:\s*(.*?)\s*$")
_PLACES = re.compile(r"\{([^{}]*)\}|([^,{}]+)")
_ORDER = re.compile(r"(\{[^{}]+\}|[^,{}]+)(,(\{[^{}]+\}|[^,{}]+))*")

_Order = list[list[int]]
"""Alternatives by place, the best first; several in one place are tied."""


class Rankings:
    """Pairs of a PrefLib file: counts over all its rankings, or the edges of its graph.

    Alternatives that share a place are ties; an alternative that a ranking leaves out is not
    compared there.

    Args:
      text: the file.
      file: its name, for messages.
      suffix: one of `SUFFIXES`.
    """

    certain, sided = True, False
    unit, unfinished, undecided, nothing = "line", 0, (), "it has no ranking"

    def __init__(self, text: IO[str], file: str, suffix: str):
        self.header = ["left", "right", "left_wins", "right_wins", "ties"]
        self.place, self.remarks = 0, ()
        self._text, self._file, self._suffix = text, file, suffix
        self._names: dict[int, str] = {}

    def rows(self, wanted: Sequence[int]) -> Iterator[tuple[str, ...]]:
        """The wanted columns of each pair that was compared."""
        read = {".wmd": _edge, ".pwg": _weighed}.get(self._suffix, _ranking)
        orders = [read(line) for line in self._data()]
        arms = sorted({arm for _, order in orders for place in order for arm in place})
        if len(arms) > MAX_ARMS:
            raise InputError(
                f"{self._file} has {len(arms):,} different arms: 2 to {MAX_ARMS:,} can be compared."
            )
        number = {arm: place for place, arm in enumerate(arms)}
        wins = np.zeros((len(arms), len(arms)))
        ties = np.zeros_like(wins)
        for count, order in orders:
            found = [number[arm] for place in order for arm in place]
            rank = np.repeat(np.arange(len(order)), [len(place) for place in order])
            wins[np.ix_(found, found)] += count * (rank[:, None] < rank)
            ties[np.ix_(found, found)] += count * (rank[:, None] == rank)
        for i, j in zip(*np.nonzero(np.triu(wins + wins.T + ties, 1)), strict=True):
            entries = (
                *(self._names.get(arms[arm], str(arms[arm])) for arm in (i, j)),
                *(f"{value:.17g}" for value in (wins[i, j], wins[j, i], ties[i, j])),
            )
            yield tuple(entries[place] for place in wanted)
        if read is _ranking:
            self.remarks = (
                f"pairs of {counted(int(sum(count for count, _ in orders)), 'ranking')}",
            )

    def _data(self) -> Iterator[str]:
        """The lines below the names of alternatives: comments, or in files of before 2022 their
        number, a line each, and a line of totals."""
        lines = self._bare()
        first = next(lines, "")
        if first.isdecimal():
            for _, line in zip(range(int(first)), lines, strict=False):
                alternative, _, name = line.partition(",")
                self._names[_alternative(alternative)] = name.strip()
            next(lines, None)
        elif first:
            yield first
        yield from lines

    def _bare(self) -> Iterator[str]:
        """Lines that are neither blank nor comments; a name in a comment is kept."""
        for place, line in Lines(self._text).numbered():
            self.place, bare = place, line.strip()
            if name := _NAME.match(bare):
                self._names[int(name[1])] = name[2]
            elif bare and not bare.startswith("#"):
                yield bare


def _ranking(line: str) -> tuple[float, _Order]:
    """Number and order of a line such as 5: 1,{2,3}; before 2022 5,1,{2,3}."""
    count, separator, order = re.match(r"([^:,]*)([:,]?)(.*)", line).groups()  # pyright: ignore
    if not separator or not _ORDER.fullmatch(order.strip()):
        raise ValueError(f"'{shorten(line)}' is no ranking such as 5: 1,3,{{2,4}}")
    places = [
        [_alternative(arm) for arm in (found[1] or found[2]).split(",")]
        for found in _PLACES.finditer(order.strip())
    ]
    return _weight(count), _once(places)


def _edge(line: str) -> tuple[float, _Order]:
    """Weight and pair of a line such as 1,2,5.0: five votes for 1 over 2."""
    first, second, weight = _three(line)
    return _weight(weight), _once([[_alternative(first)], [_alternative(second)]])


def _weighed(line: str) -> tuple[float, _Order]:
    """Weight and pair of a line such as 5,1,2: five votes for 1 over 2."""
    weight, first, second = _three(line)
    return _weight(weight), _once([[_alternative(first)], [_alternative(second)]])


def _three(line: str) -> list[str]:
    if len(entries := re.split(r"[:,]", line)) != 3:
        raise ValueError(f"'{shorten(line)}' is no edge of two alternatives and a weight")
    return entries


def _once(order: _Order) -> _Order:
    arms = [arm for place in order for arm in place]
    if len(set(arms)) < len(arms):
        twice = next(arm for arm in arms if arms.count(arm) > 1)
        raise ValueError(f"alternative {twice} is in the ranking twice")
    return order


def _alternative(text: str) -> int:
    if not (text.strip().isdecimal() and len(text.strip()) < 10):
        raise ValueError(f"'{shorten(text.strip())}' is no number of an alternative")
    return int(text)


def _weight(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= MOST_VOTES:
        raise ValueError(
            f"'{shorten(text.strip())}' is no count: a number from 0 to 2^31 - 1 is needed"
        )
    return number
