"""Checks of a policy class, and of the values of its fields against their annotations."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import jax
import numpy as np

from jaxduel.errors import InputError, shorten
from jaxduel.policies.checks import MAX_HORIZON
from jaxduel.problems.arms import MOST_ARMS

_NAME = re.compile(r"[a-z][a-z0-9+_.-]{0,39}")
_METHODS = ("init", "act", "update")


def require_name(name: Any) -> None:
    """Raises InputError unless a policy can have that name."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            "a policy's name is a small letter and at most 39 small letters, digits and + - _ . "
            f"after it, not {shorten(repr(name))}."
        )


def require_class(name: str, policy_class: Any) -> None:
    """Raises InputError unless a class can be registered as a policy of that name."""
    for fails, what in _flaws(policy_class):
        if fails:
            raise InputError(
                f"the policy '{name}' must be a frozen dataclass, registered with "
                "jax.tree_util.register_dataclass, with keyword fields num_arms and active_arms "
                f"and methods {', '.join(_METHODS)}: {shorten(repr(policy_class))} {what}."
            )


def _flaws(policy_class: Any) -> list[tuple[bool, str]]:
    """Tests of a policy class, in order of report: True if it fails, and its message."""
    if not isinstance(policy_class, type):
        return [(True, "is no class")]
    if not dataclasses.is_dataclass(policy_class):
        return [(True, "is no dataclass")]
    keywords = {field.name for field in dataclasses.fields(policy_class) if field.kw_only}
    missing = [name for name in ("num_arms", "active_arms") if name not in keywords]
    methods = [m for m in _METHODS if not callable(getattr(policy_class, m, None))]
    return [
        (not policy_class.__dataclass_params__.frozen, "is not frozen"),  # type: ignore[attr-defined]
        (bool(missing), f"has no keyword field {', '.join(missing)} (kw_only=True)"),
        (bool(methods), f"has no method {', '.join(methods)}"),
        (not _is_pytree(policy_class), "is not registered by a decorator below this one"),
    ]


def _is_pytree(policy_class: type) -> bool:
    """True if JAX flattens an object of the class, instead of treating it as a leaf."""
    blank = object.__new__(policy_class)
    try:
        return not jax.tree_util.all_leaves([blank])
    except AttributeError:  # its flattening reads fields
        return True


def require_num_arms(num_arms: Any, where: str) -> int:
    """K as an integer.

    Raises:
      InputError: unless it is a whole number from 2 to `MOST_ARMS`.
    """
    exact = _whole(num_arms)
    if exact is None or not 2 <= exact <= MOST_ARMS:
        raise InputError(
            f"{where}: num_arms must be a whole number from 2 to {MOST_ARMS:,}, not "
            f"{_said(num_arms)}."
        )
    return exact


def require_value(field: dataclasses.Field[Any], value: Any, where: str) -> Any:
    """The checked value of a policy's field; an integer field gets an exact integer.

    A numeric field takes one number: `simulate_many` stacks policies as objects.

    Raises:
      InputError: for a value that is not of the field's kind.
    """
    kind = annotation_of(field)
    if value is None and (field.default is None or "None" in kind):
        return value
    if kind.startswith("int"):
        exact, wanted = _whole(value), "a whole number"
        if exact is not None:
            return exact
        if isinstance(value, float | np.floating):  # out of range: the policy says the range
            raise InputError(f"{where}: {field.name} must be {wanted}, not {_said(value)}.")
    elif kind.startswith("float"):
        wanted = "a number"
        if _is_number(value) and _fits(value):  # 1 and 1.0 are the same program
            static = field.metadata.get("static", False)
            plain = static or isinstance(value, int | np.integer)
            return float(np.asarray(value)) if plain else value
        if _is_number(value):
            raise InputError(
                f"{where}: {field.name} must be a number that fits 32 bits, not {_said(value)}."
            )
    elif kind == "bool":
        wanted = "True or False"
        if isinstance(value, bool | np.bool_):
            return bool(value)
    elif kind == "str":
        wanted = "text"
        if isinstance(value, str):
            return value
    else:
        return value
    raise InputError(f"{where}: {field.name} must be {wanted}, not {_said(value)}.")


def with_whole_numbers(policy: Any) -> Any:
    """The policy with whole floats in integer fields made exact integers; fields may hold arrays (a
    stacked policy)."""
    if not dataclasses.is_dataclass(policy) or isinstance(policy, type):
        return policy
    changed = {}
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        if field.init and isinstance(value, float | np.floating | np.ndarray):
            entries = np.asarray(value)
            if entries.dtype.kind == "f" and annotation_of(field).startswith("int"):
                whole = np.abs(entries) <= MAX_HORIZON
                if whole.all() and (entries == np.floor(entries)).all():
                    changed[field.name] = entries.astype(np.int32)
    return dataclasses.replace(policy, **changed) if changed else policy


def annotation_of(field: dataclasses.Field[Any]) -> str:
    """A field's type, as text."""
    kind: Any = field.type
    return kind if isinstance(kind, str) else inspect.formatannotation(kind)


def _is_number(value: Any) -> bool:
    try:
        entry = np.asarray(value)
    except ValueError:  # a ragged list
        return False
    return entry.ndim == 0 and entry.dtype.kind in "iuf"


def _fits(value: Any) -> bool:
    """True if a number keeps its value in 32 bits, except for rounding; XLA reads subnormals as
    0."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = np.asarray(value).astype(np.float32)
    is_zero = np.abs(narrow) < np.finfo(np.float32).tiny
    return bool((np.isfinite(narrow) == np.isfinite(value)) & (is_zero == (value == 0)))


def _whole(value: Any) -> int | None:
    """A whole number as an integer; None for any other value."""
    if not _is_number(value) or not np.isfinite(value) or value != np.floor(value):
        return None
    return int(value)


def _said(value: Any) -> str:
    return shorten(repr(value.item() if isinstance(value, np.generic) else value))
