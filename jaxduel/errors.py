"""What jaxduel raises and warns about: one sentence on what is wrong, where, what is accepted."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Bad input, found at the boundary before anything is computed.

    The message is one sentence; the command line prints it alone and exits with code 2.
    """


class SolverError(RuntimeError):
    """A numerical computation did not reach its tolerance; the message says what it did reach."""


class StorageError(RuntimeError):
    """Results could not be put on disk (it is full, or gone); the message is one sentence.

    What was stored before is whole.
    """


class AssumptionWarning(UserWarning):
    """The instance breaks an assumption that the policy's guarantee rests on; the run goes on."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """An error for `name`, which is none of the `known` names of that `kind`, with the nearest one.

    Args:
      kind: what the name was meant to be, such as "policy" or "problem".
      name: the name that was asked for.
      known: the names that exist.

    Returns:
      The error, to be raised by the caller.
    """
    names = sorted(known)
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    return InputError(f"unknown {kind} '{name}': known are {', '.join(names)}{hint}")
