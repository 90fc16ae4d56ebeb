"""Outcome of a row of a log: a win, a tie, counts, or none."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from shlex import quote
from typing import Any, Literal

from jaxduel.errors import InputError, shorten
from jaxduel.votes.columns import SIDES, named, plain
from jaxduel.votes.counts import MOST_VOTES

_TIES = ("tie", "both_bad", "bothbad", "draw")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
MEANINGS = ("left", "right", "tie", "skip")
"""Meanings that a word for the winner can be given; rows that are skipped are no votes."""
Meaning = Literal["left", "right", "tie", "skip"]

Outcome = tuple[str, str, int, int, int]
"""Left arm, right arm, votes for the left, votes for the right, ties."""


def outcome_of(
    row: Mapping[str, str], arms: Collection[str], meanings: Mapping[str, str]
) -> Outcome | None:
    """The outcome in a row of a file of these arms; None for a row that is left out.

    Args:
      row: the entry of each role.
      arms: all names in the columns of arms.
      meanings: meanings of words for the winner, also of the words in lower case.

    Raises:
      ValueError: half a sentence for a row that is wrong.
    """
    winner = row.get("winner", "")
    meaning = meanings.get(winner)
    if meaning is None and winner not in arms:
        meaning = meanings.get(winner.lower())
    if meaning == "skip":
        return None
    left, right = (row["winner"], row["loser"]) if "loser" in row else (row["left"], row["right"])
    if not left or not right:
        raise ValueError("the name of an arm is missing")
    if left == right:
        raise ValueError(f"{named(left)} is compared with itself")
    if "left_wins" in row:
        counts = (row["left_wins"], row["right_wins"], row.get("ties", "0"))
        return (left, right, *map(_count, counts))  # pyright: ignore[reportReturnType]
    count = _count(row.get("count", "1"))
    drawn = _flag(row["draw"]) if "draw" in row else None
    if drawn:
        return left, right, 0, 0, count
    side = left
    if "loser" not in row:
        side = {"left": left, "right": right, "tie": None}[
            meaning or _meaning(winner, left, right, arms)
        ]
    if side is None and drawn is False:
        said = named(row["draw"])
        raise ValueError(f"the winner, {named(winner)}, is a tie, and the draw, {said}, is none")
    return left, right, count * (side == left), count * (side == right), count * (side is None)


def _meaning(winner: str, left: str, right: str, arms: Collection[str]) -> Meaning:
    """Meaning of a winner's name, or of a word without a given meaning."""
    if winner in (left, right):
        return "left" if winner == left else "right"
    word = winner.lower()
    side = "left" if word in SIDES[0] else "right" if word in SIDES[1] else "tie"
    remark = word.startswith("tie (") and word.endswith(")")  # such as "tie (bothbad)"
    if side == "tie" and word not in _TIES and not remark:
        raise ValueError(
            f"the winner, {named(winner)}, is neither {named(left)} nor {named(right)}, left, "
            f"right or tie: --outcome {quote(plain(winner) + '=skip')} leaves such rows out, and "
            "left, right or tie in the place of skip counts them (in Python "
            f"outcomes={{{named(winner)}: 'skip'}})"
        )
    named_side = {"left": left, "right": right}.get(side)
    others = [winner] if winner in arms else []
    others += [arm for arm in (left, right) if arm != named_side and arm.lower() == word]
    if others:
        meant = "a tie" if named_side is None else f"the side of {named(named_side)}"
        raise ValueError(
            f"the winner, {named(winner)}, may be {meant} or the arm {named(others[0])}: a name "
            "of the two, or a word that is no arm's, is needed"
        )
    return side


def _count(text: str) -> int:
    try:
        number = -1.0 if "_" in text else float(text)  # Python's digits may have underscores
    except ValueError:
        number = -1.0
    if not (number.is_integer() and 0 <= number <= MOST_VOTES):
        raise ValueError(f"{named(text)} is no count: a whole number from 0 to 2^31 - 1 is needed")
    return int(number)


def _flag(text: str) -> bool:
    if (flag := _FLAGS.get(text.lower())) is None:
        raise ValueError(f"{named(text)} does not say if it is a draw: true or false is needed")
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
