"""The complete core of counted comparisons: arms of which every pair met often."""

from __future__ import annotations

import numpy as np


def complete_core(decisive: np.ndarray, at_least: int) -> np.ndarray:
    """Arms of which every pair has `at_least` decisive votes.

    The arm with most pairs below that number is dropped again and again: of several the one with
    the fewest decisive votes among those that are left, of these the first.

    Args:
      decisive: (K, K) whole numbers, symmetric, 0 on the diagonal: votes of each pair.
      at_least: at least 1.

    Returns:
      (n,) int64, increasing; n is 1 if no two arms have that many.
    """
    kept = np.arange(len(decisive))
    while True:
        inside = decisive[np.ix_(kept, kept)]
        below = (inside < at_least).sum(axis=1) - 1  # an arm never meets itself
        if not below.any():
            return kept
        kept = np.delete(kept, np.lexsort((inside.sum(axis=1), -below))[0])
