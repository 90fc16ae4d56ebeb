"""Checkpoints: the times at which plays are recorded."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from jaxduel.errors import InputError
from jaxduel.numerics import log_times
from jaxduel.numerics.times import MAX_TIMES


def resolve(checkpoints: Any, horizon: int) -> np.ndarray:
    """The checkpoints of a run: (M,) int64, strictly increasing, within 1 .. horizon.

    Args:
      checkpoints: times (numbers of comparisons made), or None for a log grid of about 50.
      horizon: T.

    Raises:
      InputError: if they are not increasing integers within the horizon, or too many.
    """
    if checkpoints is None:
        return log_times(horizon)
    if _length(checkpoints) > MAX_TIMES:  # before a range, say, is expanded
        raise InputError(
            f"checkpoints: {_length(checkpoints):,} are too many, at most {MAX_TIMES:,} times can "
            "be recorded."
        )
    try:
        times = np.asarray(checkpoints)
    except (TypeError, ValueError):  # rows of different lengths, traced values
        times = np.empty(0)
    if times.ndim == 0 and times.dtype.kind in "iuf":
        raise InputError(
            f"checkpoints must be a list of times, such as [{checkpoints}], not {checkpoints!r}."
        )
    whole = times.dtype.kind in "iuf" and (times == np.floor(times)).all()
    if times.ndim != 1 or times.size == 0 or not whole:
        raise InputError("checkpoints must be a non-empty list of whole numbers.")
    if (times[1:] <= times[:-1]).any() or times[0] < 1 or times[-1] > horizon:
        raise InputError(
            f"checkpoints must increase and lie from 1 to the horizon {horizon}; "
            f"they go from {times[0]:.12g} to {times[-1]:.12g}."
        )
    return times.astype(np.int64)


def padded_size(number: int) -> int:
    """Padded number of checkpoints: one of few sizes (64, 128, ...), as programs depend on it."""
    size = 64
    while size < number:
        size *= 2
    return size


def _length(checkpoints: Any) -> int:
    try:
        return len(checkpoints)
    except TypeError:  # one number, or no list, which `resolve` refuses
        return 1
    except OverflowError:  # a range of 2^63 times or more
        return sys.maxsize
