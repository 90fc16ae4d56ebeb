"""Lines of a text file, of limited length; a last line without an end is kept apart."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from typing import IO, Any, Protocol

LONGEST_ROW = 2**25
"""Most characters of a row, in one line or several: a gzipped file may unpack to any number."""


class Table(Protocol):
    """Rows of a file with named columns, for `jaxduel.votes.reading`."""

    @property
    def header(self) -> list[str]:
        """Names of the columns."""
        ...

    @property
    def unit(self) -> str:
        """Word for the place of a row, such as line."""
        ...

    @property
    def place(self) -> int:
        """Place of the row read last, or of the row that is wrong."""
        ...

    @property
    def unfinished(self) -> int:
        """Number of the last line if it was left out, as it may be half written, or 0; known after
        the rows."""
        ...

    @property
    def nothing(self) -> str:
        """Half a sentence about a table without rows."""
        ...

    @property
    def undecided(self) -> tuple[str, ...]:
        """Words for the winner of rows that the format itself says are no votes."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """Half sentences about the reading of the format; known after the rows."""
        ...

    def rows(self, wanted: Sequence[int]) -> Iterator[tuple[str, ...]]:
        """The wanted columns of each row; half a sentence in a ValueError for a wrong row."""
        ...


class Lines:
    """Lines of a file, each with its end; `rest` has the last line if it has none.

    `size` counts the characters of a row: whoever reads the lines sets it to 0 after each row.

    Example:
      >>> from io import StringIO
      >>> from jaxduel.votes.lines import Lines
      >>> lines = Lines(StringIO("ada,bob\\nbob,c"))
      >>> list(lines), lines.rest
      (['ada,bob\\n'], 'bob,c')
    """

    def __init__(self, text: IO[str]):
        self.size, self.rest = 0, ""
        self._text = text

    def __iter__(self) -> Iterator[str]:
        text = self._text
        while line := text.readline(LONGEST_ROW):
            self.size += len(line)
            if self.size >= LONGEST_ROW:
                raise OSError(errno.EFBIG, f"a row has more than {LONGEST_ROW:,} characters")
            if not line.endswith(("\n", "\r")):
                self.rest = line
                return
            yield line

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Each line and its number, from 1, as a row of its own; the last one even without end."""
        number = 0
        for number, line in enumerate(self, 1):
            self.size = 0
            yield number, line
        if self.rest:
            yield number + 1, self.rest


def text_of(name: str, value: Any) -> str:
    """Text of a value of JSON or Parquet; `name` is its column's.

    Raises:
      ValueError: half a sentence for a list or a table.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, dict)):
        raise ValueError(f"{name} is a {'list' if isinstance(value, list) else 'table'}, no entry")
    return str(value)
