"""Equality of records that hold arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np


def same(one: Any, other: Any) -> bool:
    """True if two values are equal, part by part: arrays by shape and entries, NaN like NaN."""
    if hasattr(one, "shape") and hasattr(other, "shape"):
        return np.array_equal(one, other, equal_nan=True)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if type(one) is not type(other):
        return False
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other
