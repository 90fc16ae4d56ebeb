"""Lines of a text file, of limited length; a last line without an end is kept apart."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import IO

LONGEST_ROW = 2**25
"""Most characters of a row, in one line or several: a gzipped file may unpack to any number."""


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
            if line[-1] not in "\r\n":
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
