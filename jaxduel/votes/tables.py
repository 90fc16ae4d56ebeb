"""Tables of logs: rows with named columns, whatever the format of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol


class MoreColumns(Exception):
    """Some rows have columns that the header lacks."""


class Table(Protocol):
    """Rows of a file with named columns, for `jaxduel.votes.reading`."""

    @property
    def header(self) -> list[str]:
        """Names of the columns."""
        ...

    @property
    def certain(self) -> bool:
        """False if `rows` may raise `MoreColumns`."""
        ...

    @property
    def sided(self) -> bool:
        """True if columns left and right, where there are such, are the sides of the arms."""
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
