"""The constant of log T that no policy for arms with rewards can beat.

Paper: Lai and Robbins, "Asymptotically Efficient Adaptive Allocation Rules" (Advances in Applied
Mathematics, 1985), Theorem 1 and its example of normal arms.
"""

from __future__ import annotations

import numpy as np

from jaxduel.problems import ArmsProblem


def lai_robbins_constant(problem: ArmsProblem) -> float:
    """The least constant of log T of a policy that is consistent on all instances of its kind.

    The sum over all arms that are not best of gap_i / d_i, where d_i is the Kullback-Leibler
    divergence of the arm's law from that of the same kind with the best mean: gap_i^2 / (2 std_i^2)
    for Gaussian rewards, whose standard deviations are taken as known, and of two coins for
    Bernoulli rewards.

    Args:
      problem: the instance.

    Returns:
      The constant, of "pulls" regret; 0 if all arms are equally good. A Bernoulli arm adds nothing
      where the best arm always pays: its first zero tells.
    """
    gaps = problem.gaps("pulls")
    worse = gaps > 0
    gaps = gaps[worse]
    if problem.std is not None:
        return float(np.sum(2 * np.asarray(problem.std, dtype=np.float64)[worse] ** 2 / gaps))
    means = np.asarray(problem.means, dtype=np.float64)[worse]
    return float(np.sum(gaps / _divergence_of_coins(means, gaps)))


def _divergence_of_coins(means: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """d(p, q) of coins with p = means < q = means + gaps, as p f(g / p) + (1 - p) f(-g / (1 - p))
    with f(u) = u - log(1 + u) >= 0, which cancels nothing where q is close to p."""
    fails = 1.0 - means
    with np.errstate(divide="ignore", invalid="ignore"):
        ones = np.where(means > 0, means * _excess(gaps / means), gaps)
        return ones + fails * _excess(-np.minimum(gaps / fails, 1.0))


def _excess(u: np.ndarray) -> np.ndarray:
    """u - log(1 + u), to a relative 1e-9."""
    series = u**2 * (1 / 2 - u * (1 / 3 - u * (1 / 4 - u / 5)))
    return np.where(np.abs(u) < 1e-3, series, u - np.log1p(u))
