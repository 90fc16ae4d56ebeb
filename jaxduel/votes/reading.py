"""Votes from text files: one a row, or counts; read line by line, each different row kept once."""

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import numpy as np

from jaxduel.arguments import items_of
from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.files import as_path, why
from jaxduel.votes.columns import NO_TEXT, ReadAs, named, places_of
from jaxduel.votes.counts import MOST_VOTES, Votes, from_counts, require_arms
from jaxduel.votes.outcomes import Meaning, Outcome, checked_meanings, outcome_of

_DELIMITERS = (",", ";", "\t")
_LONGEST_FIELD = 2**24
"""Most characters of an entry: logs hold conversations in columns that are ignored."""
_LONGEST_ROW = 2**25
"""Most characters of a row, in one line or several: a gzipped file may unpack to any number."""


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
    count: str | None = None,
    draw: str | None = None,
    ignore: str | Sequence[str] = (),
    outcomes: Mapping[str, Meaning] | None = None,
    encoding: str = "utf-8-sig",
) -> Votes:
    """Votes from a file with a header, its columns separated by commas, semicolons or tabs.

    The names of the columns, capitals or not, tell three layouts apart:

    - left, right, winner: one vote a row. The arms' columns may also be called model_a and model_b,
      or a and b. The winner is the name of one of the two, or one of these words for its side, or
      tie, both_bad or draw, or tie with a remark as in "tie (bothbad)"; names go before words, and
      a word that may mean another arm is refused;
    - winner, loser: one vote a row;
    - left, right, left_wins, right_wins and optionally ties: counts, whose rows add up.

    A column count (counts, freq, frequency, n, weight, games, num) says how many votes a row of the
    first two layouts stands for; a column draw (drawn, tie, is_tie) says whether it is a tie: true,
    yes or 1, or else false, no or 0. An unused column whose name says that it changes what a row
    means, such as valid or swapped, is refused unless it is ignored; `Votes.read_as` has the used
    and the unused columns.

    Arms are sorted by name, by value if all names are whole numbers. A last line without an end
    may be half written: it is left out, with a warning. Files may be gzipped.

    Args:
      path: the file.
      left: name of the column of the left arm.
      right: name of the column of the right arm.
      winner: name of the column of the winner.
      loser: name of the column of the loser.
      left_wins: name of the column of votes for the left arm.
      right_wins: name of the column of votes for the right arm.
      ties: name of the column of ties.
      count: name of the column of how many votes a row stands for.
      draw: name of the column that says whether a row is a tie.
      ignore: columns that are not used, whatever their names say.
      outcomes: meanings of words for the winner, "left", "right", "tie" or "skip", as in
        `{"unclear": "skip", "": "skip"}`: rows that are skipped are left out, and counted.
      encoding: of the text.

    Raises:
      InputError: the file cannot be read, has a row of more than 2^25 characters, holds no votes or
        the votes of one arm, lacks columns or has an unused one that may change what a row means,
        or a line is wrong: an arm against itself, no name, a winner that is neither arm nor a word,
        or may be either, counts that are not whole numbers of at least 0. The sentence has the
        line's number.

    Warns:
      UserWarning: a last line without an end, or an outcome that no row has.

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
    given = {
        role: column
        for role, column in (
            *(("left", left), ("right", right), ("winner", winner), ("loser", loser)),
            *(("left_wins", left_wins), ("right_wins", right_wins), ("ties", ties)),
            *(("count", count), ("draw", draw)),
        )
        if column is not None
    }
    ignored = (ignore,) if isinstance(ignore, str) else items_of(ignore, "columns to ignore")
    for column in (*given.values(), *ignored):
        if not isinstance(column, str):
            raise InputError(f"a column is given by its name, not {shorten(repr(column))}.")
    meanings = checked_meanings({} if outcomes is None else outcomes)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{_file(path)} is not a regular file: a file of votes is needed.")
        with _opened(path, encoding) as file:
            found, order, read_as = _outcomes(path, file, given, ignored, meanings, encoding)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{_file(path)} is damaged: it cannot be unpacked.") from None
    except (UnicodeError, LookupError):
        raise InputError(f"{_file(path)} is no text in {shorten(encoding)}.") from None
    except OSError as error:
        raise InputError(f"{_file(path)} cannot be read: {why(error)}.") from None
    return replace(_counted(path, found, order), read_as=read_as)


@contextmanager
def _opened(path: Path, encoding: str) -> Iterator[IO[str]]:
    """The file as text. Bytes that are no text become surrogates: they may be in unused columns."""
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        with gzip.open(file) if zipped else file as content:
            yield io.TextIOWrapper(content, encoding, "surrogateescape", newline="")


def _outcomes(
    path: Path,
    file: IO[str],
    given: Mapping[str, str],
    ignored: Sequence[str],
    meanings: Mapping[str, str],
    encoding: str,
) -> tuple[list[Outcome], np.ndarray, ReadAs]:
    """The outcomes of different rows, (N,) the index of each row's outcome, and how the rows were
    read."""
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
    places = places_of(_file(path), header, given, ignored)
    _require_winner(path, places, meanings)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows, order = _distinct(path, reader, len(header), places, size)
    if unfinished:
        warn_caller(
            f"the last line of {_file(path)}, {reader.line_num + 2}, has no end and was left out: "
            "it may be half written."
        )
    arms = {name.strip() for row in rows for name in row[:2]}  # the first two of every layout
    outcomes: list[Outcome] = []
    words: set[str] = set()
    skipped: dict[int, str] = {}
    for number, (row, line) in enumerate(rows.items()):
        entries = {role: text.strip() for role, text in zip(places, row, strict=True)}
        words.add(winner := entries.get("winner", ""))
        try:
            said = outcome_of(entries, arms, meanings)
        except ValueError as error:
            raise InputError(f"{_file(path)}, line {line}: {error}.") from None
        if said is None:
            skipped[number] = winner
        elif any(map(NO_TEXT.search, said[:2])):
            raise InputError(
                f"{_file(path)}, line {line}: a name is no text in {shorten(encoding)}, or "
                "has control characters: save the file as UTF-8."
            )
        else:
            outcomes.append(said)
    left_out: dict[str, int] = {}
    if skipped:
        left_out, order = _without(skipped, order)
    if not outcomes:
        lacks = "its header is the only whole line"
        if skipped:
            lacks = f"all its rows, {sum(left_out.values()):,}, are left out"
        raise InputError(f"{_file(path)} holds no votes: {lacks}.")
    for word in sorted({word.lower() for word in meanings} - {word.lower() for word in words}):
        warn_caller(f"no row of {_file(path)} has the winner {named(word)}.")
    unused = [name for place, name in enumerate(header) if place not in places.values()]
    columns = {role: header[place] for role, place in places.items()}
    return outcomes, order, ReadAs(columns, tuple(unused), left_out)


def _distinct(
    path: Path, reader: Any, width: int, places: Mapping[str, int], size: list[int]
) -> tuple[dict[tuple[str, ...], int], np.ndarray]:
    """The line of each different row (used columns only), and (N,) the index of each row among
    these. `size` counts the characters of a row."""
    take: Any = itemgetter(*places.values())  # of a row a tuple: layouts have 2 columns or more
    rows: dict[tuple[str, ...], int] = {}
    numbers: list[int] = []
    order = array("i")
    limit, whole = csv.field_size_limit(_LONGEST_FIELD), 1
    try:
        for row in _rows(reader, width, take):
            number = rows.get(row)  # one look-up: millions of rows, few of them different
            if number is None:
                number = rows[row] = len(rows)
                numbers.append(reader.line_num + 1)
            order.append(number)
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
    return dict(zip(rows, numbers, strict=True)), np.frombuffer(order, np.int32)


def _require_winner(path: Path, places: Mapping[str, int], meanings: Mapping[str, str]) -> None:
    """Raises InputError for meanings of words that the layout cannot have."""
    if meanings and "winner" not in places:
        raise InputError(f"{_file(path)} has counts, and outcomes are of a column winner.")
    if "loser" in places and set(meanings.values()) - {"skip"}:
        raise InputError(
            f"{_file(path)} has columns winner and loser: an outcome can only be skipped there."
        )


def _without(skipped: Mapping[int, str], order: np.ndarray) -> tuple[dict[str, int], np.ndarray]:
    """Number of skipped rows by their winner, and the order without them, renumbered."""
    counts = np.bincount(order)
    left_out: dict[str, int] = {}
    for row, winner in skipped.items():
        left_out[winner] = left_out.get(winner, 0) + int(counts[row])
    kept = np.ones(len(counts), bool)
    kept[list(skipped)] = False
    return left_out, (np.cumsum(kept, dtype=np.int32) - 1)[order[kept[order]]]


def _whole(file: IO[str], unfinished: list[str], size: list[int]) -> Iterator[str]:
    """The lines of a file; a last line without an end goes to `unfinished` instead. `size` counts
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


def _counted(path: Path, outcomes: Sequence[Outcome], order: np.ndarray) -> Votes:
    """The votes of rows, by the outcomes of different rows and each row's index among these."""
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
            f"{_file(path)} has {most[i, j]:,} votes of one kind for {named(arms[i])} and "
            f"{named(arms[j])}: at most 2^31 - 1 are counted."
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
