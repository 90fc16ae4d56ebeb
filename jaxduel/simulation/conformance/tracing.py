"""Checks of what JAX traces of a policy: that it can, and finds the same program each time."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any

from jaxduel.simulation.traces import ASKS_FOR_VALUES, program_of


def failure_of(policy: Any, method: str, error: Exception) -> str:
    """The sentence on a method that ended in an error: its line in the policy's file, the error,
    and what to use in place of Python's `if` and NumPy."""
    code = getattr(inspect.unwrap(getattr(type(policy), method)), "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if code is not None and f.filename == code.co_filename]
    place = f" at {code.co_filename}:{lines[-1]}" if code is not None and lines else ""
    said = str(error).strip().partition("\n")[0].rstrip(".")
    hint = "; of traced values use jnp.where or lax.cond, not `if`, and jnp, not NumPy"
    return (
        f"{method} ends in {type(error).__name__}{place}: {said}"
        f"{hint if isinstance(error, ASKS_FOR_VALUES) else ''}"
    )


def is_same_each_time(step: Callable[..., Any], *arguments: Any) -> bool:
    """True if tracing a function twice gives the same program, constants included."""
    return program_of(step, *arguments) == program_of(step, *arguments)
