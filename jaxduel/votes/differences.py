"""Differences between the strengths of arms, their intervals and probabilities."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from jaxduel.problems.strengths import Laplace
from jaxduel.votes.posterior import Draws

Z95 = NormalDist().inv_cdf(0.975)


class Difference(NamedTuple):
    """Difference between the strengths of two arms.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 60], [40, 0]], arms=["ada", "bea"])
      >>> found = jd.votes.fit(votes).difference("ada", "bea")
      >>> round(found.value, 1), found.low < 0 < found.high, round(found.above, 2)
      (0.4, False, 0.98)
    """

    arms: tuple[str, str]
    value: float
    """The first arm's strength less the second's, at the mode."""
    low: float
    high: float
    """Ends of the 95 % interval: 2.5 and 97.5 % quantiles of the posterior."""
    above: float
    """Posterior probability that the first is the stronger."""


def differences(
    posterior: Laplace, draws: Draws | None, first: int, others: np.ndarray
) -> np.ndarray:
    """The numbers of the `Difference` of an arm to each of M others: (4, M) float64.

    Args:
      posterior: the normal approximation of the strengths.
      draws: weighted draws of them; None where the normal approximation stands in.
      first: the arm.
      others: (M,) the others.
    """
    value = posterior.mode[first] - posterior.mode[others]
    if draws is not None:
        drawn = draws.strengths[:, [first]] - draws.strengths[:, others]
        return np.stack([value, *draws.intervals95(drawn).T, draws.weights @ (drawn > 0)])
    from scipy.special import ndtr

    own, both = np.diagonal(posterior.covariance), posterior.covariance[first, others]
    std = np.sqrt(own[first] + own[others] - 2 * both)
    return np.stack([value, value - Z95 * std, value + Z95 * std, ndtr(value / std)])
