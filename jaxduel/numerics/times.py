"""Times that are evenly spaced, linearly or in log t."""

from __future__ import annotations

import math

import numpy as np

from jaxduel.errors import InputError

MAX_TIMES = 100_000
"""Most times: results keep the plays of all arms at each time, for every seed."""


def log_times(horizon: int, points: int = 50) -> np.ndarray:
    """About `points` times from 1 to the horizon, evenly spaced in log t where rounding keeps them
    apart.

    Args:
      horizon: last time, at least 1.
      points: number of times to aim for; there are fewer where rounding makes neighbours equal.

    Returns:
      (M,) int64, strictly increasing, first 1 (or the horizon, if `points` is 1), last `horizon`.

    Raises:
      InputError: for more than `MAX_TIMES` points, unless the horizon is at most `MAX_TIMES`.

    Example:
      >>> from jaxduel.numerics import log_times
      >>> log_times(1_000, points=4).tolist()
      [1, 10, 100, 1000]
    """
    points = _bounded(points, horizon)
    if points > horizon * math.log(horizon) + 1:  # neighbours less than 1 apart
        return np.arange(1, horizon + 1, dtype=np.int64)
    if points <= 1:
        return np.array([horizon], np.int64)
    grid = np.unique(np.rint(np.geomspace(1, horizon, points)).astype(np.int64))
    return np.union1d(grid[grid < horizon], [horizon])


def linear_times(horizon: int, points: int = 50) -> np.ndarray:
    """About `points` evenly spaced times up to the horizon: (M,) int64, strictly increasing.

    Raises:
      InputError: as `log_times`.

    Example:
      >>> from jaxduel.numerics import linear_times
      >>> linear_times(1_000, points=4).tolist()
      [250, 500, 750, 1000]
    """
    points = min(_bounded(points, horizon), horizon)
    grid = np.rint(np.linspace(0, horizon, max(points, 1) + 1)).astype(np.int64)
    return np.unique(grid[grid > 0])


def _bounded(points: int, horizon: int) -> int:
    if min(points, horizon) > MAX_TIMES:
        raise InputError(
            f"{points:,} checkpoints are too many: at most {MAX_TIMES:,} times can be recorded."
        )
    return points
