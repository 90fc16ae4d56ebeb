"""Pseudo-regret from integer plays.

Every definition for comparisons but the weak one is half the sum over arms of plays times gap: each
comparison plays two arms (one arm twice, if it meets itself) and costs the mean of their two gaps.
That of pulls is the sum of plays times gap.
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
    """Whether the plays of arms do not determine the regret: the weak regret needs plays of pairs.

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
    return weighed(definition, plays, problem.gaps(definition))


def weighed(definition: str, plays: np.ndarray, of_arms: np.ndarray) -> np.ndarray:
    """The sum over arms of plays times a number of the arm, halved but for "pulls".

    Args:
      definition: any but the weak one.
      plays: (..., K).
      of_arms: (K,) or (K, n) float64: the gaps, or what else regret is linear in as in these.

    Returns:
      (...) or (..., n) float64.
    """
    share = 1.0 if definition == "pulls" else 0.5
    return share * (plays.astype(np.float64) @ of_arms)


def regret_from_pairs(problem: Problem, pairs: np.ndarray) -> np.ndarray:
    """Weak regret min(e_i, e_j) a comparison, from (..., K, K) plays of ordered pairs: (...)
    float64."""
    gaps = problem.gaps("weak")
    return np.einsum("...ij,ij->...", pairs.astype(np.float64), of_better(gaps, gaps))


def of_better(gaps: np.ndarray, of_arms: np.ndarray) -> np.ndarray:
    """For each pair, the number of the arm with the smaller gap: (K, K) or (K, K, n) from (K,) gaps
    and (K,) or (K, n) numbers. Of two equal gaps it is that of the first arm."""
    i, j = np.indices((len(gaps), len(gaps)))
    return of_arms[np.where(gaps[i] <= gaps[j], i, j)]
