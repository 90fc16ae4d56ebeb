"""Pseudo-regret from integer plays: the sum over arms of the arm's gap times how often it counts.

By every definition for comparisons but the weak one a play counts half: each comparison plays two
arms (one arm twice, if it meets itself) and costs the mean of their two gaps. By the weak one a
comparison counts for the better of its arms. A pull counts whole.
"""

from __future__ import annotations

import numpy as np

from jaxduel.errors import unknown_name
from jaxduel.problems import ArmsProblem, Problem

DEFINITIONS = ("average", "borda", "copeland", "pulls", "weak")


def default_of(problem: Problem) -> str:
    """The definition where none is asked for: "pulls" of arms with rewards, else "copeland"."""
    return "pulls" if isinstance(problem, ArmsProblem) else "copeland"


def needs_pairs(definition: str) -> bool:
    """True if the regret needs plays of pairs, as the weak one does; else plays of arms suffice.

    Raises:
      InputError: for an unknown definition.
    """
    if definition not in DEFINITIONS:
        raise unknown_name("regret", definition, DEFINITIONS)
    return definition == "weak"


def regret_from_plays(problem: Problem, definition: str, plays: np.ndarray) -> np.ndarray:
    """Cumulative regret by any definition but the weak one: (...) float64 from (..., K) plays.

    "average": (e_i + e_j) / 2 a comparison, e_i = p_wi - 1/2, w the Condorcet winner (Yue and
    Joachims 2009; the batched paper). "copeland": normalised scores, zeta* - (zeta_i + zeta_j) / 2
    (D-TS; Komiyama 2016; half of Zoghi 2015). "borda": the same with Borda scores. "pulls": mu* -
    mu_i a pull, of arms with rewards.
    """
    weighed = plays.astype(np.float64, copy=False) @ problem.gaps(definition)
    return weighed if definition == "pulls" else 0.5 * weighed  # exact: a power of 2


def regret_from_pairs(problem: Problem, pairs: np.ndarray) -> np.ndarray:
    """Weak regret min(e_i, e_j) a comparison, from (..., K, K) plays of ordered pairs: (...)
    float64."""
    gaps = problem.gaps("weak")
    return counts_from_pairs(gaps, pairs) @ gaps


def counts_from_plays(definition: str, plays: np.ndarray) -> np.ndarray:
    """Number of times each arm's gap counts, by any definition but the weak one: (..., K) float64
    from (..., K) plays."""
    return plays.astype(np.float64) * (1.0 if definition == "pulls" else 0.5)


def counts_from_pairs(gaps: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Number of times each arm is the one with the smaller gap, of two equal ones the first:
    (..., K) float64 from (K,) gaps and (..., K, K) plays of ordered pairs."""
    num = len(gaps)
    i, j = np.indices((num, num)).reshape(2, -1)
    better = np.where(gaps[i] <= gaps[j], i, j)
    rows = pairs.reshape(-1, num**2).astype(np.float64) @ np.eye(num)[better]
    return rows.reshape(*pairs.shape[:-2], num)
