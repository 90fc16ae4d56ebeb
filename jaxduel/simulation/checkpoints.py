"""Checkpoints: the times at which plays are recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxduel.errors import InputError
from jaxduel.numerics import log_grid


def resolve(checkpoints: Any, horizon: int) -> np.ndarray:
    """The checkpoints of a run: (M,) int64, strictly increasing, within 1 .. horizon.

    Args:
      checkpoints: times (numbers of comparisons made), or None for a log grid of about 50.
      horizon: T.

    Raises:
      InputError: if they are not increasing integers within the horizon.
    """
    if checkpoints is None:
        return log_grid(horizon)
    times = np.atleast_1d(np.asarray(checkpoints))
    if times.ndim != 1 or times.size == 0 or (times != np.floor(times)).any():
        raise InputError("checkpoints must be a non-empty list of whole numbers.")
    times = times.astype(np.int64)
    if (np.diff(times) <= 0).any() or times[0] < 1 or times[-1] > horizon:
        raise InputError(
            f"checkpoints must increase and lie from 1 to the horizon {horizon}; "
            f"they go from {times[0]} to {times[-1]}."
        )
    return times
