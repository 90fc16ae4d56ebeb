"""Counts of votes by the sides of the arms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Sides(NamedTuple):
    """Counts of votes with arm i on the left and arm j on the right, at [i, j].

    Example:
      >>> from pathlib import Path
      >>> import jaxduel as jd
      >>> lines = ["left,right,winner", "ada,bob,ada", "bob,ada,ada", "bob,ada,tie"]
      >>> _ = Path("votes.csv").write_text("\\n".join(lines) + "\\n")
      >>> sides = jd.votes.read("votes.csv").sides
      >>> sides.left.tolist(), sides.right.tolist(), sides.ties.tolist()
      ([[0, 1], [0, 0]], [[0, 0], [1, 0]], [[0, 0], [1, 0]])
    """

    left: np.ndarray  # (K, K) int64; float64 if there are fractions of votes
    """Votes for i, the arm on the left."""
    right: np.ndarray  # (K, K), as left
    """Votes for j, the arm on the right."""
    ties: np.ndarray  # (K, K), as left
    """Ties."""

    def only(self, kept: np.ndarray) -> Sides:
        """Counts between these arms."""
        return Sides(*(counts[np.ix_(kept, kept)] for counts in self))
