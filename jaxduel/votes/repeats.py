"""The last vote of each group of alike votes, such as all of one person on one pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PAIR = "pair"
"""Word for the two arms of a vote, whatever their sides, in place of a column."""


def last_of_each(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Positions of the last of all rows that are alike in some columns, ascending.

    Args:
      columns: (N,) whole numbers each.

    Example:
      >>> import numpy as np
      >>> from jaxduel.votes.repeats import last_of_each
      >>> last_of_each([np.array([0, 1, 0, 0, 1]), np.array([7, 7, 8, 7, 7])]).tolist()
      [2, 3, 4]
    """
    first, *more = columns
    group = first
    for column in more:
        _, column = np.unique(column, return_inverse=True)
        _, group = np.unique(group, return_inverse=True)
        group = group * (column.max() + 1) + column
    _, latest = np.unique(group[::-1], return_index=True)
    return np.sort(len(group) - 1 - latest)
