"""Counts of pairwise votes: wins, ties, who met whom, and the complete core; those of the Chatbot
Arena, from the file that `jaxduel.problems.downloads` finds."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jaxduel.arguments import items_of, require_known, switch
from jaxduel.display import counted, listed
from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.policies.checks import whole_number
from jaxduel.problems.arena import counts as arena_counts
from jaxduel.problems.core import complete_core
from jaxduel.problems.dueling import MAX_ARMS
from jaxduel.votes.columns import ReadAs
from jaxduel.votes.sides import Sides
from jaxduel.votes.voters import Voters

MOST_VOTES = 2**31 - 1
"""Most votes of one kind for a pair."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Votes:
    """Counted votes between K arms, validated by `from_counts` and `read`.

    A vote is decisive if one arm won, and a tie otherwise; K is at least 2.

    Example:
      >>> import jaxduel as jd
      >>> jd.votes.from_counts([[0, 7], [3, 0]], ties=[[0, 2], [2, 0]], arms=["old", "new"])
      Votes('votes', K=2, 12 votes, 2 of them ties)
    """

    arms: tuple[str, ...]
    """The arms' names, K of them."""
    wins: np.ndarray  # (K, K) int64; float64 if there are fractions of votes
    """`wins[i, j]` is the number of votes for arm i over arm j."""
    ties: np.ndarray  # (K, K), symmetric, as wins
    """`ties[i, j]` is the number of ties between arms i and j."""
    name: str = "votes"
    """The file's name, for messages and reports."""
    history: np.ndarray | None = None  # (N, 3) int32
    """The votes in their order, where the file has one a row: arms i and j, and 1 where i won, -1
    where j won, 0 for a tie. None where only counts are known."""
    read_as: ReadAs | None = None
    """Columns and rows of the file, as they were read; None where there was no file."""
    sides: Sides | None = None
    """Counts by the sides of the arms, where the file has left and right arms, else None: `wins` is
    left + right.T, and `ties` is sides.ties + sides.ties.T."""
    voters: Voters | None = None
    """Counts by voters, where `read` was told their column; else None."""

    @property
    def num_arms(self) -> int:
        """K."""
        return len(self.arms)

    @property
    def decisive(self) -> np.ndarray:
        """Number of decisive votes of each pair: (K, K) int64, symmetric."""
        return self.wins + self.wins.T

    @property
    def whole(self) -> bool:
        """True if all counts are whole numbers; only btl and davidson take fractions of votes."""
        return self.wins.dtype.kind == "i" and self.ties.dtype.kind == "i"

    @property
    def num_ties(self) -> float:
        """Number of ties; an `int` if it is whole."""
        return _number(self.ties.sum() / 2)

    @property
    def num_votes(self) -> float:
        """Number of votes, ties included; an `int` if it is whole."""
        return _number(self.wins.sum() + self.ties.sum() / 2)

    @property
    def notes(self) -> list[str]:
        """Half sentences about how the file was read, for a line about the votes: columns of counts
        and draws, columns that are not used, rows that were left out; and the number of voters."""
        notes = [] if self.read_as is None else self.read_as.notes()
        by = [] if self.voters is None else [f"by {counted(self.voters.num_voters, 'voter')}"]
        return by + notes

    def core(self, at_least: int = 100) -> Votes:
        """The complete core: arms of which every pair has `at_least` decisive votes.

        The arm with most pairs below that number is dropped, again and again: of several, the arm
        with the fewest decisive votes among the arms left; then the first.

        Raises:
          InputError: `at_least` is no whole number from 1 on, or fewer than two arms would be left,
            or, if voters are known, fewer than two voters.

        Example:
          >>> import jaxduel as jd
          >>> votes = jd.votes.from_counts([[0, 9, 8], [7, 0, 1], [6, 0, 0]])
          >>> votes.core(at_least=10).arms
          ('0', '1')
        """
        at_least = whole_number(at_least, 1, "at_least")
        kept = complete_core(self.decisive, at_least)
        if len(kept) > 1:
            core = self._only(kept)
            require_voters(core.voters, f"the core of {self.name}")
            return core
        raise InputError(
            f"no two arms of {self.name} have {at_least:,} decisive votes between them: "
            f"the most is {self.decisive.max():,}."
        )

    def groups(self, ties: bool = False) -> list[tuple[int, ...]]:
        """Connected components of the graph of comparisons, in the order of their first arms.

        Args:
          ties: a tie alone counts as a comparison, too.

        Example:
          >>> import jaxduel as jd
          >>> wins = [[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 3], [0, 0, 0, 0]]
          >>> jd.votes.from_counts(wins).groups()
          [(0, 1), (2, 3)]
        """
        from scipy.sparse.csgraph import connected_components

        met = self.decisive + (self.ties if ties else 0) > 0
        count, labels = connected_components(met, directed=False)
        groups = [tuple(np.flatnonzero(labels == group).tolist()) for group in range(count)]
        return sorted(groups)

    def _only(self, kept: np.ndarray) -> Votes:
        chosen = np.ix_(kept, kept)
        names = tuple(self.arms[arm] for arm in kept)
        number = np.full(self.num_arms, -1, np.int32)
        number[kept] = np.arange(len(kept))
        history = self.history
        if history is not None:
            history = np.column_stack([number[history[:, :2]], history[:, 2]])
            history = history[(history[:, :2] >= 0).all(axis=1)]
        return dataclasses.replace(
            self,
            arms=names,
            wins=self.wins[chosen],
            ties=self.ties[chosen],
            history=history,
            sides=self.sides and self.sides.only(kept),
            voters=self.voters and self.voters.only(number),
        )

    def __repr__(self) -> str:
        return (
            f"Votes('{self.name}', K={self.num_arms}, {self.num_votes:,} votes, "
            f"{self.num_ties:,} of them ties)"
        )


def from_counts(
    wins: ArrayLike,
    ties: ArrayLike | None = None,
    arms: Sequence[str] | None = None,
    name: str = "votes",
) -> Votes:
    """Votes from counts, validated.

    Args:
      wins: (K, K) numbers; wins[i, j] is the number of votes for arm i over arm j, which may be
        fractions for the models btl and davidson. A table of pandas may name the arms: its rows
        and columns have the same names in the same order.
      ties: (K, K) numbers, symmetric: a tie of i and j counts in both places; none if None.
      arms: K names, all different; those of a table, or "0" to "K - 1", if None.
      name: name of the votes in messages and reports.

    Raises:
      InputError: counts that are not such matrices, names that do not fit, or fewer than two arms.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 7, 5], [3, 0, 6], [5, 4, 0]])
      >>> votes.num_votes, votes.arms
      (30, ('0', '1', '2'))
    """
    tables = [_names(what, table) for what, table in (("wins", wins), ("ties", ties))]
    if all(tables) and tables[0] != tables[1]:
        raise InputError("the tables wins and ties name other arms, or in another order.")
    won = _counts("wins", wins)
    tied = np.zeros_like(won) if ties is None else _counts("ties", ties)
    if tied.shape != won.shape:
        raise InputError(f"ties have shape {tied.shape}, but wins {won.shape}.")
    if (tied != tied.T).any():
        i, j = np.argwhere(tied != tied.T)[0]
        raise InputError(
            f"ties of arms {i} and {j} are {tied[i, j]} in one place and {tied[j, i]} in the "
            "other: they are symmetric."
        )
    if arms is None:
        arms = tables[0] or tables[1]
    named = range(len(won)) if arms is None else items_of(arms, "names of arms")
    names = tuple(map(str, named))
    if len(names) != len(won):
        raise InputError(f"there are {len(names)} names for {len(won)} arms.")
    if len(set(names)) < len(names):
        twice = next(arm for arm in names if names.count(arm) > 1)
        raise InputError(f"two arms are called '{shorten(twice)}': names must differ.")
    if not won.any() and not tied.any():
        raise InputError(f"{name} holds no votes: at least one is needed.")
    return Votes(names, won, tied, name)


def require_votes(votes: Any, where: str, *, whole: bool = True) -> None:
    """Raises InputError for anything but `Votes`, such as the path of a log, and for fractions of
    votes unless `whole` is False."""
    if not isinstance(votes, Votes):
        raise InputError(
            f"{where}: the votes must be such as jaxduel.votes.read or from_counts return, not of "
            f"type {type(votes).__name__}."
        )
    if whole and not votes.whole:
        raise InputError(
            f"{where}: {votes.name} has fractions of votes, and only fits of btl and davidson take "
            "them."
        )


def require_arms(count: int, where: str) -> None:
    """Raises InputError unless votes of that many arms can be fitted."""
    if not 2 <= count <= MAX_ARMS:
        raise InputError(f"{where} {count:,} different arms: 2 to {MAX_ARMS:,} can be compared.")


def require_voters(voters: Voters | None, where: str) -> None:
    """Raises InputError for the votes of a single voter."""
    if voters is not None and voters.num_voters < 2:
        raise InputError(
            f"{where} has votes of one voter, and intervals that allow for voters need two: leave "
            "out --voter (in Python voter=) to take all votes as independent."
        )


def arm_number(votes: Votes, arm: int | str) -> int:
    """The number of an arm, given by number or name.

    Raises:
      InputError: the votes have no such arm.
    """
    if isinstance(arm, str):
        require_known("arm", arm, votes.arms)
        return votes.arms.index(arm)
    number = whole_number(arm, 0, "an arm's number")
    if number >= votes.num_arms:
        raise InputError(f"{votes.name} has arms 0 to {votes.num_arms - 1}, not {number}.")
    return number


def warn_of_groups(votes: Votes, with_ties: bool) -> None:
    """Warns if the prior alone compares groups of arms (`groups_text`)."""
    if text := groups_text(votes, with_ties):
        warn_caller(text)


def groups_text(votes: Votes, with_ties: bool) -> str:
    """A sentence about groups of arms that no votes of a fit are between; "" for one group.

    Args:
      votes: the votes.
      with_ties: the fit reads ties.
    """
    groups = votes.groups(ties=with_ties)
    if len(groups) == 1:
        return ""
    said = "; ".join(listed([votes.arms[arm] for arm in group]) for group in groups[:4])
    more = f"; and {len(groups) - 4} more" if len(groups) > 4 else ""
    met = votes.groups(ties=True)
    how, but = "never met", ""
    if len(met) < len(groups):
        how = "met but only tied" if len(met) == 1 else "only tied or never met"
        but = ", since only the model davidson reads ties"
    return (
        f"the arms of {votes.name} are in {len(groups)} groups that {how} ({said}{more}): "
        f"between groups the prior decides{but}."
    )


def _counts(what: str, counts: ArrayLike) -> np.ndarray:
    try:
        array = np.asarray(counts)
    except ValueError:
        raise InputError(f"{what} have rows of different lengths: (K, K) is needed.") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InputError(f"{what} have shape {array.shape}: a square matrix (K, K) is needed.")
    require_arms(len(array), f"{what} have")
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise InputError(f"{what} must be numbers.")
    outside = (array < 0) | (array > MOST_VOTES)
    if outside.any():
        i, j = np.argwhere(outside)[0]
        raise InputError(f"{what}[{i}, {j}] is {array[i, j]:g}: counts are from 0 to 2^31 - 1.")
    if np.diagonal(array).any():
        arm = int(np.flatnonzero(np.diagonal(array))[0])
        raise InputError(f"{what}[{arm}, {arm}] is not 0: an arm is not compared with itself.")
    frozen = array.astype(np.int64 if (array == np.floor(array)).all() else np.float64)
    frozen.flags.writeable = False
    return frozen


def _names(what: str, table: Any) -> list[str] | None:
    """Names of the arms in the rows and columns of a table of pandas; None for other matrices."""
    if not hasattr(table, "columns"):
        return None
    rows, columns = (list(map(str, names)) for names in (table.index, table.columns))
    if rows != columns:
        raise InputError(
            f"the rows of {what} are named {shorten(', '.join(rows))}, and its columns "
            f"{shorten(', '.join(columns))}: the same names in the same order are needed."
        )
    return rows


def _number(total: float) -> float:
    """A sum of counts; of fractions, without what rounding added."""
    total = round(float(total), 9)
    return int(total) if total.is_integer() else total


def arena(both_bad: bool = True) -> Votes:
    """Votes of the Chatbot Arena: 129 language models, the file of 14 August 2024.

    Anonymous battles without duplicates. The file belongs to other people: it is found in the
    folder $JAXDUEL_DATA or the user's cache, else downloaded.

    Args:
      both_bad: count "both answers are bad" as a tie, as `read` does; else leave such votes out.

    Raises:
      InputError: the file can neither be found nor downloaded, or is not the one expected.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.arena()
      >>> votes
      Votes('arena', K=129, 1,670,250 votes, 576,375 of them ties)
      >>> votes.core(100).num_arms
      31
    """
    both_bad = switch(both_bad, "both_bad")
    found = arena_counts()
    ties = found.ties + found.both_bad if both_bad else found.ties
    return from_counts(found.wins, ties, found.models, "arena")
