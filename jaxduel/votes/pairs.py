"""Pairs of arms: who is stronger, by how much, and who wins a vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxduel.errors import InputError, shorten
from jaxduel.problems.strengths import Laplace, coherent, preferences
from jaxduel.votes.posterior import Draws, differences, normal_draws

if TYPE_CHECKING:
    import pandas as pd


def pairs(
    arms: Sequence[str],
    chosen: Sequence[int],
    posterior: Laplace,
    draws: Draws | None,
    mean: np.ndarray,
) -> pd.DataFrame:
    """The table of `Fit.between`.

    Args:
      arms: names of the arms.
      chosen: arms of which every pair is compared.
      posterior: the normal approximation of the strengths.
      draws: weighted draws of the strengths; None where the normal approximation stands in.
      mean: (K, K) mean preferences.

    Raises:
      InputError: fewer than two arms, or one of them twice.
    """
    import pandas as pd

    if len(chosen) < 2:
        raise InputError(f"two arms or more can be compared, not {len(chosen)}.")
    for place, arm in enumerate(chosen):
        if arm in chosen[:place]:
            raise InputError(f"the arm '{shorten(arms[arm])}' is compared with itself.")
    sample = normal_draws(posterior) if draws is None else draws
    parts = []
    for place, first in enumerate(chosen[:-1]):
        others = np.array(chosen[place + 1 :])
        gap, gap_low, gap_high, above = differences(posterior, draws, first, others)
        d = sample.strengths[:, [first]] - sample.strengths[:, others]
        p = preferences(posterior.model, d, sample.log_nu[:, None])
        low, high = sample.intervals95(p).T
        columns = {
            "first": arms[first],
            "second": [arms[other] for other in others],
            "gap": gap,
            "gap_low": gap_low,
            "gap_high": gap_high,
            "gap_above": above,
            "preference": mean[first, others],
            "preference_low": low,
            "preference_high": high,
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def stronger(posterior: Laplace, draws: Draws | None) -> np.ndarray:
    """Probability of each arm that it is stronger than each other: (K, K); arguments of `pairs`."""
    if draws is not None:
        drawn = draws.strengths
        above = np.stack([draws.weights @ (own[:, None] > drawn) for own in drawn.T])
        return coherent(np.clip(above, 0, 1))
    from scipy.special import ndtr

    mode, num_arms = posterior.mode, len(posterior.mode)
    covariance = posterior.covariance[:num_arms, :num_arms]
    own = np.diagonal(covariance)
    std = np.sqrt(own[:, None] + own - 2 * covariance + np.eye(num_arms))  # 1 of the same arm
    return coherent(ndtr((mode[:, None] - mode) / std))
