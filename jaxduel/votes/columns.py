"""Columns of a log: their roles, by name, and unused columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from shlex import quote
from typing import NamedTuple

from jaxduel.display import counted, listed
from jaxduel.errors import InputError, shorten

SIDES = (("left", "model_a", "a"), ("right", "model_b", "b"))
"""Words for the two arms in the column `winner`; also names of their columns."""
ONE_HOT = ("winner_model_a", "winner_a")
"""Names of `left_wins` in files with columns of which one is 1 in each row."""
_COUNTS = ("count", "counts", "cnt", "freq", "frequency", "n", "num", "number", "weight", "games")
_DRAWS = ("draw", "drawn", "tie", "is_tie")
ROLES: Mapping[str, tuple[str, ...]] = {
    "left": (*SIDES[0], "white", "player1", "player_1", "player_a", "model_1", "generator_1"),
    "right": (*SIDES[1], "black", "player2", "player_2", "player_b", "model_2", "generator_2"),
    "winner": ("winner",),
    "loser": ("loser",),
    "left_wins": ("left_wins", *ONE_HOT, "win1", "wins1"),
    "right_wins": ("right_wins", "winner_model_b", "winner_b", "win2", "wins2"),
    "ties": ("ties", "draws", "winner_tie"),
    "count": _COUNTS,
    "draw": _DRAWS,
    "preference": ("preference",),
    "voter": (),
}
"""Names, in any case, by which the column of each role is found; of none if it has to be named."""
_OTHERWISE: tuple[Mapping[str, tuple[str, ...]], ...] = (
    {"winner": ("chosen_model",), "loser": ("rejected_model",)},
    {"winner": ("chosen",), "loser": ("rejected",)},
    {"winner": ("result", "outcome")},
)
"""Names for roles that none of the names above has: those of the first row that is there as a
whole."""
_LAYOUTS = {
    ("left", "right", "winner"): ("count", "draw", "voter"),
    ("left", "right", "left_wins", "right_wins"): ("ties", "voter"),
    ("winner", "loser"): ("count", "draw", "voter"),
    ("left", "right", "preference"): ("count", "voter"),
}
"""Roles that a layout needs, and its optional roles."""
_NEEDED = ("left", "right", "winner", "loser")
_SAY_HOW_MANY = {
    *_COUNTS,
    *(
        "freqs",
        "weights",
        "wt",
        "wts",
        "sample_weight",
        "times",
        "total",
        "multiplicity",
        "repeats",
    ),
    *("reps", "occurrences", "quantity", "qty"),
    *("repetitions", "votes", "num_votes", "n_votes", "vote_count"),
    *("num_games", "n_games", "game_count"),
}
_SAY_TIED = {
    *_DRAWS, *ROLES["ties"], "tied", "is_tied", "is_draw", "is_drawn", "equal", "is_equal",
    "both_bad", "bothbad", "no_preference", "stalemate", "undecided", "unclear",
}  # fmt: skip
_SAY_OUTCOME = {"result", "outcome"}
_SAY_OTHERWISE = {
    *("valid", "invalid", "anony", "anonymous", "exclude", "excluded", "included", "duplicate"),
    *("duplicated", "dup", "flip", "flipped", "swap", "swapped", "reverse", "reversed", "invert"),
    *("inverted", "discard", "discarded", "skip", "skipped", "void", "voided", "spam", "deleted"),
    *("removed", "cancelled", "canceled", "aborted", "disqualified", "filtered", "ignored"),
}
"""Words in the names of columns that say that a row is no vote, or a different vote."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_BETWEEN = re.compile(r"[\s.-]+")
_PLURAL = ("count", "draw")
_MOST_WORDS = 3
_SHOWN = 20
_DROPPED = 8
NO_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, ends of lines, and surrogates, which stand for bytes that are no text."""


class ReadAs(NamedTuple):
    """Reading of the columns and rows of a file.

    Example:
      >>> from pathlib import Path
      >>> import jaxduel as jd
      >>> _ = Path("games.csv").write_text("round,Winner,Loser,Games\\n1,ada,bob,3\\n")
      >>> votes = jd.votes.read("games.csv")
      >>> votes.read_as.columns
      {'winner': 'Winner', 'loser': 'Loser', 'count': 'Games'}
      >>> votes.read_as.ignored
      ('round',)
    """

    columns: Mapping[str, str]
    """The column of each role."""
    ignored: tuple[str, ...]
    """Columns that are not used."""
    left_out: Mapping[str, int]
    """Number of rows left out, by the word for their winner."""
    remarks: tuple[str, ...] = ()
    """Half sentences about the reading of the format and of coded winners."""

    def notes(self) -> list[str]:
        """Columns with other names than their roles, columns that are not used and rows left out,
        in half sentences."""
        other = {
            role: name
            for role, name in self.columns.items()
            if name.lower() != role or role in _PLURAL
        }
        notes = [
            f"{role}s by the column {named(other.pop(role))}" for role in _PLURAL if role in other
        ]
        if other:
            names = listed([f"{named(name)} as {role}" for role, name in other.items()])
            notes.insert(0, f"columns read: {names}")
        notes += self.remarks
        if self.ignored:
            notes.append(f"columns not used: {listed([named(name) for name in self.ignored])}")
        if self.left_out:
            rows = counted(sum(self.left_out.values()), "row")
            each = [f"{count:,} of {named(word)}" for word, count in self.left_out.items()]
            notes.append(f"{rows} left out: {listed(each)}")
        return notes


def places_of(
    file: str, header: Sequence[str], given: Mapping[str, str], ignored: Collection[str]
) -> dict[str, int]:
    """The position of each column that is used, by its role.

    Args:
      file: the file, for messages.
      header: the names of the columns.
      given: names of columns, by role.
      ignored: names of columns that are not used.

    Raises:
      InputError: columns that are missing, ambiguous, or unused though their names say that they
        change what a row means.
    """
    dropped = {place for name in ignored for place in _required(file, header, name)}
    candidates: dict[str, list[int]] = {}
    for role, name in given.items():
        candidates[role] = _required(file, header, name)
        if dropped & set(candidates[role]):
            raise InputError(f"column {named(name)} is given for {role} and to be ignored.")
    taken = dropped | {place for found in candidates.values() for place in found}
    for names in (ROLES, *_OTHERWISE):
        found = {
            role: [place for place in _named(header, names[role]) if place not in taken]
            for role in names.keys() - given.keys()
        }
        free = all(found.values()) and not names.keys() & candidates.keys()
        if names is ROLES or free:
            candidates |= {role: places for role, places in found.items() if places}
    lost = {
        role: header[place]
        for role, names in ROLES.items()
        if role not in candidates and role in _NEEDED
        for place in _named(header, names)[:1]
    }
    roles = _layout(file, header, candidates, given, lost)
    found = {}
    for role in roles:
        place, *more = candidates[role]
        if more:
            names = [header[each] for each in candidates[role]]
            drop = "drop all but one, by --ignore NAME (in Python ignore=[NAME])"
            if len(set(names)) < len(names):
                drop = "rename or remove all but one in the file"
            raise InputError(
                f"{file} has several columns for {role}, {' and '.join(map(named, names))}: {drop}."
            )
        if place in found.values():
            raise InputError(f"column {named(header[place])} is given for several roles.")
        found[role] = place
    used = dropped | set(found.values())
    unused = [name for place, name in enumerate(header) if place not in used]
    _require_harmless(file, unused, set(_extras(roles)) - set(found))
    return found


def _required(file: str, header: Sequence[str], name: str) -> list[int]:
    if places := matching(header, (name,)):
        return places
    raise InputError(f"{file} has no column {named(name)}{_has(header)}")


def matching(header: Sequence[str], names: Iterable[str]) -> list[int]:
    """Columns of these names: exact matches if there are any, else in any case."""
    lower = {name.lower() for name in names}
    exact = [place for place, name in enumerate(header) if name in names]
    return exact or [place for place, name in enumerate(header) if name.lower() in lower]


def _named(header: Sequence[str], names: Collection[str]) -> list[int]:
    """Columns of these names, in any case, with any signs between words."""
    return matching([_BETWEEN.sub("_", name) for name in header], names)


def _layout(
    file: str,
    header: Sequence[str],
    found: Collection[str],
    given: Collection[str],
    lost: Mapping[str, str],
) -> list[str]:
    """The roles of the layout that these columns fit; `lost` has columns of needed roles that are
    given for others or ignored."""
    fitting = [
        [*needed, *(role for role in more if role in found)]
        for needed, more in _LAYOUTS.items()
        if set(needed) <= set(found)
    ]
    chosen = [layout for layout in fitting if set(given) <= set(layout)]
    said = set(given) - {"left", "right"}
    if not fitting and lost:
        role, name = next(iter(lost.items()))
        raise InputError(
            f"{file} needs column {named(name)} for {role}, and it is given for another role or "
            f"ignored: name another column by --column {role}=NAME (in Python {role}=NAME)."
        )
    if len(chosen) > 1 and said:
        chosen = [layout for layout in chosen if said & set(layout)]
    if not fitting:
        raise InputError(
            f"{file} needs columns left, right and winner, or winner and loser, or left, "
            "right, left_wins and right_wins, or left, right and preference, by these names or by "
            "--column winner=NAME and so on (in Python winner=NAME; without a header: --no-header "
            f"left right winner, in Python header=['left', 'right', 'winner']){_has(header)}"
        )
    both = " and as ".join(", ".join(layout) for layout in chosen or fitting)
    if not chosen:
        raise InputError(
            f"{file} can be read as {both}: not with columns named for {', '.join(given)}."
        )
    if len(chosen) > 1:
        raise InputError(f"{file} can be read as {both}: name the columns that count.")
    return chosen[0]


def _extras(roles: Sequence[str]) -> tuple[str, ...]:
    """The optional roles of the layout of these roles."""
    return next(more for needed, more in _LAYOUTS.items() if set(needed) <= set(roles))


def _require_harmless(file: str, unused: Sequence[str], free: Collection[str]) -> None:
    """Raises InputError where the name of an unused column changes what a row means.

    Args:
      unused: the names.
      free: roles that a column could have.
    """
    meant = {name: role for name in unused if (role := _meaning(name)) is not None}
    if not meant:
        return
    names, free = list(meant)[:_DROPPED], list(free)
    uses: list[tuple[str, str]] = []
    for name in names:
        if role := next((role for role in meant[name] if role in free), None):
            free.remove(role)
            uses.append((role, name))
    them = "them" if len(meant) > 1 else "it"
    options = " ".join(f"--column {_word(f'{role}={name}')}" for role, name in uses)
    python = ", ".join(f"{role}={plain(name)!r}" for role, name in uses)
    use = f"use {them} by {options} (in Python {python}), or, " if uses else ""
    drop = " ".join(f"--ignore {_word(name)}" for name in names)
    raise InputError(
        f"{file} has the column{'s' * (len(meant) > 1)} {listed([*map(named, meant)])}, which may "
        f"change what a row means: {use}if all rows are votes as they stand, drop {them} by {drop} "
        f"(in Python ignore={[plain(name) for name in names]})."
    )


def _word(name: str) -> str:
    """A name, quoted for a shell."""
    return quote(plain(name))


def _meaning(name: str) -> tuple[str, ...] | None:
    """Roles that a column of this name may have: () if the name says that rows are no votes, None
    for a harmless name."""
    words = [word.lower() for word in _WORD.findall(name)]
    joined = "_".join(words)
    if joined in _SAY_HOW_MANY:
        return ("count",)
    if joined in _SAY_TIED:
        return ("draw", "ties")
    otherwise = len(words) <= _MOST_WORDS and _SAY_OTHERWISE & set(words)
    return () if otherwise or joined in _SAY_OUTCOME else None


def _has(header: Sequence[str]) -> str:
    more = f" and {len(header) - _SHOWN} more" if len(header) > _SHOWN else ""
    hint = ": save the file as UTF-8 text" if any(map(NO_TEXT.search, header)) else ""
    return f"; it has {', '.join(map(named, header[:_SHOWN]))}{more}{hint}."


def named(text: str) -> str:
    """A text of the file in quotes, on one line."""
    return f"'{plain(text)}'"


def plain(text: str) -> str:
    """A text of the file on one line, `NO_TEXT` in it as escapes such as \\x1b."""
    return shorten(NO_TEXT.sub(lambda found: repr(found[0])[1:-1], text))
