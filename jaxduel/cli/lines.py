"""Lines of text at the width of a screen."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

WIDTH = 80
"""Characters, of any terminal: longer lines are hard to read, and logs are no terminal."""
_LAST = 60
"""Columns further to the right have too little room for text."""
_MOST = 3
"""Gaps between columns of lines that are no rows of a table."""
_GAP = re.compile(r"\S {2,}(?=\S)")


def say(lines: Iterable[str]) -> None:
    """Prints lines, those that are too long in several: what follows stands under the last column
    that has room (a column begins after two spaces), or four characters further in."""
    for line in lines:
        print("\n".join(wrapped(line)))


def wrapped(line: str) -> list[str]:
    """A line in pieces of at most `WIDTH` characters, as far as its words allow; the row of a table
    of more than four columns stays in one."""
    columns = [gap.end() for gap in _GAP.finditer(line)]
    if len(columns) > _MOST:
        return [line]
    indent = max((c for c in columns if c <= _LAST), default=len(line) - len(line.lstrip()) + 4)
    pieces = textwrap.wrap(
        line,
        WIDTH,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return pieces or [""]


def in_one_line(line: str) -> str:
    """The beginning of a line that is too long, and three dots."""
    if len(line) <= WIDTH:
        return line
    return f"{line[: WIDTH - 4].rpartition(' ')[0].rstrip(' ,;')} ..."
