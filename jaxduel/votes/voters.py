"""Counts of votes by the people who gave them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Voters(NamedTuple):
    """Counts of votes: a row for each voter and each ordered pair of arms that met before them.

    Example:
      >>> from pathlib import Path
      >>> import jaxduel as jd
      >>> lines = ["judge,left,right,winner", "v,ada,bob,ada", "w,bob,ada,ada", "v,ada,bob,tie"]
      >>> _ = Path("votes.csv").write_text("\\n".join(lines) + "\\n")
      >>> voters = jd.votes.read("votes.csv", voter="judge").voters
      >>> voters.num_voters, voters.voter.tolist(), voters.left.tolist(), voters.wins.tolist()
      (2, [0, 1], [0, 1], [1.0, 0.0])
    """

    voter: np.ndarray  # (N,) int32, ascending
    """The voter's number, from 0, in the order of their first rows in the file."""
    left: np.ndarray  # (N,) int32
    """The arm on the left; the winner where the file has no sides."""
    right: np.ndarray  # (N,) int32
    """The other arm."""
    wins: np.ndarray  # (N,) float64
    """Votes for the arm on the left."""
    losses: np.ndarray  # (N,) float64
    """Votes for the other arm."""
    ties: np.ndarray  # (N,) float64
    """Ties."""

    @property
    def num_voters(self) -> int:
        """Number of voters; each gave a vote."""
        return int(self.voter[-1]) + 1 if len(self.voter) else 0

    def only(self, number: np.ndarray) -> Voters:
        """Counts between the arms that keep a number.

        Args:
          number: (K,) the new number of each arm, or -1.
        """
        kept = (number[self.left] >= 0) & (number[self.right] >= 0)
        voter, left, right, *votes = (column[kept] for column in self)
        return Voters(_numbered(voter), number[left], number[right], *votes)


def summed(voter: np.ndarray, order: np.ndarray, arms: np.ndarray, votes: np.ndarray) -> Voters:
    """Sums of the rows of a file for each voter and ordered pair.

    Args:
      voter: (N,) number of each row's voter.
      order: (N,) the index of each row among the different ones.
      arms: (R, 2) int32, the left and the right arm of each different row.
      votes: (R, 3) votes for the left arm, for the right arm, and ties.
    """
    num_arms = int(arms.max()) + 1
    pair = arms.astype(np.int64) @ [num_arms, 1]
    given = (votes.sum(axis=1) > 0)[order]  # a count may be 0
    voter, order = voter[given].astype(np.int64), order[given]
    found, group = np.unique(voter * num_arms**2 + pair[order], return_inverse=True)
    voter, pair = np.divmod(found, num_arms**2)
    left, right = (arm.astype(np.int32) for arm in np.divmod(pair, num_arms))
    sums = (np.bincount(group, kind[order], len(found)) for kind in votes.T)
    return Voters(_numbered(voter), left, right, *sums)


def _numbered(voter: np.ndarray) -> np.ndarray:
    """Ascending numbers, counted from 0 without a gap."""
    new = np.diff(voter, prepend=voter[:1]) > 0
    return np.cumsum(new, dtype=np.int32)
