"""Errors and warnings. A message is one sentence: what is wrong, where, and what is accepted."""

from __future__ import annotations

import difflib
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable

_ACTING = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""Characters that act on a terminal or are invisible; lone surrogates, bytes that are no text."""


def printable(text: str) -> str:
    """A text safe to print in one line, whoever wrote it.

    Control characters (escape sequences, bells, ends of lines), marks that turn the direction of
    writing round, invisible ones and lone surrogates are written as escapes. All that commands
    print, and every message of an error or a warning, goes through this function.

    Example:
      >>> from jaxduel.errors import printable
      >>> print(printable("\\x1b[31mred\\n"))
      \\x1b[31mred\\n
    """
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class _Told(Exception):
    """An error whose message is safe to print."""

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(str(message)))


class InputError(_Told, ValueError):
    """Bad input, found at the boundary before anything is computed.

    The message is one sentence; the command line prints it alone and exits with code 2.
    """


class SolverError(_Told, RuntimeError):
    """A numerical computation missed its tolerance; the message gives the accuracy it reached."""


class StorageError(_Told, RuntimeError):
    """Results could not be written to disk (it is full, or gone); the message is one sentence.

    Results stored before are intact.
    """


class AssumptionWarning(UserWarning):
    """The instance violates an assumption of the policy's guarantee; the run goes on."""


def shorten(text: str, most: int = 60) -> str:
    """`text` on one line; its beginning and its length if it is longer than `most` characters."""
    text = text.replace("\n", " ")
    return text if len(text) <= most else f"{text[: most - 20]}... ({len(text):,} characters)"


def shown(value: object, how: Callable[[object], str] = str) -> str:
    """A value as text; an integer of more digits than Python writes is said to be one."""
    try:
        return how(value)
    except ValueError:
        return "a number of thousands of digits"


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
    text = shown(name)
    near = [meant] if meant else difflib.get_close_matches(text.lower(), names, n=1, cutoff=0.5)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    listed = f"known are {', '.join(names)}" if names else "there is none"
    return InputError(f"unknown {kind} '{shorten(text)}'{hint}: {listed}.")


_PACKAGE = os.path.dirname(__file__) + os.sep


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns, pointing at the line outside jaxduel from which it was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(printable(message), category, stacklevel=level)
