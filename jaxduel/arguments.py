"""Arguments of public functions, as the kind of thing that they must be."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from jaxduel.errors import InputError, shorten, unknown_name


def entries_of(value: Any) -> np.ndarray:
    """A value as an array; one of an object for what cannot be one, such as a ragged list."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        return np.array(None)


def real_numbers(value: Any, what: str) -> np.ndarray:
    """Real numbers as an array of their shape, float64; `what` names them in the plural.

    Raises:
      InputError: for anything else, such as text, complex numbers or a ragged list.
    """
    entries = entries_of(value)
    if entries.dtype.kind not in "biuf":
        raise InputError(f"{what} must be real numbers, not {shorten(repr(value))}.")
    return entries.astype(np.float64)


def real_number(value: Any, what: str) -> float:
    """One real number.

    Raises:
      InputError: for anything else, or several.
    """
    entries = entries_of(value)
    if entries.ndim > 0 or entries.dtype.kind not in "biuf":
        raise InputError(f"{what} must be a real number, not {shorten(repr(value))}.")
    return float(entries)


def switch(value: Any, what: str) -> bool:
    """True or False.

    Raises:
      InputError: for anything else.
    """
    if np.ndim(entries_of(value)) > 0 or value not in (True, False):
        raise InputError(f"{what} must be True or False, not {shorten(repr(value))}.")
    return bool(value)


def require_text(value: Any, what: str) -> None:
    """Raises InputError for anything but text that UTF-8 can hold; it cannot hold the surrogates
    that os.fsdecode makes of other bytes."""
    try:
        str.encode(value)
    except (TypeError, UnicodeEncodeError):
        raise InputError(f"{what} must be text in UTF-8, not {shorten(ascii(value))}.") from None


def require_known(kind: str, name: Any, known: Collection[str]) -> None:
    """Raises `unknown_name`, an InputError, for what is none of the known names of its `kind`."""
    if not isinstance(name, str) or name not in known:
        raise unknown_name(kind, name, known)


def items_of(value: Any, what: str) -> list[Any]:
    """The items of a list, a tuple or another iterable but text, sets and mappings.

    Raises:
      InputError: for what is none.
    """
    try:
        if not isinstance(value, str | bytes | set | frozenset | dict):
            return list(value)
    except TypeError:
        pass
    raise InputError(f"{what} must be a list, not {shorten(repr(value))}.")
