"""Records of JSON, one a line or in an array; tables inside a record are columns such as a.b."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import IO, Any

from jaxduel.errors import InputError
from jaxduel.votes.lines import Lines
from jaxduel.votes.tables import MoreColumns, text_of
from jaxduel.votes.templates import template

_DECODER = json.JSONDecoder()
_FIRST = 10_000
"""Records that tell the header."""
_LONGEST_ARRAY = 2**28
"""Most characters of an array, which is read as a whole."""


class Records:
    """Rows of a JSON file: the columns are the keys of all records.

    Few files have keys that the first records lack, and a header of all takes as long as the rows.
    Where a record is a line, the header is that of the first records, unless it has to be
    `certain`; `rows` reads on, and raises `MoreColumns` if the header lacks a key.

    Args:
      text: the file, from its beginning.
      file: its name, for messages.
      array: whether it is one array, and not a record a line.
      certain: True to take the header from all records.

    Raises:
      InputError: a line is no record, or the file no array of records.
    """

    sided = True
    undecided, remarks, nothing = (), (), "it has no record"

    def __init__(self, text: IO[str], file: str, array: bool, certain: bool):
        self._text, self._array = text, _array(text, file) if array else None
        self.unit, self.place, self.unfinished = "record" if array else "line", 0, 0
        self._keys: dict[str, None] = {}
        self._seen: set[tuple[str, ...]] = set()
        self.certain = certain or array
        records = map(_record, self._lines()) if self._array is None else self._records()
        try:
            for record in records if self.certain else islice(records, _FIRST):
                self._look_at(record)
        except ValueError as error:
            raise InputError(f"{file}, {self.unit} {self.place}: {error}.") from None
        if self.certain and not self._keys:
            raise InputError(f"{file} holds no votes: {self.nothing}.")
        self.header = list(self._keys)

    def rows(self, wanted: Sequence[int]) -> Iterator[tuple[str, ...]]:
        """The wanted columns of each record; an empty text where it lacks one.

        Raises:
          MoreColumns: a record has a key that the header lacks.
        """
        names = [(self.header[place], *self.header[place].partition(".")) for place in wanted]
        if self._array is not None:
            for record in self._records():
                yield tuple(_entry(record, *name) for name in names)
            return
        match, groups, others = None, (), 0
        for line in self._lines():
            if match and (found := match(line)):
                yield found.group(*groups)
                continue
            record = _record(line)
            if not self.certain:
                self._look_at(record)
            yield tuple(_entry(record, *name) for name in names)
            others += 1
            if others & (others - 1) == 0:  # 1, 2, 4, ...: most lines are like one of these
                pattern, groups = template(record, [name for name, *_ in names])
                match = pattern.fullmatch
        if len(self._keys) > len(self.header):
            raise MoreColumns
        self.certain = True

    def _look_at(self, record: dict[str, Any]) -> None:
        """Adds the keys of a record."""
        names = tuple(record)
        if names not in self._seen or dict in map(type, record.values()):
            self._seen.add(names)  # few records have keys that are new
            for key, value in record.items():
                inner = [f"{key}.{name}" for name in value] if isinstance(value, dict) else [key]
                self._keys.update(dict.fromkeys(inner))

    def _records(self) -> Iterator[dict[str, Any]]:
        """The records of an array; sets `place`."""
        for place, record in enumerate(self._array or (), 1):
            self.place = place
            yield _checked(record)

    def _lines(self) -> Iterator[str]:
        """Lines that are not blank; sets `place` and `unfinished`."""
        self._text.seek(0)
        lines, self.place = Lines(self._text), 0
        for self.place, line in enumerate(lines, 1):
            lines.size = 0
            if not line.isspace():
                yield line
        if lines.rest:  # without an end: whole, or half written
            self.place += 1
            try:
                _record(lines.rest)
            except ValueError:
                self.unfinished = self.place
            else:
                yield lines.rest


def _entry(record: dict[str, Any], name: str, outer: str, _: str, inner: str) -> str:
    """The entry of a column, `name` or `outer`.`inner`."""
    value = record.get(name)
    if value is None and inner and isinstance(table := record.get(outer), dict):
        value = table.get(inner)
    return text_of(name, value)


def _array(text: IO[str], file: str) -> list[Any]:
    content = text.read(_LONGEST_ARRAY)
    if len(content) == _LONGEST_ARRAY:
        raise InputError(
            f"{file} is a JSON array of 2^28 characters or more: write a record a line (JSONL)."
        )
    try:
        return _parsed(content)
    except ValueError as error:
        raise InputError(f"{file}: {error}.") from None


def _parsed(text: str) -> Any:
    text = text.strip("\ufeff \t\r\n")
    try:
        value, end = _DECODER.raw_decode(text)  # json.loads does more than this, millions of times
        if end < len(text):
            raise json.JSONDecodeError("more than one value", text, end)
        return value
    except json.JSONDecodeError as error:
        raise ValueError(
            f"it is no JSON ({error.msg.lower()}, character {error.pos + 1})"
        ) from None
    except (ValueError, RecursionError):  # digits beyond what Python reads, or brackets
        raise ValueError("it is no JSON with numbers and brackets of a usual size") from None


def _record(line: str) -> dict[str, Any]:
    return _checked(_parsed(line))


def _checked(record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise ValueError('it is no record of JSON, such as {"winner": "ada", "loser": "bob"}')
    return record
