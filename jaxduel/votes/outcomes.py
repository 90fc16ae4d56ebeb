"""Outcome of a row of a log: a win, a tie, counts, or none."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from shlex import quote
from typing import Any, Literal

from jaxduel.errors import InputError, shorten
from jaxduel.votes.codes import code_of
from jaxduel.votes.columns import ONE_HOT, SIDES, named, plain
from jaxduel.votes.counts import MOST_VOTES
from jaxduel.votes.preferences import ends_of

_TIES = ("tie", "both_bad", "bothbad", "draw", "1/2-1/2", "½-½", "0.5-0.5", "1/2")
_RESULTS = (("1-0",), ("0-1",))
UNRESOLVED = "unresolved"
"""Word that stands for all of `UNDECIDED`, where it is given a meaning."""
UNDECIDED = (
    *("", "*", "?", "-", UNRESOLVED, "null", "none", "nan", "na", "n/a", "undecided", "unclear"),
    *("unknown", "unfinished", "abstain"),
)
"""Words for the winner of a row without a decision."""
_NO_NAMES = {"", "nan", "NaN", "NAN", "NA", "N/A", "n/a", "None", "null", "NULL", "<NA>"}
"""Words that programs write for a missing name."""
_FLAGS = {
    "true": True,
    "yes": True,
    "1": True,
    "1.0": True,
    "false": False,
    "no": False,
    "0": False,
    "0.0": False,
}
MEANINGS = ("left", "right", "tie", "skip")
"""Meanings that a word for the winner can be given; rows that are skipped are no votes."""
Meaning = Literal["left", "right", "tie", "skip"]

Outcome = tuple[str, str, float, float, float]
"""Left arm, right arm, votes for the left, votes for the right, ties; fractions, too."""


class Reader:
    """Outcomes of the rows of a log.

    Args:
      columns: the column of each role.
      arms: all names in the columns of arms.
      words: all entries of the column `winner`, or `preference`.
      meanings: meanings of words for the winner, also of the words in lower case.
      undecided: words for the winner that the file's format leaves out.
    """

    def __init__(
        self,
        columns: Mapping[str, str],
        arms: Collection[str],
        words: Collection[str],
        meanings: Mapping[str, str],
        undecided: Collection[str] = (),
    ):
        self._arms, self._words, self._meanings, self._undecided = arms, words, meanings, undecided
        self._names = {
            word: name for word in words if word not in arms and (name := _as_whole(word)) in arms
        }
        self._codes: Mapping[str, str] = {}
        self._ambiguous = ""
        self._one_hot = columns.get("left_wins", "").lower() in ONE_HOT
        self._sides = [
            {*words_of_side, *results, columns.get(side, side).lower()}
            for words_of_side, results, side in zip(SIDES, _RESULTS, ("left", "right"), strict=True)
        ]
        self._ends = None
        if "preference" in columns:
            decided = [word for word in words if self._given(word) != "skip"]
            self._ends = ends_of(decided, meanings)
            return
        coded = {
            word
            for word in words
            if self._given(word) is None
            and word.lower() not in UNDECIDED
            and self._word(word.lower()) is None
        }
        if coded and not self._names and not coded & set(arms):
            numbered = [columns.get(side, "")[-1:] for side in ("left", "right")] == ["1", "2"]
            self._codes, self._ambiguous = code_of(coded, numbered)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Half a sentence on the meaning of coded winners and ends of preferences; none if there
        are none."""
        if self._ends:
            return (f"of the preferences {self._ends.left:g} is left, {self._ends.right:g} right",)
        said = ", ".join(f"{named(word)} is {side}" for word, side in sorted(self._codes.items()))
        return (f"of the winners {said}",) if said else ()

    def unsaid(self) -> list[str]:
        """Words that were given a meaning, and that no row has."""
        words = {word.lower() for word in self._words}
        if self._ends:
            words |= {word for word, side in self._meanings.items() if side in ("left", "right")}
        if words & set(UNDECIDED) - self._meanings.keys():
            words.add(UNRESOLVED)
        return sorted({word.lower() for word in self._meanings} - words)

    def outcome_of(self, row: Mapping[str, str]) -> Outcome | None:
        """The outcome in a row, by the entry of each role; None for a row that is left out.

        Raises:
          ValueError: half a sentence for a row that is wrong.
        """
        winner = row.get("winner", row.get("preference", ""))
        meaning = self._given(winner)
        if meaning is None:
            winner = self._names.get(winner, winner)
        if meaning == "skip":
            return None
        left, right = (
            (row["winner"], row["loser"]) if "loser" in row else (row["left"], row["right"])
        )
        for name in (left, right):
            if name in _NO_NAMES:
                said = f" ({name}: rename an arm that is called so)" if name else ""
                raise ValueError(f"the name of an arm is missing{said}")
        if left == right:
            raise ValueError(f"{named(left)} is compared with itself")
        if row.get("voter", "voter") in _NO_NAMES:
            raise ValueError("the name of the voter is missing")
        if "left_wins" in row:
            counts = (row["left_wins"], row["right_wins"], row.get("ties", "0"))
            won, lost, tied = map(_flag if self._one_hot else _count, counts)
            if self._one_hot and won + lost + tied != 1:
                raise ValueError(f"{won + lost + tied} outcomes are marked, and a vote has one")
            return left, right, int(won), int(lost), int(tied)
        count = _count(row.get("count", "1"), fractions=True)
        if "preference" in row:
            share = self._share(winner)
            return left, right, count * (1 - share), count * share, 0
        drawn = _flag(row["draw"]) if "draw" in row else None
        if drawn:
            return left, right, 0, 0, count
        side = left
        if "loser" not in row:
            side = {"left": left, "right": right, "tie": None}[
                meaning or self._meaning(winner, left, right)
            ]
        if side is None and drawn is False:
            said = named(row["draw"])
            raise ValueError(
                f"the winner, {named(winner)}, is a tie, and the draw, {said}, is none"
            )
        return left, right, count * (side == left), count * (side == right), count * (side is None)

    def _given(self, winner: str) -> str | None:
        """The meaning that was given to a word for the winner, or that the format gives it."""
        meaning = self._meanings.get(winner)
        if meaning is None and winner not in self._arms:
            meaning = self._meanings.get(winner.lower())
            if meaning is None and winner.lower() in UNDECIDED:
                meaning = self._meanings.get(UNRESOLVED)
            if meaning is None and winner in self._undecided:
                meaning = "skip"
        return meaning

    def _word(self, word: str) -> Meaning | None:
        """The meaning of a word that means the same in all files."""
        word = word.replace("–", "-")  # between scores
        remark = word.startswith("tie (") and word.endswith(")")  # such as "tie (bothbad)"
        if remark or word in _TIES:
            return "tie"
        left, right = (word in side for side in self._sides)
        return None if left == right else "left" if left else "right"

    def _meaning(self, winner: str, left: str, right: str) -> Meaning:
        """Meaning of a winner's name, or of a word without a given meaning."""
        if winner in (left, right):
            return "left" if winner == left else "right"
        word = winner.lower()
        side = self._codes.get(winner) or self._word(word)
        if side is None:
            raise ValueError(self._unknown(winner, left, right))
        named_side = {"left": left, "right": right}.get(side)
        others = [winner] if winner in self._arms else []
        others += [arm for arm in (left, right) if arm != named_side and arm.lower() == word]
        if others:
            meant = "a tie" if named_side is None else f"the side of {named(named_side)}"
            raise ValueError(
                f"the winner, {named(winner)}, may be {meant} or the arm {named(others[0])}: a "
                "name of the two, or a word that is no arm's, is needed"
            )
        return side  # pyright: ignore[reportReturnType]

    def _share(self, preference: str) -> float:
        """The right arm's share of a vote."""
        if preference.lower() in UNDECIDED:
            raise ValueError(self._unknown(preference, "", ""))
        if self._ends is None:
            raise ValueError(
                f"the preference, {named(preference)}, may be for either side, as all are from 0 "
                "to 1: say --outcome 1=left --outcome 0=right, or --outcome 0=left --outcome "
                "1=right (in Python outcomes={'1': 'left', '0': 'right'})"
            )
        return self._ends.share(preference)

    def _unknown(self, winner: str, left: str, right: str) -> str:
        """Half a sentence for a winner without a meaning."""
        if winner.lower() in UNDECIDED and winner not in self._arms:
            return (
                f"the {'winner' if self._ends is None else 'preference'}, {named(winner)}, is "
                f"undecided: --outcome {UNRESOLVED}=skip leaves "
                f"such rows out and counts them (in Python outcomes={{{UNRESOLVED!r}: 'skip'}})"
            )
        if self._ambiguous:
            return f"the winner, {named(winner)}, {self._ambiguous}"
        return (
            f"the winner, {named(winner)}, is neither {named(left)} nor {named(right)}, left, "
            f"right or tie: --outcome {quote(plain(winner) + '=skip')} leaves such rows out, and "
            "left, right or tie in the place of skip counts them (in Python "
            f"outcomes={{{named(winner)}: 'skip'}})"
        )


def _as_whole(word: str) -> str:
    """A whole number without the point that a program gave it, as in 1.0; other words as they
    are."""
    digits = word.removesuffix(".0")
    return digits if digits.removeprefix("-").isdecimal() else word


def _count(text: str, fractions: bool = False) -> float:
    try:
        number = -1.0 if "_" in text else float(text)  # Python's digits may have underscores
    except ValueError:
        number = -1.0
    if not ((fractions or number.is_integer()) and 0 <= number <= MOST_VOTES):
        what = "number" if fractions else "whole number"
        raise ValueError(f"{named(text)} is no count: a {what} from 0 to 2^31 - 1 is needed")
    return int(number) if number.is_integer() else number


def _flag(text: str) -> bool:
    if (flag := _FLAGS.get(text.lower())) is None:
        raise ValueError(f"{named(text)} is neither true nor false, yes nor no, 1 nor 0")
    return flag


def checked_meanings(meanings: Any) -> dict[str, str]:
    """Checked meanings of words for the winner, also of the words in lower case.

    Raises:
      InputError: for anything but a mapping of texts to `MEANINGS`.
    """
    if not isinstance(meanings, Mapping) or not all(isinstance(word, str) for word in meanings):
        raise InputError(
            f"outcomes gives meanings of words, as in {{'unclear': 'skip'}}, not "
            f"{shorten(repr(meanings))}."
        )
    for word, meaning in meanings.items():
        if meaning not in MEANINGS:
            raise InputError(
                f"the outcome {named(word)} can mean {', '.join(MEANINGS)}, not "
                f"{shorten(repr(meaning))}."
            )
    return {word.lower(): meaning for word, meaning in meanings.items()} | dict(meanings)
