"""Pseudo-regret from integer plays: the sum over arms of the arm's gap times how often it counts.

By most definitions for comparisons a play counts half: each comparison plays two arms (one arm
twice, if it meets itself) and costs the mean of their two gaps. By those of `OF_PAIRS` a comparison
counts for one of its arms, the better ("weak") or the worse ("strong"). A pull counts whole.
"""

from __future__ import annotations

import numpy as np

from jaxduel.arguments import require_known
from jaxduel.errors import InputError
from jaxduel.problems import PiecewiseProblem, Problem
from jaxduel.problems.piecewise import rewards_of

OF_PAIRS = {
    "binary strong": np.greater_equal,
    "binary weak": np.less_equal,
    "votes": np.greater_equal,
    "weak": np.less_equal,
}
"""The definitions that need plays of pairs: a pair (i, j) counts for i if the gap of i is as large,
or as small, as that of j, else for j; by "votes" it counts if the arms are two."""
DEFINITIONS = tuple(sorted(("average", "borda", "copeland", "pulls", *OF_PAIRS)))


class PlaysError(InputError):
    """A policy plays arms that the instance has not, or negative counts."""


def default_of(problem: Problem) -> str:
    """The definition where none is asked for: "pulls" of arms with rewards, else "copeland"."""
    return "copeland" if rewards_of(problem) is None else "pulls"


def needs_pairs(definition: str) -> bool:
    """True if the regret needs plays of pairs; else plays of arms suffice.

    Raises:
      InputError: for an unknown definition.
    """
    require_known("regret", definition, DEFINITIONS)
    return definition in OF_PAIRS


def regret_of(
    problem: Problem, definition: str, grid: np.ndarray, plays: np.ndarray, pairs: np.ndarray | None
) -> np.ndarray:
    """Cumulative regret of seeds: (N, M) float64.

    Args:
      problem: the instance.
      definition: of the regret.
      grid: (M,) checkpoints.
      plays: (N, M, K) plays of arms.
      pairs: (N, M, K, K) plays of ordered pairs, if the definition needs them.
    """
    tallies, of_one = plays, regret_from_plays
    if needs_pairs(definition):
        assert pairs is not None
        tallies, of_one = pairs, regret_from_pairs
    if isinstance(problem, PiecewiseProblem):
        return problem.summed(lambda one, more: of_one(one, definition, more), grid, tallies)
    return of_one(problem, definition, tallies)


def require_all_played(policy: str, wanted: np.ndarray, plays: np.ndarray) -> None:
    """Checks that each comparison played two of the instance's arms, or each pull one.

    Args:
      policy: the policy's name.
      wanted: (M,) plays that were made up to each checkpoint.
      plays: (..., M, K) plays of the instance's arms.

    Raises:
      PlaysError: if plays are negative or do not add up.
    """
    sums = plays.sum(axis=-1)
    wrong = np.argwhere((sums != wanted) | (plays.min(axis=-1) < 0))
    if len(wrong):
        *_, at = first = tuple(wrong[0])
        raise PlaysError(
            f"the plays of existing arms by {policy} sum to {sums[first]:,.0f}, not "
            f"{wanted[at]:,.0f}: its method act must play arms from 0 to {plays.shape[-1] - 1} "
            "alone, and counts of at least 0 (jaxduel.check_policy finds such errors)."
        )


def regret_from_plays(problem: Problem, definition: str, plays: np.ndarray) -> np.ndarray:
    """Cumulative regret by a definition that plays of arms suffice for: (...) float64 from (..., K)
    plays.

    "average": (e_i + e_j) / 2 a comparison, e_i = p_wi - 1/2, w the Condorcet winner (Yue and
    Joachims 2009; the batched paper). "copeland": normalised scores, zeta* - (zeta_i + zeta_j) / 2
    (D-TS; Komiyama 2016; half of Zoghi 2015). "borda": the same with Borda scores. "pulls": mu* -
    mu_i a pull, of arms with rewards.
    """
    weighed = plays.astype(np.float64, copy=False) @ problem.gaps(definition)
    return weighed if definition == "pulls" else 0.5 * weighed  # exact: a power of 2


def regret_from_pairs(problem: Problem, definition: str, pairs: np.ndarray) -> np.ndarray:
    """Cumulative regret by one of `OF_PAIRS`: (...) float64 from (..., K, K) plays of ordered
    pairs.

    "weak": min(e_i, e_j) a comparison. With w the Condorcet winner (Chen and Frazier 2017), "binary
    weak": 1 a comparison without w; "binary strong": 1 a comparison but for that of w with itself.
    "votes": 1 a comparison of two different arms, no regret but what it costs to name an arm.
    """
    gaps = problem.gaps(definition)
    return counts_from_pairs(definition, gaps, pairs) @ gaps


def largest_regret(problem: Problem, definition: str, times: np.ndarray) -> np.ndarray:
    """Cumulative regret of the worst arm, compared with itself or pulled all the time: (M,) float64
    at (M,) times, among them the changes of the problem before the last."""
    if isinstance(problem, PiecewiseProblem):
        of_one = lambda one, steps: steps * one.gaps(definition).max()  # noqa: E731
        return problem.summed(of_one, times, times[None])[0]
    return times * problem.gaps(definition).max()


def counts_from_plays(definition: str, plays: np.ndarray) -> np.ndarray:
    """Number of times each arm's gap counts, where plays of arms suffice: (..., K) float64 from
    (..., K) plays."""
    return plays.astype(np.float64) * (1.0 if definition == "pulls" else 0.5)


def counts_from_pairs(definition: str, gaps: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Number of times each arm's gap counts, by one of `OF_PAIRS`: (..., K) float64 from (K,) gaps
    and (..., K, K) plays of ordered pairs."""
    num = len(gaps)
    i, j = np.indices((num, num)).reshape(2, -1)
    counting = np.where(OF_PAIRS[definition](gaps[i], gaps[j]), i, j)
    each = np.eye(num)[counting]
    if definition == "votes":
        each[i == j] = 0
    rows = pairs.reshape(-1, num**2).astype(np.float64) @ each
    return rows.reshape(*pairs.shape[:-2], num)
