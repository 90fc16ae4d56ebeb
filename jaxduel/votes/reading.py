"""Votes from text files: one a row, or counts; read line by line, in memory of the pairs alone."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import os
import re
import stat
import zlib
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import numpy as np

from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.files import as_path, why
from jaxduel.votes.counts import MOST_VOTES, Votes, from_counts, require_arms

_SIDES = (("left", "model_a", "a"), ("right", "model_b", "b"))
"""Names of the columns of the two arms, and words for them in the column `winner`."""
_TIES = ("tie", "tie (bothbad)", "both_bad", "draw")
_ALIASES = {
    "left": _SIDES[0],
    "right": _SIDES[1],
    **{role: (role,) for role in ("winner", "loser", "left_wins", "right_wins", "ties")},
}
_LAYOUTS = (
    ("left", "right", "winner"),
    ("left", "right", "left_wins", "right_wins"),
    ("winner", "loser"),
)
_DELIMITERS = (",", ";", "\t")
_LONGEST_FIELD = 2**24
"""Most characters of an entry: logs hold conversations in columns that are ignored."""
_LONGEST_ROW = 2**25
"""Most characters of a row, in one line or several: a gzipped file may unpack to any number."""
_SHOWN = 20
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, ends of lines, and surrogates, which stand for bytes that are no text."""

Outcome = tuple[str, str, int, int, int]
"""Left arm, right arm, votes for the left, votes for the right, ties."""


def read(
    path: str | os.PathLike[str],
    *,
    left: str | None = None,
    right: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    left_wins: str | None = None,
    right_wins: str | None = None,
    ties: str | None = None,
    encoding: str = "utf-8-sig",
) -> Votes:
    """Votes from a file with a header, its columns separated by commas, semicolons or tabs.

    Three layouts are told apart by the columns that are there, capitals or not; other columns are
    ignored:

    - left, right, winner: one vote a row. The arms' columns may also be called model_a and model_b,
      or a and b. The winner is the name of one of the two, or one of these words for its side, or
      tie, "tie (bothbad)", both_bad or draw; a name goes before a word, and a word that may be
      meant for another arm is refused;
    - winner, loser: one vote a row;
    - left, right, left_wins, right_wins and, if it is there, ties: counts, whose rows add up.

    Arms are sorted by name, by value if all names are whole numbers. A last line without an end
    may be half written: it is left out, with a warning. Files may be gzipped.

    Args:
      path: the file.
      left: name of the column of the one arm.
      right: name of the column of the other arm.
      winner: name of the column of the winner.
      loser: name of the column of the loser.
      left_wins: name of the column of votes for the left arm.
      right_wins: name of the column of votes for the right arm.
      ties: name of the column of ties.
      encoding: of the text.

    Raises:
      InputError: the file cannot be read, has a row of more than 2^25 characters, holds no votes or
        those of one arm, lacks columns, or a line is wrong: an arm against itself, no name, a
        winner that is neither arm nor a word, or may be either, counts that are not whole numbers
        of at least 0. The sentence has the line's number.

    Example:
      >>> from pathlib import Path
      >>> import jaxduel as jd
      >>> lines = ["left,right,winner", "ada,bob,ada", "bob,cyd,tie", "cyd,ada,right"]
      >>> _ = Path("votes.csv").write_text("\\n".join(lines) + "\\n")
      >>> votes = jd.votes.read("votes.csv")
      >>> votes
      Votes('votes.csv', K=3, 3 votes, 1 of them ties)
      >>> votes.wins.tolist()
      [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    """
    path = as_path(path, "read")
    if not isinstance(encoding, str) or "\0" in encoding:
        raise InputError(f"the encoding of a file is a name, not {shorten(repr(encoding))}.")
    named = {
        role: column
        for role, column in (
            *(("left", left), ("right", right), ("winner", winner), ("loser", loser)),
            *(("left_wins", left_wins), ("right_wins", right_wins), ("ties", ties)),
        )
        if column is not None
    }
    if odd := [column for column in named.values() if not isinstance(column, str)]:
        raise InputError(f"a column is given by its name, not {shorten(repr(odd[0]))}.")
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{_file(path)} is not a regular file: a file of votes is needed.")
        with _opened(path, encoding) as file:
            outcomes, order = _outcomes(path, file, named, encoding)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{_file(path)} is damaged: it cannot be unpacked.") from None
    except (UnicodeError, LookupError):
        raise InputError(f"{_file(path)} is no text in {shorten(encoding)}.") from None
    except OSError as error:
        raise InputError(f"{_file(path)} cannot be read: {why(error)}.") from None
    return _counted(path, outcomes, order)


@contextmanager
def _opened(path: Path, encoding: str) -> Iterator[IO[str]]:
    """The file as text. Bytes that are none become surrogates: where they stand may not matter."""
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        with gzip.open(file) if zipped else file as content:
            yield io.TextIOWrapper(content, encoding, "surrogateescape", newline="")


def _outcomes(
    path: Path, file: IO[str], named: Mapping[str, str], encoding: str
) -> tuple[list[Outcome], np.ndarray]:
    """The outcome of each different row, and (N,) the number of each row's in that list."""
    unfinished: list[str] = []
    size = [0]
    lines = _whole(file, unfinished, size)
    first = next(lines, None)
    if first is None or not first.strip():
        lacks = "has a blank first line" if first else "is empty"
        if unfinished:
            lacks = "has one line without an end, which may be half written"
        raise InputError(
            f"{_file(path)} {lacks}: a header such as left,right,winner and votes are needed."
        )
    delimiter = max(_DELIMITERS, key=re.sub('"[^"]*"', "", first).count)
    header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
    places = _places(path, header, named)
    take: Any = itemgetter(*places.values())  # of a row a tuple: layouts have 2 columns or more
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows: dict[tuple[str, ...], int] = {}
    numbers: list[int] = []
    order = array("i")
    limit, whole = csv.field_size_limit(_LONGEST_FIELD), 1
    try:
        for row in _rows(reader, len(header), take):
            if row not in rows:
                rows[row] = len(rows)
                numbers.append(reader.line_num + 1)
            order.append(rows[row])
            whole = reader.line_num + 1
            size[0] = 0
    except ValueError as error:
        raise InputError(f"{_file(path)}, line {reader.line_num + 1}: {error}.") from None
    except csv.Error as error:
        if "end of data" in str(error):
            raise InputError(
                f"{_file(path)} has a quote after line {whole} and none that ends it."
            ) from None
        raise InputError(f"{_file(path)}, line {reader.line_num + 1}: {error}.") from None
    finally:
        csv.field_size_limit(limit)
    if unfinished:
        warn_caller(
            f"the last line of {_file(path)}, {reader.line_num + 2}, has no end and was left out: "
            "it may be half written."
        )
    arms = {name.strip() for row in rows for name in row[:2]}  # the first two of every layout
    outcomes: list[Outcome] = []
    for row, line in zip(rows, numbers, strict=True):
        entries = {role: text.strip() for role, text in zip(places, row, strict=True)}
        try:
            said = _outcome(entries, arms)
        except ValueError as error:
            raise InputError(f"{_file(path)}, line {line}: {error}.") from None
        if any(map(_NO_TEXT.search, said[:2])):
            raise InputError(
                f"{_file(path)}, line {line}: a name is no text in {shorten(encoding)}, or "
                "has control characters: save the file as UTF-8."
            )
        outcomes.append(said)
    if not outcomes:
        raise InputError(f"{_file(path)} holds no votes: its header is the only whole line.")
    return outcomes, np.frombuffer(order, np.int32)


def _whole(file: IO[str], unfinished: list[str], size: list[int]) -> Iterator[str]:
    """The lines of a file; a last one without an end goes to `unfinished` instead. `size` counts
    the characters of a row."""
    while line := file.readline(_LONGEST_ROW):
        size[0] += len(line)
        if size[0] >= _LONGEST_ROW:
            raise OSError(errno.EFBIG, f"a row has more than {_LONGEST_ROW:,} characters")
        if not line.endswith(("\n", "\r")):
            unfinished.append(line)
            return
        yield line


def _rows(
    reader: Iterator[list[str]], width: int, take: Callable[[list[str]], tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    """The wanted columns of each row that is not blank."""
    for row in reader:
        if len(row) == width:
            yield take(row)
        elif any(text.strip() for text in row):
            raise ValueError(f"{len(row)} entries, but the header has {width}")


def _places(path: Path, header: list[str], named: Mapping[str, str]) -> dict[str, int]:
    """The position of each column that is needed, by its role."""
    lower = [name.lower() for name in header]
    found: dict[str, int] = {}
    for role, aliases in _ALIASES.items():
        names = (named[role],) if role in named else aliases
        places = [place for place, name in enumerate(header) if name in names] or [
            place for place, name in enumerate(lower) if name in [each.lower() for each in names]
        ]
        if len(places) > 1:
            raise InputError(
                f"{_file(path)} has several columns for {role}, "
                f"{' and '.join(_named(header[place]) for place in places)}: name one."
            )
        if places:
            found[role] = places[0]
        elif role in named:
            raise InputError(f"{_file(path)} has no column {_named(named[role])}{_has(header)}")
    layouts = (
        (*layout, "ties") if "left_wins" in layout and "ties" in found else layout
        for layout in _LAYOUTS
    )
    fitting = [layout for layout in layouts if set(layout) <= set(found)]
    chosen = [layout for layout in fitting if set(named) <= set(layout)]
    said = set(named) - {"left", "right"}
    if len(chosen) > 1 and said:
        chosen = [layout for layout in chosen if said & set(layout)]
    if not fitting:
        raise InputError(
            f"{_file(path)} needs columns left, right and winner, or winner and loser, or left, "
            f"right, left_wins and right_wins, by these names or named{_has(header)}"
        )
    both = " and as ".join(", ".join(layout) for layout in chosen or fitting)
    if not chosen:
        raise InputError(
            f"{_file(path)} can be read as {both}: not with columns named for {', '.join(named)}."
        )
    if len(chosen) > 1:
        raise InputError(f"{_file(path)} can be read as {both}: name the columns that count.")
    return {role: found[role] for role in chosen[0]}


def _has(header: list[str]) -> str:
    more = f" and {len(header) - _SHOWN} more" if len(header) > _SHOWN else ""
    hint = ": save the file as UTF-8 text" if any(map(_NO_TEXT.search, header)) else ""
    return f"; it has {', '.join(map(_named, header[:_SHOWN]))}{more}{hint}."


def _outcome(row: Mapping[str, str], arms: Collection[str]) -> Outcome:
    """The outcome in a row of a file of these arms.

    Raises ValueError with half a sentence for one that is wrong.
    """
    left, right = (row["winner"], row["loser"]) if "loser" in row else (row["left"], row["right"])
    if not left or not right:
        raise ValueError("the name of an arm is missing")
    if left == right:
        raise ValueError(f"{_named(left)} is compared with itself")
    if "left_wins" in row:
        counts = (row["left_wins"], row["right_wins"], row.get("ties", "0"))
        return (left, right, *map(_count, counts))  # pyright: ignore[reportReturnType]
    if "loser" in row:
        return left, right, 1, 0, 0
    winner = row["winner"]
    if winner in (left, right):
        return left, right, int(winner == left), int(winner == right), 0
    word = winner.lower()
    side = left if word in _SIDES[0] else right if word in _SIDES[1] else None
    if side is None and word not in _TIES:
        raise ValueError(
            f"the winner, {_named(winner)}, is neither {_named(left)} nor {_named(right)}, left, "
            "right or tie"
        )
    others = [winner] if winner in arms else []
    others += [arm for arm in (left, right) if arm != side and arm.lower() == word]
    if others:
        meant = "a tie" if side is None else f"the side of {_named(side)}"
        raise ValueError(
            f"the winner, {_named(winner)}, may be {meant} or the arm {_named(others[0])}: a name "
            "of the two, or a word that is no arm's, is needed"
        )
    return left, right, int(side == left), int(side == right), int(side is None)


def _count(text: str) -> int:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not (number.is_integer() and 0 <= number <= MOST_VOTES):
        raise ValueError(f"{_named(text)} is no count: a whole number from 0 to 2^31 - 1 is needed")
    return int(number)


def _counted(path: Path, outcomes: Sequence[Outcome], order: np.ndarray) -> Votes:
    """The votes of rows, whose outcomes have these numbers in a list."""
    found = {name for outcome in outcomes for name in outcome[:2]}
    require_arms(len(found), f"{_file(path)} has votes of")
    whole = all(name.isascii() and name.isdigit() for name in found)
    arms = sorted(found, key=_value if whole else None)
    number = {arm: place for place, arm in enumerate(arms)}
    wins = np.zeros((len(arms), len(arms)), np.int64)
    ties = np.zeros_like(wins)
    rows = np.zeros((len(outcomes), 3), np.int32)
    each = np.bincount(order, minlength=len(outcomes))
    for row, (left, right, won, lost, tied) in enumerate(outcomes):
        i, j, count = number[left], number[right], int(each[row])
        rows[row] = i, j, won - lost
        wins[i, j] += won * count
        wins[j, i] += lost * count
        ties[i, j] += tied * count
        ties[j, i] += tied * count
    most = np.maximum(wins, ties)
    if most.max() > MOST_VOTES:
        i, j = np.unravel_index(most.argmax(), most.shape)
        raise InputError(
            f"{_file(path)} has {most[i, j]:,} votes of one kind for {_named(arms[i])} and "
            f"{_named(arms[j])}: at most 2^31 - 1 are counted."
        )
    votes = from_counts(wins, ties, arms, path.name)
    one_a_row = votes.num_votes == len(order) and all(sum(said[2:]) == 1 for said in outcomes)
    return replace(votes, history=rows[order]) if one_a_row else votes


def _value(digits: str) -> tuple[int, str, str]:
    """A key that sorts whole numbers of any length by value, equal ones as text."""
    significant = digits.lstrip("0")
    return len(significant), significant, digits


def _file(path: Path) -> str:
    return f"file '{shorten(str(path), 300)}'"


def _named(text: str) -> str:
    """A text of the file in quotes, what is no text in it as escapes such as \\x1b."""
    return f"'{shorten(_NO_TEXT.sub(lambda found: repr(found[0])[1:-1], text))}'"
