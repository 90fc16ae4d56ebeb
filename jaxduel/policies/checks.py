"""Checks of a policy's parameters at the boundary, on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jaxduel.arguments import entries_of
from jaxduel.errors import AssumptionWarning, InputError, shorten, warn_caller

MAX_HORIZON = 2**31 - 1
"""The largest horizon: counts are int32."""


def require(value: Any, accept: Callable[[np.ndarray], Any], message: str) -> None:
    """Raises InputError unless every entry of `value` is an accepted, finite number.

    Args:
      value: a number, an array of them (a stacked policy), or None, which passes.
      accept: returns True for accepted entries.
      message: the sentence's beginning; the offending value is appended.

    Raises:
      InputError: with `message` and the first value refused.
    """
    if value is None:
        return
    entries = entries_of(value).ravel()
    if entries.dtype.kind not in "iuf":
        raise InputError(f"{message}, not {shorten(repr(value))}.")
    refused = ~(np.isfinite(entries) & np.asarray(accept(entries), bool))
    if refused.any():
        raise InputError(f"{message}, not {entries[refused][0]}.")


def require_numbers(value: Any, accept: Callable[[np.ndarray], Any], message: str) -> None:
    """Raises InputError as `require` does, and for None."""
    if value is None:
        raise InputError(f"{message}, not None.")
    require(value, accept, message)


def require_number(value: Any, accept: Callable[[np.ndarray], Any], message: str) -> None:
    """Raises InputError as `require` does, and for None or several numbers."""
    if entries_of(value).ndim > 0:
        raise InputError(f"{message}, not {shorten(repr(value))}.")
    require_numbers(value, accept, message)


def require_index(value: Any, message: str, least: float = 0) -> None:
    """Raises InputError unless every entry, an index of an unplayed arm or pair, is at least
    `least`; inf is allowed."""
    values = np.asarray(value)
    if values.dtype.kind == "f":
        values = np.where(np.isposinf(values), least, values)
    require(values, lambda u: u >= least, f"{message} must be a number of at least {least}, or inf")


def require_policy(policy: Any, where: str) -> None:
    """Raises InputError for anything but a policy, such as its name or class."""
    methods = (getattr(policy, name, None) for name in ("init", "act", "update"))
    has_fields = hasattr(policy, "num_arms") and hasattr(policy, "active_arms")
    if isinstance(policy, type) or not has_fields or not all(map(callable, methods)):
        several = isinstance(policy, list | tuple) and where in ("simulate", "identify")
        many = f"; {where}_many takes several" if several else ""
        raise InputError(
            f"{where}: the policy must be an object with the fields num_arms and active_arms and "
            "the methods init, act and update, such as jaxduel.policies.make returns, not "
            f"{policy!r}{many}."
        )


def require_whole(value: Any, least: int, message: str) -> None:
    """Raises InputError unless every entry is a whole number of at least `least`."""
    require(value, _whole_from(least), message)


def whole_number(value: Any, least: int, name: str) -> int:
    """A number as an integer.

    Raises:
      InputError: unless it is one whole number of at least `least`.
    """
    require_number(value, _whole_from(least), f"{name} must be a whole number of at least {least}")
    return int(value)


def _whole_from(least: int) -> Callable[[np.ndarray], Any]:
    return lambda x: (x >= least) & (x == np.floor(x))


def require_probability(value: Any, name: str) -> None:
    """Raises InputError unless a number is a probability, strictly between 0 and 1."""
    between = f"{name} must be a probability between 0 and 1"
    require_number(value, lambda p: (p > 0) & (p < 1), between)


def require_alpha(alpha: Any, where: str) -> None:
    """Raises InputError unless alpha is positive; warns where it is at most 1/2.

    Bounds w / n +- sqrt(alpha log t / n) hold often enough for a logarithmic regret if alpha > 1/2.
    """
    require(alpha, lambda a: a > 0, f"{where}: alpha must be positive")
    if np.any(np.asarray(alpha) <= 0.5):
        warn_caller(
            f"{where}: its regret is proved to be logarithmic for alpha > 1/2 only, and alpha is "
            f"{np.min(np.asarray(alpha)):g}.",
            AssumptionWarning,
        )


def require_horizon(horizon: Any, where: str) -> None:
    """Raises InputError unless the horizon is a whole number in 1 .. 2^31 - 1."""
    require(
        horizon,
        lambda t: (t >= 1) & (t <= MAX_HORIZON) & (t == np.floor(t)),
        f"{where}: the horizon must be a whole number from 1 to 2^31 - 1 = {MAX_HORIZON}",
    )


def require_pulls(horizon: Any, active_arms: Any, where: str, rounds: Any = 1) -> None:
    """Raises InputError unless the horizon holds a pull of each arm in each of so many rounds."""
    arms, given, times = np.broadcast_arrays(np.sum(active_arms, axis=-1), horizon, rounds)
    short = given < arms * times
    if short.any():
        size, most, number = (int(x[short][0]) for x in (arms, given, times))
        each = f" in each of {number} rounds" if number > 1 else ""
        raise InputError(
            f"{where}: the horizon {most} is too short for one pull of each of {size} arms{each}."
        )
