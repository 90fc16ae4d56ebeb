"""The last vote of each group of alike votes, such as all of one person on one pair."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

PAIR = "pair"
"""Word for the two arms of a vote, whatever their sides, in place of a column."""


def last_of_each(keys: Sequence[Hashable], order: np.ndarray) -> np.ndarray:
    """Positions of the last row of each key, ascending.

    Args:
      keys: the key of each different row.
      order: (N,) the index of each row among the different ones.

    Example:
      >>> import numpy as np
      >>> from jaxduel.votes.repeats import last_of_each
      >>> last_of_each(["ann", "bo", "ann"], np.array([0, 1, 2, 0, 1])).tolist()
      [3, 4]
    """
    numbers: dict[Hashable, int] = {}
    each = np.array([numbers.setdefault(key, len(numbers)) for key in keys])
    _, first = np.unique(each[order][::-1], return_index=True)
    return np.sort(len(order) - 1 - first)
