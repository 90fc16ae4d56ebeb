"""Preference matrices in text: rows of numbers, and the names of the arms around them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jaxduel.errors import InputError, shorten
from jaxduel.files import named_text
from jaxduel.problems.dueling import MAX_ARMS

_LONGEST_LINE = MAX_ARMS * 64
_WORDS = re.compile(r'"[^"]*"|\S+')
_SHARE = re.compile(r"[\d.,]+\s*%|\d+\s*/\s*\d+")
"""A percentage or a fraction, which is no number here but makes no header either."""
_SEPARATORS = ";\t,"
_BLANK = ("", "na", "-")
"""Entries of the diagonal, in lower case, that stand for no number."""


def read_table(path: Path) -> tuple[np.ndarray, list[str] | None]:
    """The matrix in a text file, (rows, columns) float64, and the names of its arms, if any.

    Blanks on the diagonal are NaN.

    Raises:
      InputError: the file holds no rows of numbers, or too many.
      OSError: the file cannot be read.
    """
    rows: list[np.ndarray] = []
    header: list[str] = []
    top: list[str] = []
    count, title, labelled = "", "", False
    for number, line in _lines(path):
        content = line.strip(" \r\n")
        if not content.strip(f" {_SEPARATORS}"):
            continue
        entries, separator = _entries(path, number, content, rows, bool(title))
        names = header or (_split(path, number, title, separator) if title else [])
        if entries[0].startswith("#") and entries[0] not in names:
            continue
        header = names
        require_few_arms(path, max(len(entries), len(rows)))
        if not (rows or title):
            if len(entries) == 1 and entries[0].isdecimal() and not count:
                count = entries[0]
                continue
            if _is_header(entries):
                title = content
                continue
        if header and (not header[0] or (entries[0] and entries[0] in header)):
            entries, labelled = _without_name(path, number, entries, header, len(rows)), True
        if len(rows) < len(entries) and entries[len(rows)].lower() in _BLANK:
            entries[len(rows)] = "nan"
        row = _numbers(path, number, entries)
        if rows and len(row) != len(rows[0]):
            raise InputError(
                f"{file_text(path)} has {len(row)} entries in line {number} but {len(rows[0])} in "
                "its first row: all rows of a matrix are of one length."
            )
        top = top or entries
        rows.append(row)
    if not rows:
        raise InputError(f"{file_text(path)} holds no matrix: rows of numbers are needed.")
    table, numbers = _without_numbers(np.array(rows), top)
    if count and count.lstrip("0") != str(len(table)):
        raise InputError(
            f"{file_text(path)} has {shorten(count)} alone in its first line, which is not the "
            f"number of its rows, {len(table):,}."
        )
    if len(header) - len(table) in (0, int(labelled)):
        return table, [named_text(name) for name in header[-len(table) :]]
    return table, numbers


def file_text(path: Path) -> str:
    """A file in a sentence."""
    return f"file '{shorten(str(path), 300)}'"


def require_few_arms(path: Path, columns: int) -> None:
    """Raises InputError for more rows or columns than a matrix may have."""
    if columns > MAX_ARMS:
        raise InputError(
            f"{file_text(path)} has {columns:,} columns or rows: matrices of at most "
            f"{MAX_ARMS:,} arms can be read."
        )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text file, none of which is long."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            number = 0
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE and not line.endswith("\n"):
                    raise InputError(
                        f"{file_text(path)} has more than {_LONGEST_LINE:,} characters in line "
                        f"{number}: matrices of at most {MAX_ARMS:,} arms can be read."
                    )
                yield number, line
    except UnicodeDecodeError:
        raise InputError(
            f"{file_text(path)} is no text in UTF-8: rows of numbers are needed."
        ) from None


def _entries(
    path: Path, number: int, content: str, rows: list[np.ndarray], named: bool
) -> tuple[list[str], str | None]:
    """The entries of a line, and what separates them: the first separator with which the line is a
    row of numbers, or else the first that it has outside quotes; None for white space.

    Args:
      path: the file.
      number: the line's number.
      content: the line.
      rows: the rows before, whose number is the place of a blank.
      named: whether names of arms stood above, so that one may stand before the row.
    """
    for separator in (*filter(content.__contains__, _SEPARATORS), None):
        entries = _without_comment(_split(path, number, content, separator))
        if len(entries) > 1 and _is_row(entries, rows, named):
            return entries, separator
    outside = re.sub(r'"[^"]*"', "", content)
    separator = next(filter(outside.__contains__, _SEPARATORS), None)
    return _split(path, number, content, separator), separator


def _split(path: Path, number: int, content: str, separator: str | None) -> list[str]:
    """The entries of a line between separators, quotes taken away."""
    if separator is None:
        return [word.strip('"').strip() for word in _WORDS.findall(content)]
    if '"' not in content:
        return [entry.strip() for entry in content.split(separator)]
    try:
        (entries,) = csv.reader([content], delimiter=separator, skipinitialspace=True)
    except csv.Error as error:
        raise InputError(f"{file_text(path)} is no CSV in line {number}: {error}.") from None
    return [entry.strip() for entry in entries]


def _is_row(entries: list[str], rows: list[np.ndarray], named: bool) -> bool:
    """True for numbers, or as many as before with a blank on the diagonal; behind a name of any
    kind, if `named`."""
    first, row = int(named), len(rows)
    try:
        list(map(float, entries[first:]))
        return True
    except ValueError:
        as_wide = not rows or len(entries) - len(rows[0]) in (0, first)
        return as_wide and all(
            _is_number(entry) or (entry.lower() in _BLANK and at in (row, row + first))
            for at, entry in enumerate(entries[first:], start=first)
        )


def _is_header(entries: list[str]) -> bool:
    """True for names: no entry is a number; or the first is blank, and another is none."""
    none = [not (_is_number(entry) or _SHARE.fullmatch(entry)) for entry in entries]
    return all(none) or (entries[0] == "" and any(none[1:]) and "" not in entries[1:])


def _without_comment(entries: list[str]) -> list[str]:
    """The entries of a row up to a comment, which begins after the first."""
    for at, entry in enumerate(entries[1:], start=1):
        if "#" in entry:
            last = entry.split("#", 1)[0].strip()
            return [*entries[:at], *([last] if last else [])]
    return entries


def _without_name(
    path: Path, number: int, entries: list[str], header: list[str], row: int
) -> list[str]:
    """The entries of a row behind its name, which is that of its column, or its number."""
    name, *rest = entries
    expected = header[-len(rest) :][row : row + 1]
    if [name] != expected and (name in header or name not in (str(row), str(row + 1))):
        raise InputError(
            f"{file_text(path)} has '{shorten(name)}' before row {row + 1}, in line {number}: "
            "names of rows are those of the columns, in the same order."
        )
    return rest


def _numbers(path: Path, number: int, entries: list[str]) -> np.ndarray:
    try:
        return np.array([float(entry) for entry in entries])
    except ValueError:
        pass
    try:
        return np.array([float(entry.replace(",", ".")) for entry in entries])
    except ValueError:
        wrong = next(entry for entry in entries if not _is_number(entry))
        hint = ", such as 0.5 for 50 % or 1/2" if _SHARE.fullmatch(wrong) else ""
        raise InputError(
            f"{file_text(path)} has '{wrong[:20]}' in line {number}: "
            f"a matrix has rows of numbers only{hint}."
        ) from None


def _is_number(entry: str) -> bool:
    try:
        float(entry.replace(",", "."))
    except ValueError:
        return False
    return True


def _without_numbers(table: np.ndarray, top: list[str]) -> tuple[np.ndarray, list[str] | None]:
    """The table without a row of the arms' numbers 0..K-1 or 1..K above it, or a row and a column
    of the same numbers around it, the corner blank; and these as names if they are others."""
    rows, columns = table.shape
    around = rows == columns > 2 and np.isnan(table[0, 0])
    if around and np.array_equal(table[0, 1:], table[1:, 0]) and (table[0, 1:] != 0.5).any():
        return table[1:, 1:], None if _counts(table[0, 1:]) else top[1:]
    return (table[1:], None) if rows == columns + 1 and _counts(table[0]) else (table, None)


def _counts(numbers: np.ndarray) -> bool:
    arms = np.arange(len(numbers))
    return np.array_equal(numbers, arms) or np.array_equal(numbers, arms + 1)
