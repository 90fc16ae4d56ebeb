"""Lines of text at the width of a screen."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

WIDTH = 80
"""Most characters in a line, whatever the terminal: longer lines are hard to read."""
_LAST = 60
"""Last column to which continuation lines are indented: beyond it there is too little room."""
_MOST = 3
"""Most gaps between columns in a line that is wrapped; one with more is a row of a table."""
_GAP = re.compile(r"\S {2,}(?=\S)")


def say(lines: Iterable[str]) -> None:
    """Prints lines and wraps those that are too long: continuations are indented to the last column
    that leaves room (a column begins after two spaces), or by four more characters."""
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
    """A line, cut to `WIDTH` characters with three dots at the end if it is longer."""
    if len(line) <= WIDTH:
        return line
    return f"{line[: WIDTH - 4].rpartition(' ')[0].rstrip(' ,;')} ..."
