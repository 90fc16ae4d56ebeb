"""Records of JSON, one a line or in an array; tables inside a record are columns such as a.b."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import IO, Any

from jaxduel.errors import InputError
from jaxduel.votes.lines import Lines
from jaxduel.votes.tables import text_of

_DECODER = json.JSONDecoder()
_LONGEST_ARRAY = 2**28
"""Most characters of an array, which is read as a whole."""


class Records:
    """Rows of a JSON file: the columns are the keys of all records.

    Args:
      text: the file, from its beginning; it is read twice.
      file: its name, for messages.
      array: whether it is one array, and not a record a line.

    Raises:
      InputError: a line is no record, or the file no array of records.
    """

    sided = True
    undecided, remarks, nothing = (), (), "it has no record"

    def __init__(self, text: IO[str], file: str, array: bool):
        self._text, self._array = text, _array(text, file) if array else None
        self.unit, self.place, self.unfinished = "record" if array else "line", 0, 0
        keys: dict[str, None] = {}
        try:
            seen: set[tuple[str, ...]] = set()
            for record in self._records():
                names = tuple(record)
                tables = [key for key in names if isinstance(record[key], dict)]
                if tables or names not in seen:  # few records have keys that are new
                    seen.add(names)
                    for key in names:
                        inner = (
                            [f"{key}.{name}" for name in record[key]] if key in tables else [key]
                        )
                        keys.update(dict.fromkeys(inner))
        except ValueError as error:
            raise InputError(f"{file}, {self.unit} {self.place}: {error}.") from None
        if not keys:
            raise InputError(f"{file} holds no votes: {self.nothing}.")
        self.header = list(keys)

    def rows(self, wanted: Sequence[int]) -> Iterator[tuple[str, ...]]:
        """The wanted columns of each record; an empty text where it lacks one."""
        names = [(self.header[place], *self.header[place].partition(".")) for place in wanted]
        for record in self._records():
            entries: list[str] = []
            for name, outer, _, inner in names:
                value = record.get(name)
                if value is None and inner and isinstance(table := record.get(outer), dict):
                    value = table.get(inner)
                entries.append(value if isinstance(value, str) else text_of(name, value))
            yield tuple(entries)

    def _records(self) -> Iterator[dict[str, Any]]:
        """The records, from the first; sets `place` and `unfinished`."""
        if self._array is not None:
            for place, record in enumerate(self._array, 1):
                self.place = place
                yield _checked(record)
            return
        self._text.seek(0)
        lines, self.place = Lines(self._text), 0
        for place, line in enumerate(lines, 1):
            self.place, lines.size = place, 0
            if not line.isspace():
                yield _checked(_parsed(line))
        if lines.rest:  # without an end: whole, or half written
            self.place += 1
            try:
                record = _checked(_parsed(lines.rest))
            except ValueError:
                self.unfinished = self.place
            else:
                yield record


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


def _checked(record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise ValueError('it is no record of JSON, such as {"winner": "ada", "loser": "bob"}')
    return record
