"""Tables with separated columns: commas, semicolons, tabs, or else spaces."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import IO, Any

from jaxduel.errors import InputError
from jaxduel.votes.lines import Lines

_DELIMITERS = (",", ";", "\t")
_LONGEST_FIELD = 2**24
"""Most characters of an entry: logs hold conversations in columns that are ignored."""
_QUOTED = re.compile('"[^"]*"')


class Delimited:
    """Rows of a file of separated columns, whose header is its first line or given.

    Args:
      text: the file.
      file: its name, for messages.
      names: the header of a file without one.

    Raises:
      InputError: the first line is missing, blank or without an end, or a given header is not as
        long as it.
    """

    certain, sided = True, True
    unit, unfinished, undecided, remarks = "line", 0, (), ()

    def __init__(self, text: IO[str], file: str, names: Sequence[str]):
        self._lines = Lines(text)
        lines, self._file = iter(self._lines), file
        first = next(lines, None)
        if first is None or not first.strip():
            lacks = "has a blank first line" if first else "is empty"
            if self._lines.rest:
                lacks = "has one line without an end, which may be half written"
            raise InputError(
                f"{file} {lacks}: a header such as left,right,winner and votes are needed."
            )
        bare = _QUOTED.sub("", first)
        delimiter = max(_DELIMITERS, key=bare.count)
        if delimiter not in bare and " " in bare.strip():
            delimiter = " "
            first = _one_space(first)
            lines = map(_one_space, lines)
        entries = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
        self.header = [*names] or entries
        if len(self.header) != len(entries):
            raise InputError(
                f"{file} has {len(entries)} columns in its first line, and {len(self.header)} "
                "names were given."
            )
        self._above = 0 if names else 1
        lines = chain([first], lines) if names else lines
        self._reader = csv.reader(lines, delimiter=delimiter, strict=True)
        self.nothing = "it has no whole line" if names else "its header is the only whole line"

    @property
    def place(self) -> int:
        """The line that was read last."""
        return self._reader.line_num + self._above

    def rows(self, wanted: Sequence[int]) -> Iterator[tuple[str, ...]]:
        """The wanted columns of each row that is not blank."""
        take: Any = itemgetter(*wanted)  # of a row a tuple: layouts have 2 columns or more
        reader, width, lines = self._reader, len(self.header), self._lines
        limit, whole = csv.field_size_limit(_LONGEST_FIELD), 0
        try:
            for row in reader:
                if len(row) == width:
                    yield take(row)
                elif any(text.strip() for text in row):
                    what = "header has" if self._above else "first line has"
                    raise ValueError(f"{len(row)} entries, but the {what} {width}")
                whole = reader.line_num
                lines.size = 0
        except csv.Error as error:
            if "end of data" in str(error):
                raise InputError(
                    f"{self._file} has a quote after line {whole + self._above} and none that "
                    "ends it."
                ) from None
            raise ValueError(str(error)) from None
        finally:
            csv.field_size_limit(limit)
        self.unfinished = self.place + 1 if lines.rest else 0


def _one_space(line: str) -> str:
    """A line whose entries are separated by one space each."""
    return re.sub(r"[ \t]+", " ", line.strip()) + "\n"
