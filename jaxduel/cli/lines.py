"""Lines on standard output: made safe to print, and as wide as a screen."""

from __future__ import annotations

import io
import re
import sys
import textwrap
from collections.abc import Iterable

from jaxduel.errors import printable

WIDTH = 80
"""Most characters in a line, whatever the terminal: longer lines are hard to read."""
_LAST = 60
"""Last column to which continuation lines are indented: beyond it there is too little room."""
_MOST = 3
"""Most gaps between columns in a line that is wrapped; one with more is a row of a table."""
_GAP = re.compile(r"\S {2,}(?=\S)")


def write(*lines: object) -> None:
    """Prints lines unchanged except for unsafe characters. Commands print only by this function
    and, on standard error, by `screen.say`."""
    for line in lines:
        print(printable(str(line)))


def pipe(content: bytes) -> None:
    """Writes the content of a file to standard output: unchanged for another program; on a
    terminal, for CSV only, with unsafe characters replaced."""
    if sys.stdout.isatty():
        entries = re.sub('"[^"]*"', lambda found: printable(found[0]), content.decode())
        write(*entries.splitlines())
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
    else:  # no file: a notebook
        sys.stdout.write(content.decode())


def say(lines: Iterable[str]) -> None:
    """Prints lines, and wraps long ones: continuations are indented to the last column that leaves
    room (columns begin after two spaces), or by four more characters."""
    for line in lines:
        write(*wrapped(printable(line)))


def say_left(
    stored: int, wanted: int, again: str, shard: tuple[int, int] | None, where: str = ""
) -> None:
    """Prints how many blocks are stored, and how to go on; other shares may have the rest."""
    unless = "" if shard is None else "unless other shares have the rest, "
    write(f"{stored:,} of {wanted:,} blocks are stored{where}; {unless}to go on: {again}")


def wrapped(line: str) -> list[str]:
    """A line in pieces of at most `WIDTH` characters, longer where a word is; a table row of more
    than four columns stays one piece."""
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
