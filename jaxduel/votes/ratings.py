"""Ratings on the scale of Elo ("The rating of chessplayers", 1978): 400 points are odds of 10 to 1.

In davidson's model a tie changes the log-likelihood's slope as half a win and half a loss do, which
is how Elo counts draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxduel.policies.checks import require_number
from jaxduel.problems.strengths import Mode
from jaxduel.votes.posterior import Draws, differences

if TYPE_CHECKING:
    import pandas as pd

_POINTS = 400 / math.log(10)
"""Points of a unit of strength."""


def ratings(
    arms: Sequence[str],
    mode: Mode,
    draws: Draws,
    anchor: int | None,
    rating: float,
) -> pd.DataFrame:
    """The table of `Fit.elo`.

    Args:
      arms: names of the arms.
      mode: the mode of the strengths.
      draws: draws of the strengths.
      anchor: the arm that has the rating; if None, the mean of all arms has it.
      rating: from -1e6 to 1e6.

    Raises:
      InputError: a rating out of range.
    """
    import pandas as pd

    require_number(rating, lambda x: abs(x) <= 1e6, "rating must be a number from -1e6 to 1e6")
    if anchor is None:
        moved = np.stack([mode.strengths, *draws.intervals95(draws.strengths).T])
    else:
        moved = np.zeros((3, mode.num_arms))
        others = np.flatnonzero(np.arange(mode.num_arms) != anchor)
        value, low, high, _ = differences(mode, draws, anchor, others)
        moved[:, others] = -value, -high, -low
    points = dict(zip(("elo", "elo_low", "elo_high"), rating + _POINTS * moved, strict=True))
    table = pd.DataFrame({"arm": arms} | points)
    return table.sort_values("elo", ascending=False, kind="stable", ignore_index=True)
