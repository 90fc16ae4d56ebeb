"""Dataclasses as pytrees whose structure names their class."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from jax.tree_util import GetAttrKey, register_pytree_with_keys

_Class = TypeVar("_Class", bound=type)


def register_dataclass(cls: _Class) -> _Class:
    """Registers a dataclass as a pytree; fields with metadata `{"static": True}` are static.

    As `jax.tree_util.register_dataclass`, but the structures of two classes with fields alike
    differ. In JAX 0.10 those of that function compare equal (their hashes differ), so that about
    one time in a hundred `jax.jit` takes a program that was compiled for one class for another.

    Args:
      cls: a dataclass all of whose fields are arguments of its constructor.

    Returns:
      `cls`.
    """
    fields = dataclasses.fields(cls)
    static = tuple(field.name for field in fields if field.metadata.get("static"))
    names = tuple(field.name for field in fields if field.name not in static)
    keys = tuple(map(GetAttrKey, names))

    def settings(node: Any) -> tuple[Any, ...]:
        return cls, *(getattr(node, name) for name in static)

    def flatten(node: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return tuple(getattr(node, name) for name in names), settings(node)

    def flatten_with_keys(node: Any) -> tuple[tuple[tuple[Any, Any], ...], tuple[Any, ...]]:
        leaves = (getattr(node, name) for name in names)
        return tuple(zip(keys, leaves, strict=True)), settings(node)

    def unflatten(settings: tuple[Any, ...], leaves: Any) -> Any:
        values = zip(static, settings[1:], strict=True)
        return cls(**dict(zip(names, leaves, strict=True)), **dict(values))

    register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    return cls
