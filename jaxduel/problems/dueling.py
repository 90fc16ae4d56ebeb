"""Dueling-bandit instances: a validated preference matrix, its winners, scores and gaps."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.typing import ArrayLike

from jaxduel.arguments import require_text
from jaxduel.display import array_text, html_table, is_known, listed
from jaxduel.errors import InputError, shorten, unknown_name
from jaxduel.problems.arm_names import checked_names, label
from jaxduel.pytrees import register_dataclass

GAP_KINDS = ("average", "weak", "copeland", "borda", "binary weak", "binary strong", "votes")
"""The kinds of gap that `DuelingProblem.gaps` knows, named after the regrets that they measure."""

MAX_ARMS = 4000
"""The largest matrix that is read or made: its checks take about half a minute."""
_OF_CONDORCET_WINNER = ("average", "weak", "binary weak", "binary strong")
TOLERANCE = 1e-6
TIE = 1e-9
"""Preferences this close to 1/2 are ties, up to rounding."""
_BORDA_TIE = 1e-12
_SHOWN_ARMS = 10
"""Most arms of a matrix that notebooks show."""


@register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class DuelingProblem:
    """A K-armed dueling bandit; arms are numbered 0..K-1.

    Build one with `from_matrix`, which validates; the constructor does not, so that a traced or
    stacked matrix can pass through `jax.jit`, `jax.vmap` and `jax.grad` as a leaf of this pytree.
    Everything below the fields is computed with NumPy on the host, in float64, and needs a concrete
    matrix.

    Arm i "beats" arm j where p_ij > 1/2, strictly: a tie counts for neither, as in the definition
    of Copeland scores of the D-TS paper (Wu and Liu, 2016, section 3).

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.load("cyclic")
      >>> problem
      DuelingProblem('cyclic', K=4, Condorcet winner 0, smallest gap 0.1)
      >>> problem.copeland_scores.tolist()
      [3, 1, 1, 1]
      >>> problem.gaps("average").round(3).tolist()
      [0.0, 0.1, 0.1, 0.1]
    """

    preferences: Any  # (K, K) float64 NumPy array, or what a transformation puts in its place
    """`preferences[i, j]` is the probability that arm i wins a comparison with arm j."""
    name: str = dataclasses.field(default="matrix", metadata={"static": True})
    """The name of the instance in reports and warnings."""
    ties: Any = None  # (K, K) float64, symmetric, 0 on the diagonal; None if there are no ties
    """`ties[i, j]` is the probability that a comparison of i and j is a tie, which counts half for
    either arm in `preferences`. By default `jaxduel.simulate` plays ties as fair coins."""
    arms: tuple[str, ...] | None = dataclasses.field(default=None, metadata={"static": True})
    """The names of the arms in reports and warnings, if they have any."""

    @property
    def num_arms(self) -> int:
        """K, the number of arms."""
        return int(np.shape(self.preferences)[-1])

    @property
    def copeland_scores(self) -> np.ndarray:
        """Number of other arms that each arm beats: (K,) int64, not normalised."""
        return np.sum(self._host() > 0.5, axis=1)

    @property
    def copeland_winners(self) -> tuple[int, ...]:
        """The arms of the largest Copeland score, in increasing order; at least one."""
        scores = self.copeland_scores
        return _as_arms(scores == scores.max())

    @property
    def condorcet_winner(self) -> int | None:
        """The arm that beats every other arm, or None."""
        winners = _as_arms(self.copeland_scores == self.num_arms - 1)
        return winners[0] if winners else None

    @property
    def borda_scores(self) -> np.ndarray:
        """The mean of p_ij over the other arms j != i: (K,) float64."""
        matrix = self._host()
        return (matrix.sum(axis=1) - np.diagonal(matrix)) / (self.num_arms - 1)

    @property
    def borda_winners(self) -> tuple[int, ...]:
        """The arms of the largest Borda score within 1e-12 (rounding), in increasing order."""
        scores = self.borda_scores
        return _as_arms(scores >= scores.max() - _BORDA_TIE)

    def gaps(self, kind: str) -> np.ndarray:
        """The gap of each arm, in the unit of a kind of regret.

        Args:
          kind: "average" and "weak", two regrets against the Condorcet winner w, share the gaps
            p_wj - 1/2; "binary weak" and "binary strong" have 0 for w and 1 for all others;
            "copeland" is (largest score - score_j) / (K - 1); "borda" is (largest Borda score -
            Borda score_j); "votes" is 1. A pair's regret is half the sum of its arms' gaps, but for
            "weak" and "binary weak" the smaller one, for "binary strong" the larger one, and for
            "votes" that of either arm if they are two.

        Returns:
          (K,) float64, not negative, but for "votes" zero for the winners.

        Raises:
          InputError: the kind is unknown, or needs a Condorcet winner where there is none.
        """
        if kind in _OF_CONDORCET_WINNER:
            winner = self.condorcet_winner
            if winner is None:
                raise InputError(
                    f"'{self.name}' has no Condorcet winner, which '{kind}' gaps need: "
                    "use 'copeland'."
                )
            if kind.startswith("binary"):
                return (np.arange(self.num_arms) != winner).astype(np.float64)
            return self._host()[winner] - 0.5
        if kind == "votes":
            return np.ones(self.num_arms)
        if kind == "copeland":
            scores = self.copeland_scores
            return (scores.max() - scores) / (self.num_arms - 1)
        if kind == "borda":
            scores = self.borda_scores
            return scores.max() - scores
        raise unknown_name("regret of comparisons", kind, GAP_KINDS)

    def submatrix(self, indices: Sequence[int]) -> DuelingProblem:
        """The instance with only some of the arms, renumbered in the order given.

        Args:
          indices: at least two different arms, counted from 0. The name of the result counts them
            from 1, as the papers and `jaxduel.problems.load` do: arms 0, 4, 8 of "foo" are
            "foo[1,5,9]".

        Raises:
          InputError: what is no list of whole numbers, fewer than two arms, an arm that does not
            exist, or one named twice.
        """
        given = np.asarray(indices)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise InputError(
                "the arms of a submatrix are a list of whole numbers, not "
                f"{shorten(repr(indices))}."
            )
        arms = given.tolist()
        name = f"{self.name}[{','.join(str(arm + 1) for arm in arms)}]"
        shown = shorten(name)
        if len(arms) < 2:
            raise InputError(f"'{shown}' has fewer than two arms: a submatrix needs at least two.")
        for arm in arms:
            if not 0 <= arm < self.num_arms:
                raise InputError(
                    f"'{shown}' asks for arm {arm + 1} of '{self.name}', whose arms are "
                    f"1 to {self.num_arms} (counted from 1)."
                )
        if len(set(arms)) < len(arms):
            raise InputError(f"'{shown}' names an arm twice: the arms of a submatrix must differ.")
        chosen = np.ix_(arms, arms)
        ties = None if self.ties is None else frozen(np.asarray(self.ties)[chosen])
        names = None if self.arms is None else tuple(self.arms[arm] for arm in arms)
        return DuelingProblem(frozen(self._host()[chosen]), name, ties, names)

    @property
    def smallest_gap(self) -> float | None:
        """The least |p_ij - 1/2| of the pairs that are not tied; None if all are."""
        lead = self._host() - 0.5
        return float(lead[lead > 0].min()) if (lead > 0).any() else None

    def __repr__(self) -> str:
        if not self._is_concrete():
            shape = array_text(self.preferences)
            return f"DuelingProblem({self.name!r}, preferences={shape})"
        facts = [f"K={self.num_arms}", self._winners(), self._closeness(), *self._tied()]
        return f"DuelingProblem({self.name!r}, {', '.join(facts)})"

    def _repr_html_(self) -> str:
        """The same facts and, of few arms, the matrix."""
        if not self._is_concrete():
            return html_table(self.name, [["preferences", array_text(self.preferences)]])
        facts = [f"K = {self.num_arms}", self._winners(), self._closeness(), *self._tied()]
        caption = f"{self.name}: {', '.join(facts)}"
        if self.num_arms > _SHOWN_ARMS:
            return html_table(caption, [])
        arms = [label(self, arm) for arm in range(self.num_arms)]
        rows = [[a, *(f"{p:.4g}" for p in row)] for a, row in zip(arms, self._host(), strict=True)]
        return html_table(caption, rows, ["", *arms])

    def _winners(self) -> str:
        winners = [label(self, arm) for arm in self.copeland_winners]
        if self.condorcet_winner is not None:
            return f"Condorcet winner {winners[0]}"
        return f"Copeland winner{'s' * (len(winners) > 1)} {listed(winners)}"

    def _closeness(self) -> str:
        gap = self.smallest_gap
        return "all pairs tied" if gap is None else f"smallest gap {gap:.4g}"

    def _tied(self) -> list[str]:
        """The largest probability of a tie, if there are ties."""
        return [] if self.ties is None else [f"ties up to {np.max(np.asarray(self.ties)):.4g}"]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DuelingProblem):
            return NotImplemented
        if (self.name, self.arms) != (other.name, other.arms):
            return False
        if self._is_concrete() and other._is_concrete():
            same_ties = np.array_equal(self.ties, other.ties)  # of None, too
            return same_ties and np.array_equal(self._host(), other._host())
        return self.preferences is other.preferences

    def __hash__(self) -> int:
        return hash((self.name, np.shape(self.preferences)))

    def _host(self) -> np.ndarray:
        return np.asarray(self.preferences, dtype=np.float64)

    def _is_concrete(self) -> bool:
        matrix = self.preferences
        is_array = isinstance(matrix, np.ndarray | jax.Array)
        return is_array and is_known(matrix) and matrix.ndim == 2


def from_matrix(
    p: ArrayLike | Sequence[Sequence[float]],
    name: str = "matrix",
    ties: ArrayLike | Sequence[Sequence[float]] | None = None,
    arms: Sequence[str] | None = None,
) -> DuelingProblem:
    """A problem from a preference matrix, validated.

    Rounding within the tolerance is repaired: the diagonal becomes exactly 1/2 and of each pair the
    larger entry is kept and the smaller one set to 1 minus it, so that p_ij + p_ji is exactly 1 and
    relabelling the arms relabels the result. A pair within 1e-9 of 1/2 is a tie: exactly 1/2.

    Args:
      p: (K, K) list of lists, NumPy or JAX array; p[i, j] is the probability that arm i beats arm
        j.
      name: the name of the instance in messages and reports.
      ties: (K, K), symmetric: the probability q[i, j] of a tie, which counts half for either arm in
        p, so that q[i, j] / 2 is at most p[i, j]; None for instances without ties.
      arms: K different names, for reports; None for numbers.

    Returns:
      The problem, its `preferences` a read-only (K, K) float64 NumPy array.

    Raises:
      InputError: not a square matrix of numbers, K < 2, an entry not finite or outside [0, 1], a
        diagonal entry that is not 1/2 or a pair that does not sum to 1, within 1e-6; ties that are
        not symmetric, or exceed what p allows; names that do not fit. Positions count from 0.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.from_matrix([[0.5, 0.7, 0.6], [0.3, 0.5, 0.4], [0.4, 0.6, 0.5]])
      >>> problem
      DuelingProblem('matrix', K=3, Condorcet winner 0, smallest gap 0.1)
      >>> problem.borda_scores.round(3).tolist()
      [0.65, 0.35, 0.5]
      >>> jd.problems.from_matrix([[0.5, 0.7], [0.3, 0.5]], ties=[[0, 0.2], [0.2, 0]])
      DuelingProblem('matrix', K=2, Condorcet winner 0, smallest gap 0.2, ties up to 0.2)
    """
    require_text(name, "the name of an instance (ties are ties=...)")
    matrix = _numbers(p, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"matrix '{name}' has shape {matrix.shape}: a preference matrix is square, (K, K)."
        )
    if len(matrix) < 2:
        raise InputError(f"matrix '{name}' has {len(matrix)} arms: at least K = 2 are needed.")
    _refuse(name, matrix, ~np.isfinite(matrix), "entries must be finite probabilities")
    outside = (matrix < 0) | (matrix > 1)
    _refuse(name, matrix, outside, f"entries must lie in [0, 1]{_other_units(matrix)}")
    off_diagonal = np.abs(np.diagonal(matrix) - 0.5) > TOLERANCE
    _refuse(name, matrix, np.diag(off_diagonal), "the diagonal, an arm against itself, must be 1/2")
    sums = matrix + matrix.T
    i, j = np.unravel_index(np.argmax(np.abs(sums - 1)), sums.shape)
    if abs(sums[i, j] - 1) > TOLERANCE:
        count = int(np.sum(np.triu(np.abs(sums - 1) > TOLERANCE)))
        raise InputError(
            f"matrix '{name}' has p[{i}, {j}] + p[{j}, {i}] = "
            f"{matrix[i, j]:.6g} + {matrix[j, i]:.6g} = {sums[i, j]:.6g} "
            f"(the worst of {count} such pairs, arms counted from 0): each pair must sum to 1 "
            f"within {TOLERANCE:g}."
        )
    preferences = frozen(_symmetrised(matrix))
    tied = None if ties is None else _ties(ties, name, matrix)
    return DuelingProblem(preferences, name, tied, checked_names(arms, len(matrix), name))


def require_dueling(problem: Any, where: str) -> None:
    """Raises InputError for anything but a `DuelingProblem`, such as a name or a matrix."""
    if not isinstance(problem, DuelingProblem):
        raise InputError(
            f"{where}: the problem must have arms that are compared in pairs, such as "
            "jaxduel.problems.load or from_matrix returns, not be of type "
            f"{type(problem).__name__}."
        )
    if np.ndim(problem.preferences) != 2:
        raise InputError(
            f"{where}: '{problem.name}' is a stack of instances, of shape "
            f"{np.shape(problem.preferences)}: one at a time, or jax.vmap, is needed."
        )


def _ties(ties: Any, name: str, matrix: np.ndarray) -> np.ndarray | None:
    """Validated probabilities of ties; None if all are 0."""
    where = f"{name}, ties"
    tied = _numbers(ties, where)
    if tied.shape != matrix.shape:
        raise InputError(f"matrix '{where}' has shape {tied.shape}, and p has {matrix.shape}.")
    _refuse(where, tied, ~np.isfinite(tied), "entries must be finite probabilities")
    _refuse(where, tied, tied < 0, "entries must be probabilities")
    _refuse(where, tied, np.abs(tied - tied.T) > TOLERANCE, "ties are symmetric")
    _refuse(where, tied, np.diag(np.diagonal(tied) > 0), "an arm against itself has no ties: 0")
    room = 2 * np.minimum(matrix, matrix.T)
    i, j = np.unravel_index(np.argmax(tied - room), tied.shape)
    if tied[i, j] > room[i, j] + TOLERANCE:
        raise InputError(
            f"matrix '{where}' has {tied[i, j]:.6g} at [{i}, {j}] (counted from 0): a tie counts "
            f"half for either arm, so that p = {matrix[i, j]:.6g} leaves at most {room[i, j]:.6g}."
        )
    tied = np.minimum(np.maximum(tied, tied.T), room)
    return frozen(tied) if tied.any() else None


def _numbers(p: Any, name: str) -> np.ndarray:
    if isinstance(p, str):
        raise InputError(
            f"a matrix is needed, not the text '{shorten(p)}': jaxduel.problems.load returns the "
            "instance of a name or a file."
        )
    try:
        array = np.asarray(p)
    except ValueError:
        raise InputError(
            f"matrix '{name}' has rows of different lengths: a preference matrix is square, (K, K)."
        ) from None
    if array.dtype.kind in "cOUSTmM" or isinstance(array.dtype, np.dtypes.VoidDType):
        raise InputError(
            f"matrix '{name}' holds entries of type {array.dtype}: real numbers are needed."
        )
    return array.astype(np.float64)


def _refuse(name: str, matrix: np.ndarray, wrong: np.ndarray, accepted: str) -> None:
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise InputError(
            f"matrix '{name}' has {matrix[i, j]:.10g} at [{i}, {j}] (counted from 0): {accepted}."
        )


def _other_units(matrix: np.ndarray) -> str:
    """Advice on percentages and counts of wins, if the entries off the diagonal look like these;
    else empty."""
    off = ~np.eye(len(matrix), dtype=bool)
    if np.all(np.abs(matrix + matrix.T - 100)[off] <= 100 * TOLERANCE):
        return "; divide percentages by 100"
    if np.all((matrix >= 0) & (matrix == np.floor(matrix)), where=off):
        return (
            "; divide numbers of wins by the comparisons of their pair "
            "(in Python, jaxduel.policies.state_from_wins lets a policy begin with them)"
        )
    return ""


def _symmetrised(matrix: np.ndarray) -> np.ndarray:
    larger, smaller = np.maximum(matrix, matrix.T), np.minimum(matrix, matrix.T)
    larger = np.where(larger >= 0.5, larger, 1 - smaller)
    larger = np.where(np.abs(larger - 0.5) <= TIE, 0.5, larger)
    return np.where(matrix > matrix.T, larger, np.where(matrix < matrix.T, 1 - larger, 0.5))


def frozen(matrix: np.ndarray) -> np.ndarray:
    """An array that nobody can write to, the given one if its memory is contiguous."""
    matrix = np.ascontiguousarray(matrix)
    matrix.flags.writeable = False
    return matrix


def _as_arms(mask: np.ndarray) -> tuple[int, ...]:
    return tuple(int(arm) for arm in np.flatnonzero(mask))
