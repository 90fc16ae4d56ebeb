"""Votes from files: one a row, or counts; each different row is kept once."""

from __future__ import annotations

import os
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxduel.arguments import items_of
from jaxduel.display import counted
from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.files import as_path
from jaxduel.votes.apart import apart
from jaxduel.votes.columns import NO_TEXT, ReadAs, matching, named, places_of
from jaxduel.votes.counts import MOST_VOTES, Votes, from_counts, require_arms, require_voters
from jaxduel.votes.opening import DEFAULT, opened
from jaxduel.votes.outcomes import Meaning, Outcome, Reader, checked_meanings
from jaxduel.votes.preferences import number_of
from jaxduel.votes.repeats import PAIR, last_of_each
from jaxduel.votes.sides import Sides
from jaxduel.votes.tables import MoreColumns, Table
from jaxduel.votes.voters import summed


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
    preference: str | None = None,
    voter: str | None = None,
    ignore: str | Sequence[str] = (),
    outcomes: Mapping[str, Meaning] | None = None,
    last_of: str | Sequence[str] = (),
    header: Sequence[str] | None = None,
    encoding: str = DEFAULT,
) -> Votes:
    """Votes from a file: a table, JSON, Parquet, games in PGN, or rankings of PrefLib.

    Tables have their columns separated by commas, semicolons, tabs or else spaces. JSON is a record
    a line (JSONL), or an array of records; tables inside a record, in Parquet too, are columns such
    as result.choice. Any of them may be gzipped, or alone in a zip archive.

    The names of the columns, capitals or not, tell three layouts apart:

    - left, right, winner: one vote a row. The arms' columns may also be called model_a and model_b,
      a and b, White and Black, player1 and player2, and so on; the winner's result or outcome. The
      winner is the name of one of the two, or of its column, or 1-0, 0-1, 1/2-1/2, tie, both_bad or
      draw, or tie with a remark as in "tie (bothbad)"; names go before words, and a word that may
      mean another arm is refused. Codes such as W, L, D or 1, 2 are read where one alone fits the
      column;
    - winner, loser: one vote a row; also chosen, rejected;
    - left, right, left_wins, right_wins and optionally ties: counts, whose rows add up. So are
      winner_model_a, winner_model_b, winner_tie, of which one is 1 in each row;
    - left, right, preference: shares of a vote. 1 is a vote for the left arm and 2 for the right;
      numbers between give to both. `outcomes` has other ends, as `{"0": "left", "1": "right"}`.

    Of PGN the headers White, Black and Result are read, and games without a result left out; of
    PrefLib .soc, .soi, .toc, .toi (rankings, as the pairs in each), .wmd and .pwg.

    A column count (counts, freq, frequency, n, weight, games, num) says how many votes a row
    stands for, fractions for the models btl and davidson; a column draw (drawn, tie, is_tie) says
    whether it is a tie: true, yes or 1, or else false, no or 0. An unused column whose name says
    that it changes what a row means, such as valid or swapped, is refused unless it is ignored;
    `Votes.read_as` has the used and the unused columns.

    Arms are sorted by name, by value if all names are whole numbers. A last line without an end
    may be half written: it is left out of a table, with a warning.

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
      preference: name of the column of numbers between two ends.
      voter: name of the column of who voted, for `Votes.voters`: the intervals of a fit then
        allow for all votes of each.
      ignore: columns that are not used, whatever their names say.
      outcomes: meanings of words for the winner, "left", "right", "tie" or "skip", as in
        `{"error": "skip", "": "tie"}`: rows that are skipped are left out, and counted. The word
        "unresolved" stands for all that decide nothing: an empty entry, null, *, unclear, ...
      last_of: columns, such as `("voter", "item")`: of votes that are alike in all of them, the
        last one in the file's order counts. The word "pair" is for the two arms.
      header: names of the columns of a table that has no header.
      encoding: of the text.

    Raises:
      InputError: the file cannot be read, has a row of more than 2^25 characters, holds no votes or
        the votes of one arm, lacks columns or has an unused one that may change what a row means,
        or a line is wrong: an arm against itself, no name, a winner that is neither arm nor a word,
        or may be either or is undecided, an arm twice in a ranking, a game without a result, counts
        that are not numbers of at least 0, a preference outside its ends, a voter without a name.
        The sentence has the line's number. With `voter`, all votes are of one voter.

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
            *(("count", count), ("draw", draw), ("preference", preference), ("voter", voter)),
        )
        if column is not None
    }
    ignored = (ignore,) if isinstance(ignore, str) else items_of(ignore, "columns to ignore")
    names = () if header is None else items_of(header, "names of columns")
    keys = (last_of,) if isinstance(last_of, str) else items_of(last_of, "columns of last_of")
    for column in (*given.values(), *ignored, *names, *keys):
        if not isinstance(column, str):
            raise InputError(f"a column is given by its name, not {shorten(repr(column))}.")
    meanings = checked_meanings({} if outcomes is None else outcomes)
    for certain in (False, True):  # again if a late row has a new column, or anything is wrong
        with opened(path, _file(path), encoding, names, certain) as table:
            try:
                rows = _outcomes(path, table, given, ignored, meanings, keys, encoding)
            except (InputError, MoreColumns):
                if table.certain:
                    raise
                continue
            sided = table.sided and "left" in rows.read_as.columns
            return _counted(path, rows, sided)


class _Rows(NamedTuple):
    """Rows of a file as votes."""

    outcomes: list[Outcome]  # R different ones
    order: np.ndarray  # (N,) int32: the index of each row's outcome
    voters: np.ndarray | None  # (N,) int32: the number of each row's voter
    read_as: ReadAs


def _outcomes(
    path: Path,
    table: Table,
    given: Mapping[str, str],
    ignored: Sequence[str],
    meanings: Mapping[str, str],
    last_of: Sequence[str],
    encoding: str,
) -> _Rows:
    """The rows that are votes, and how they were read."""
    header = table.header
    by = None
    if "voter" in given:
        if not table.sided:
            raise InputError(f"{_file(path)} has no column of voters: PrefLib counts rankings.")
        by = matching(header, (given["voter"],))
    alike = [name for name in last_of if name != PAIR]
    others = [name for name in alike if matching(header, (name,)) != by]
    places = places_of(_file(path), header, given, [*ignored, *others])
    columns = {role: header[place] for role, place in places.items()}
    _require_winner(path, places, meanings)
    keys = [place for name in others for place in matching(header, (name,))]
    rows, order, numbers = _distinct(path, table, places, keys)
    if table.unfinished:
        warn_caller(
            f"the last line of {_file(path)}, {table.unfinished}, has no end and was left out: "
            "it may be half written."
        )
    arms = {name.strip() for row in rows for name in row[:2]}  # the first two of every layout
    entries = [dict(zip(places, map(str.strip, row), strict=False)) for row in rows]
    if "preference" in places and all(number_of(row["preference"]) is None for row in entries):
        columns["winner"] = columns.pop("preference")  # words for it, not numbers
        entries = [{"winner": row.pop("preference"), **row} for row in entries]
    role = "preference" if "preference" in columns else "winner"
    words = {row.get(role, "") for row in entries}
    reader = Reader(columns, arms, words, meanings, table.undecided)
    outcomes: list[Outcome] = []
    skipped: dict[int, str] = {}
    for number, (row, place) in enumerate(zip(entries, rows.values(), strict=True)):
        try:
            said = reader.outcome_of(row)
        except ValueError as error:
            raise InputError(f"{_file(path)}, {table.unit} {place}: {error}.") from None
        if said is None:
            skipped[number] = row.get(role, "")
        elif wrong := next(filter(NO_TEXT.search, said[:2]), None):
            raise InputError(
                f"{_file(path)}, {table.unit} {place}: the name {named(wrong)} is no text in "
                f"{shorten(encoding)}, or has a control character: save the file as UTF-8, or in "
                "Python give its encoding, such as encoding='cp1252'; or change the name."
            )
        else:
            outcomes.append(said)
    left_out: dict[str, int] = {}
    if skipped:
        left_out, stays, order = _without(skipped, order)
        numbers = [column[stays] for column in numbers]
    if not outcomes:
        lacks = table.nothing
        if skipped:
            lacks = f"all its rows, {sum(left_out.values()):,}, are left out"
        raise InputError(f"{_file(path)} holds no votes: {lacks}.")
    for word in reader.unsaid():
        warn_caller(f"no row of {_file(path)} has the winner {named(word)}.")
    used = {*places.values(), *keys}
    unused = [name for place, name in enumerate(header) if place not in used]
    remarks = (*table.remarks, *reader.remarks)
    if last_of:
        of = numbers if len(others) < len(alike) else numbers[: len(keys)]
        last = last_of_each([*of, _pairs(outcomes)[order]] if PAIR in last_of else of)
        earlier = counted(len(order) - len(last), "earlier row")
        remarks += (f"{earlier} of the same {' and '.join(map(named, last_of))} left out",)
        order, numbers = order[last], [column[last] for column in numbers]
        kept = np.unique(order)
        outcomes, order = [outcomes[row] for row in kept], np.searchsorted(kept, order)
    voters = numbers[-1] if "voter" in places else None
    return _Rows(outcomes, order, voters, ReadAs(columns, tuple(unused), left_out, remarks))


def _distinct(
    path: Path, table: Table, places: Mapping[str, int], keys: Sequence[int]
) -> tuple[dict[tuple[str, ...], int], np.ndarray, list[np.ndarray]]:
    """The place of each different row, (N,) the index of each row among these, and (N,) the numbers
    of entries that are kept apart: those of `keys`, then voters.

    Args:
      path: the file.
      table: its rows.
      places: the column of each role; a row has a voter only where the voter has no name.
      keys: columns that have no role.
    """
    rows: dict[tuple[str, ...], int] = {}
    numbers: list[int] = []
    order = array("i")
    found = table.rows([*places.values(), *keys])
    columns = [array("i") for _ in keys]
    for column in reversed(columns):
        found = apart(found, column)
    if "voter" in places:
        columns.append(array("i"))
        found = apart(found, columns[-1], required=True)
    try:
        for row in found:
            number = rows.get(row)  # one look-up: millions of rows, few of them different
            if number is None:
                number = rows[row] = len(rows)
                numbers.append(table.place)
            order.append(number)
    except (InputError, UnicodeError):
        raise
    except ValueError as error:
        raise InputError(f"{_file(path)}, {table.unit} {table.place}: {error}.") from None
    order, *columns = (np.frombuffer(each, np.int32) for each in (order, *columns))
    return dict(zip(rows, numbers, strict=True)), order, columns


def _pairs(outcomes: Sequence[Outcome]) -> np.ndarray:
    """(R,) the number of the two arms of each outcome, whatever their sides."""
    numbers: dict[frozenset[str], int] = {}
    return np.array([numbers.setdefault(frozenset(said[:2]), len(numbers)) for said in outcomes])


def _require_winner(path: Path, places: Mapping[str, int], meanings: Mapping[str, str]) -> None:
    """Raises InputError for meanings of words that the layout cannot have."""
    if meanings and not {"winner", "preference"} & places.keys():
        raise InputError(f"{_file(path)} has counts, and outcomes are of a column winner.")
    if "loser" in places and set(meanings.values()) - {"skip"}:
        raise InputError(
            f"{_file(path)} has columns winner and loser: an outcome can only be skipped there."
        )


def _without(
    skipped: Mapping[int, str], order: np.ndarray
) -> tuple[dict[str, int], np.ndarray, np.ndarray]:
    """Number of skipped rows by their winner, (N,) True for the other rows, and the order of
    these, renumbered."""
    counts = np.bincount(order)
    left_out: dict[str, int] = {}
    for row, winner in skipped.items():
        left_out[winner] = left_out.get(winner, 0) + int(counts[row])
    kept = np.ones(len(counts), bool)
    kept[list(skipped)] = False
    stays = kept[order]
    return left_out, stays, (np.cumsum(kept, dtype=np.int32) - 1)[order[stays]]


def _counted(path: Path, rows: _Rows, sided: bool) -> Votes:
    """The votes of rows; `sided` if the first arm of an outcome was on the left."""
    outcomes, order, voters, read_as = rows
    found = {name for outcome in outcomes for name in outcome[:2]}
    require_arms(len(found), f"{_file(path)} has votes of")
    numbers = all(name.isascii() and name.isdigit() for name in found)
    arms = sorted(found, key=_value if numbers else None)
    number = {arm: place for place, arm in enumerate(arms)}
    whole = all(float(value).is_integer() for said in outcomes for value in said[2:])
    pairs = np.array([[number[name] for name in said[:2]] for said in outcomes], np.int32)
    votes = np.array([said[2:] for said in outcomes], np.int64 if whole else np.float64)
    sides = Sides(*np.zeros((3, len(arms), len(arms)), votes.dtype))
    each = np.bincount(order, minlength=len(outcomes))
    for counts, kind in zip(sides, votes.T, strict=True):
        np.add.at(counts, tuple(pairs.T), kind * each)
    wins, ties = sides.left + sides.right.T, sides.ties + sides.ties.T
    most = np.maximum(wins, ties)
    if most.max() > MOST_VOTES:
        i, j = np.unravel_index(most.argmax(), most.shape)
        raise InputError(
            f"{_file(path)} has {most[i, j]:,} votes of one kind for {named(arms[i])} and "
            f"{named(arms[j])}: at most 2^31 - 1 are counted."
        )
    history = by_voter = None
    if whole and (votes.sum(axis=1) == 1).all():
        history = np.column_stack([pairs, votes[:, 0] - votes[:, 1]]).astype(np.int32)[order]
    total = from_counts(wins, ties, arms, path.name)
    if voters is not None:
        by_voter = summed(voters, order, pairs, votes)
        require_voters(by_voter, _file(path))
    return replace(
        total,
        history=history,
        read_as=read_as,
        sides=sides if sided else None,
        voters=by_voter,
    )


def _value(digits: str) -> tuple[int, str, str]:
    """A key that sorts whole numbers of any length by value, equal ones as text."""
    significant = digits.lstrip("0")
    return len(significant), significant, digits


def _file(path: Path) -> str:
    return f"file '{shorten(str(path), 300)}'"
