"""Games in Portable Game Notation: players and results from their headers, without the moves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import IO

from jaxduel.votes.lines import Lines

TAG = re.compile(r'\s*\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]')
"""A line of a game's header, its name and its text."""
_COMMENT = re.compile(r"\{[^}]*\}|;.*")


class Games:
    """Rows of a PGN file: White, Black, Result of each game."""

    certain, sided = True, True
    unit, unfinished, remarks, nothing = "line", 0, (), "it has no game"
    undecided = ("*",)

    def __init__(self, text: IO[str]):
        self.header = ["White", "Black", "Result"]
        self._lines, self.place = Lines(text), 0

    def rows(self, wanted: Sequence[int]) -> Iterator[tuple[str, ...]]:
        """The wanted tags of each game."""
        names = [self.header[place] for place in wanted]
        tags: dict[str, str] = {}
        moves = comment = False
        for number, line in self._lines.numbered():
            if comment:
                _, comment_ends, line = line.partition("}")
                if not comment_ends:
                    continue
                comment = False
            if tag := TAG.match(line):
                if moves or tag[1] in tags:
                    yield _row(tags, names)
                    tags, moves = {}, False
                if not tags:
                    self.place = number
                tags[tag[1]] = re.sub(r"\\(.)", r"\1", tag[2])
            elif line.strip() and not line.startswith("%"):
                moves = True
                comment = "{" in _COMMENT.sub("", line)
        if tags:
            yield _row(tags, names)


def _row(tags: dict[str, str], names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if tags.get(name, "?") in ("", "?"):
            raise ValueError(f"the game has no {name}")
    return tuple(tags[name] for name in names)
