"""Grids of times."""

from __future__ import annotations

import numpy as np


def log_grid(horizon: int, points: int = 50) -> np.ndarray:
    """About `points` times from 1 to the horizon, evenly spaced in log t where that leaves integers
    apart.

    Args:
      horizon: last time, at least 1.
      points: how many times to aim for; fewer come back where rounding makes neighbours equal.

    Returns:
      (M,) int64, strictly increasing, first 1 (or the horizon, if `points` is 1), last `horizon`.
    """
    grid = np.unique(np.rint(np.geomspace(1, horizon, max(points, 1))).astype(np.int64))
    return np.union1d(grid[grid < horizon], [horizon])


def linear_grid(horizon: int, points: int = 50) -> np.ndarray:
    """About `points` evenly spaced times up to the horizon: (M,) int64, strictly increasing."""
    grid = np.rint(np.linspace(0, horizon, max(points, 1) + 1)).astype(np.int64)
    return np.unique(grid[grid > 0])
