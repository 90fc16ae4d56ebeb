"""Types of the values in a grid, and pydantic's errors as sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Annotated, Any, NotRequired, TypeVar

import numpy as np
from annotated_types import Interval, MinLen
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    with_config,
)
from typing_extensions import TypedDict

from jaxduel.errors import InputError, shorten, shown, unknown_name

T = TypeVar("T")
KEYS = {"num_seeds": "seeds"}
"""Fields of `Grid` whose key in the TOML file has another name."""
STRICT = ConfigDict(extra="forbid", strict=True)
_EXTRA = ("extra_forbidden", "invalid_key", "unexpected_keyword_argument")
_MUST = {
    "bool_type": "true or false",
    "dict_type": "a table",
    "float_type": "a number",
    "greater_than_equal": "at least {ge}",
    "int_type": "a whole number",
    "is_instance_of": "of the class {class}",
    "less_than_equal": "at most {le}",
    "string_type": "text",
}
"""Conditions on a value, by pydantic's name for the error; ValueErrors of validators say it too."""


class GridError(InputError):
    """An error in a grid, and its place in the grid.

    Attributes:
      place: keys of the TOML file, and indices from 0: ("policies", 2, "alpha").
    """

    def __init__(self, message: object, *place: str | int) -> None:
        super().__init__(str(message))
        self.place = place


@contextmanager
def told(whole: str, known: Collection[str], prefix: str = "") -> Iterator[None]:
    """Turns pydantic's errors into a GridError about an unknown key, or else the first error.

    Args:
      whole: words for a part and for the whole that is validated: "key of the grid".
      known: the names of the parts, in order.
      prefix: the beginning of sentences about a value.
    """
    try:
        yield
    except ValidationError as error:
        found = error.errors(include_url=False)
        one = next((e for e in found if e["type"] in _EXTRA), found[0])
        kind, context = one["type"], one.get("ctx", {})
        first, *rest = one["loc"] or ("",)
        key = [*known][first] if isinstance(first, int) else KEYS.get(first, first)
        place = (key, *rest)
        if isinstance(context.get("error"), GridError):
            said, place = str(context["error"]), (*one["loc"], *context["error"].place)
        elif kind in _EXTRA:
            meant = next((field for field in known if KEYS.get(field) == key), None)
            said = str(unknown_name(whole, key, known, meant))
        elif kind == "literal_error":
            names = re.findall("'(.*?)'", context["expected"])
            said = str(unknown_name(f"value of {key}", one["input"], names))
        elif kind == "missing":
            part, _, owner = whole.partition(" of ")
            said = f"{owner} needs the {part} '{key}'."
        elif kind == "too_short":
            said = f"{prefix}{key} is an empty list: it needs at least one value."
        else:
            must = context.get("error") or _MUST.get(kind, "something else").format(**context)
            given = " ".join(shown(one["input"], repr).split())
            said = f"{prefix}{key} must be {must}, not {shorten(given)}."
    else:
        return
    raise GridError(said, *place) from None


def sentences(whole: str) -> Callable[[type[T]], type[T]]:
    """Class decorator: the errors of a pydantic dataclass are GridErrors; see `told`."""

    def decorated(cls: type[T]) -> type[T]:
        cls.__init__ = told(whole, cls.__annotations__)(cls.__init__)
        return cls

    return decorated


def constant(value: Any) -> Any:
    """A value with lists replaced by tuples and NumPy's values by Python's."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    return tuple(constant(one) for one in value) if isinstance(value, list | tuple) else value


def _several(values: Any) -> tuple[Any, ...]:
    values = constant(values)
    return values if isinstance(values, tuple) else (values,)


def _constants(value: Any) -> Any:
    if not isinstance(value, bool | int | float | str | tuple):
        raise ValueError("numbers, text or true/false")
    return value


def _whole(value: Any) -> Any:
    value = constant(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


Several = Annotated[tuple[T, ...], BeforeValidator(_several)]
"""A tuple; a list, an array or a single value is accepted instead."""
Some = Annotated[tuple[T, ...], MinLen(1), BeforeValidator(_several)]
"""Several, at least one."""
WHOLE = BeforeValidator(_whole)
"""Annotation of int: whole floats are accepted too."""
_Int64 = Annotated[int, Interval(ge=-(2**63), le=2**63 - 1), WHOLE]


def type_of(annotation: Any, default: Any, needed: bool = False) -> Any:
    """The type of a parameter in a grid, one or several values, from the annotation and default in
    a policy or a generator."""
    kind = str(annotation)
    if "Any" in kind or "ArrayLike" in kind:
        one = Annotated[Any, AfterValidator(_constants)]
    elif isinstance(default, bool | str):
        one = type(default)
    elif "float" in kind:
        one = float
    else:
        one = _Int64 if "int" in kind else float | int
    return Some[one] if needed else NotRequired[Some[one]]


@lru_cache(maxsize=256)
def table_of(what: str, types: tuple[tuple[str, Any], ...]) -> TypeAdapter[Any]:
    """The type of a table of parameters, each with one or several values."""
    table = TypedDict(what, dict(types))  # noqa: UP013  # pyright: ignore[reportArgumentType]
    return TypeAdapter(with_config(STRICT)(table))


def checked(
    what: str, types: Mapping[str, Any], parameters: Mapping[str, Any], others: Collection[str] = ()
) -> dict[str, tuple[Any, ...]]:
    """The parameters of a policy or a problem, converted to their types, in the order of these.

    Args:
      what: the policy or the problem, in words.
      types: types by parameter, from `type_of`.
      parameters: the given values.
      others: other keys that the table may have.
    """
    for key in () if types else parameters:
        raise GridError(f"{what} has no parameter '{shorten(key)}': it has none.", key)
    with told(f"parameter of {what}", (*types, *others), f"{what}: "):
        return table_of(what, tuple(types.items())).validate_python(parameters)
