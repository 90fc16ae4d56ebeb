"""Preferences as numbers between two ends, such as 1 for the left answer and 2 for the right."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from jaxduel.votes.columns import named

_DIGITS = 12
"""Decimal digits of a share: 1.3 between 1 and 2 is .3."""


class Ends(NamedTuple):
    """Ends of a column of preferences.

    Example:
      >>> from jaxduel.votes.preferences import Ends
      >>> Ends(1.0, 2.0).share("1.3")
      0.3
    """

    left: float
    """Number that says that the left arm is preferred."""
    right: float
    """Number that says that the right arm is preferred."""

    def share(self, text: str) -> float:
        """The right arm's share of a vote, from 0 to 1.

        Raises:
          ValueError: half a sentence for a text that is no number between the ends.
        """
        number = number_of(text)
        share = -1.0 if number is None else (number - self.left) / (self.right - self.left)
        if not 0 <= share <= 1:
            raise ValueError(
                f"the preference, {named(text)}, is not from {self.left:g} to {self.right:g}: "
                "--outcome NUMBER=left --outcome NUMBER=right gives other ends"
            )
        return round(share, _DIGITS)


def ends_of(texts: Collection[str], meanings: Mapping[str, str]) -> Ends | None:
    """The ends of a column: the given ends, or else 1, the left, and 2, the right.

    Args:
      texts: the values of the column.
      meanings: meanings of numbers, left or right.

    Returns:
      None if numbers are from 0 to 1: 0 may be the left's end or the right's.
    """
    given = {meaning: number_of(word) for word, meaning in meanings.items()}
    left, right = given.get("left"), given.get("right")
    if left is not None and right is not None and left != right:
        return Ends(left, right)
    numbers = [number for text in texts if (number := number_of(text)) is not None]
    return None if all(0 <= number <= 1 for number in numbers) else Ends(1.0, 2.0)


def number_of(text: str) -> float | None:
    """The number that a text is; None for other texts."""
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None
