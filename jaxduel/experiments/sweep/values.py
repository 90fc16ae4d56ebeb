"""Values in a grid: lists of them, their types, and errors with their place."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxduel.errors import InputError


class GridError(InputError):
    """An error in a grid, with the key that it is about.

    Attributes:
      key: the key, as in the TOML file.
      table: "policies", "problems", or "" for a key of the grid itself.
      number: index of the entry in that table, from 0.
    """

    def __init__(self, message: str, key: str = "", table: str = "", number: int = 0) -> None:
        super().__init__(message)
        self.key, self.table, self.number = key, table, number


def listed(where: str, key: str, values: Any) -> tuple[Any, ...]:
    """Values as a tuple, lists among them as tuples, NumPy's as Python's."""
    if isinstance(values, np.ndarray | np.generic):
        values = values.tolist()
    listed = tuple(values) if isinstance(values, list | tuple) else (values,)
    if not listed:
        raise GridError(f"{where} is an empty list: it needs at least one value.", key)
    listed = tuple(v.tolist() if isinstance(v, np.ndarray | np.generic) else v for v in listed)
    for value in listed:
        if not isinstance(value, bool | int | float | str | list | tuple):
            raise GridError(f"{where} must be numbers, text or true/false, not {value!r}.", key)
    return tuple(_frozen(value) for value in listed)


def _frozen(value: Any) -> Any:
    """Lists, and those within them, as tuples."""
    return tuple(_frozen(one) for one in value) if isinstance(value, list | tuple) else value


def typed(where: str, key: str, value: Any, annotation: Any, default: Any) -> Any:
    """A value converted to the type of a parameter: whole floats to integers where the parameter is
    one, integers to floats where it is one."""
    kind = str(annotation)
    if "Any" in kind or "ArrayLike" in kind:
        return value
    for switch, accepted in ((bool, "true or false"), (str, "text")):
        if isinstance(default, switch):
            if not isinstance(value, switch):
                raise GridError(f"{where} must be {accepted}, not {value!r}.", key)
            return value
    if isinstance(value, bool | str | tuple):
        raise GridError(f"{where} must be a number, not {value!r}.", key)
    if isinstance(value, int) and abs(value) >= 2**64:
        raise GridError(f"{where} must be a number that fits 64 bits.", key)
    if "float" in kind:
        return float(value)
    if "int" in kind:
        if not float(value).is_integer():
            raise GridError(f"{where} must be a whole number, not {value!r}.", key)
        return int(value)
    return value


def located(error: InputError, key: str) -> GridError:
    """An error as a `GridError` about a key."""
    return GridError(str(error), key)
