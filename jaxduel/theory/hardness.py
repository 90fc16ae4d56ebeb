"""The pulls that naming the best arm takes, up to logarithms, from the gaps alone.

Paper: Audibert, Bubeck and Munos, "Best Arm Identification in Multi-Armed Bandits" (COLT 2010),
section 2. Its rewards are in [0, 1]: for Gaussian rewards of standard deviation s, 4 s^2 times the
pulls are needed. Gaps are sorted, gap_(1) <= ... <= gap_(K), and the best arm has the gap of the
second best: gap_(1) = gap_(2). Then h2 <= h1 <= log(2 K) h2.
"""

from __future__ import annotations

import numpy as np

from jaxduel.display import arms_text, is_known
from jaxduel.errors import InputError
from jaxduel.problems import ArmsProblem


def h1(problem: ArmsProblem) -> float:
    """H1, the sum over all K arms of 1 / gap_i^2; the best arm counts with the smallest gap.

    Args:
      problem: arms with rewards.

    Raises:
      InputError: if `problem` is none of arms with rewards, or several arms are the best.

    Example:
      >>> import jaxduel as jd
      >>> jd.theory.h1(jd.problems.gaussian([1, 0.5, 0]))  # 1 / 0.5^2, twice, and 1 / 1^2
      9.0
    """
    gaps, least = _sorted_gaps(problem, "h1")
    return float(np.sum(gaps**-2)) / least / least


def h2(problem: ArmsProblem) -> float:
    """H2, the maximum over i of i / gap_(i)^2. The probability that successive rejects names a
    wrong arm falls with exp(-pulls / H2), up to logarithms in the exponent.

    Arguments and errors as `h1`.

    Example:
      >>> import jaxduel as jd
      >>> jd.theory.h2(jd.problems.gaussian([1, 0.5, 0]))  # 2 / 0.5^2
      8.0
    """
    gaps, least = _sorted_gaps(problem, "h2")
    return float(np.max(np.arange(1, len(gaps) + 1) / gaps**2)) / least / least


def one_best_arm(problem: ArmsProblem, bound: str) -> int:
    """The best arm.

    Args:
      problem: the instance.
      bound: the name of the function, for messages.

    Raises:
      InputError: if `problem` is none of arms with rewards, is traced, or has several best arms.
    """
    if not isinstance(problem, ArmsProblem):
        raise InputError(
            f"{bound}: the problem must have arms with rewards, such as jaxduel.problems.gaussian "
            f"returns, not be of type {type(problem).__name__}."
        )
    if not is_known(problem.means):
        raise InputError(f"{bound} is computed outside jit, vmap and grad: the means are traced.")
    best, *others = problem.best_arms
    if others:
        several = (best, *others)
        raise InputError(
            f"{bound} needs one best arm, and '{problem.name}' has {len(several)}: "
            f"{arms_text(several)}."
        )
    return best


def _sorted_gaps(problem: ArmsProblem, bound: str) -> tuple[np.ndarray, float]:
    """(K,) gaps in units of the smallest, increasing, the first two 1; and the smallest."""
    best = one_best_arm(problem, bound)
    gaps = problem.gaps("pulls")
    gaps[best] = np.inf
    gaps[best] = least = gaps.min()
    return np.sort(gaps / least), float(least)
