"""Checkpoints: the times at which plays are recorded."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from jaxduel.errors import InputError
from jaxduel.numerics import log_times
from jaxduel.numerics.times import MAX_TIMES
from jaxduel.policies.checks import whole_number
from jaxduel.problems.piecewise import with_changes


def resolve(checkpoints: Any, horizon: int, problem: Any = None) -> np.ndarray:
    """The checkpoints of a run: (M,) int64, strictly increasing, within 1 .. horizon.

    Args:
      checkpoints: times (numbers of comparisons made); or their number, for a log grid of about as
        many; or None for one of about 50.
      horizon: T.
      problem: the instance; where the times are not given, its changes are among them.

    Raises:
      InputError: if they are not increasing integers within the horizon, or too many.
    """
    if checkpoints is None:
        return with_changes(log_times(horizon), problem)
    if np.isscalar(checkpoints) and not isinstance(checkpoints, bool | str | bytes):
        number = whole_number(checkpoints, 1, "the number of checkpoints")
        return with_changes(log_times(horizon, number), problem)
    if _length(checkpoints) > MAX_TIMES:  # before a range, say, is expanded
        raise InputError(
            f"checkpoints: {_length(checkpoints):,} are too many, at most {MAX_TIMES:,} times can "
            "be recorded."
        )
    try:
        times = np.asarray(checkpoints)
    except (TypeError, ValueError):  # rows of different lengths, traced values
        times = np.empty(0)
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
