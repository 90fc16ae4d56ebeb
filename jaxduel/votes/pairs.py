"""Pairs of arms: who is stronger, by how much, and who wins a vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxduel.errors import InputError, shorten
from jaxduel.problems.strengths import Mode, preferences
from jaxduel.votes.posterior import Draws, differences

if TYPE_CHECKING:
    import pandas as pd


def pairs(
    arms: Sequence[str],
    chosen: Sequence[int],
    model: str,
    mode: Mode,
    draws: Draws,
    mean: np.ndarray,
) -> pd.DataFrame:
    """The table of `Fit.between`.

    Args:
      arms: names of the arms.
      chosen: arms of which every pair is compared.
      model: name of the model.
      mode: the mode of the strengths.
      draws: draws of the strengths.
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
    parts = []
    for place, first in enumerate(chosen[:-1]):
        others = np.array(chosen[place + 1 :])
        gap, gap_low, gap_high, above = differences(mode, draws, first, others)
        d = draws.strengths[:, [first]] - draws.strengths[:, others]
        p = preferences(model, d, draws.log_nu[:, None])
        low, high = draws.intervals95(p).T
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
