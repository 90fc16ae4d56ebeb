"""Errors and warnings. A message is one sentence: what is wrong, where, and what is accepted."""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Iterable


class InputError(ValueError):
    """Bad input, found at the boundary before anything is computed.

    The message is one sentence; the command line prints it alone and exits with code 2.
    """


class SolverError(RuntimeError):
    """A numerical computation missed its tolerance; the message gives the accuracy it reached."""


class StorageError(RuntimeError):
    """Results could not be written to disk (it is full, or gone); the message is one sentence.

    Results stored before are intact.
    """


class AssumptionWarning(UserWarning):
    """The instance violates an assumption of the policy's guarantee; the run goes on."""


def shorten(text: str, most: int = 60) -> str:
    """`text` on one line; its beginning and its length if it is longer than `most` characters."""
    text = text.replace("\n", " ")
    return text if len(text) <= most else f"{text[: most - 20]}... ({len(text):,} characters)"


def unknown_name(
    kind: str, name: object, known: Iterable[str], meant: str | None = None
) -> InputError:
    """An error for a `name` not among the `known` names of its `kind`; it suggests the nearest one.

    Args:
      kind: what the name was meant to be, such as "policy" or "problem".
      name: the name that was asked for.
      known: the names that exist.
      meant: the name that was meant, where that is known; the nearest in spelling if None.

    Returns:
      The error, to be raised by the caller.
    """
    names = sorted(known)
    text = str(name)
    near = [meant] if meant else difflib.get_close_matches(text.lower(), names, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    listed = f"known are {', '.join(names)}" if names else "there is none"
    return InputError(f"unknown {kind} '{shorten(text)}': {listed}{hint}")


_PACKAGE = os.path.dirname(__file__) + os.sep


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns, pointing at the line outside jaxduel from which it was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
