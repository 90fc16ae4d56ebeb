"""Formulas in 64-bit floats, for numbers that 32 bits round to a wrong integer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

_MOST = 2**31 - 1


def in_float64(formula: Callable[..., Any], *numbers: Any) -> Any:
    """Evaluates a formula in 64-bit floats, whatever the global setting is, for 32-bit results: the
    integer part of a 32-bit float can be off by one.

    Example:
      >>> import jax.numpy as jnp
      >>> from jaxduel.numerics.float64 import in_float64, to_int32
      >>> int(in_float64(lambda x: to_int32(x * 100), jnp.float32(2**20)))
      104857600
    """
    with jax.enable_x64(True):
        return formula(*(jnp.asarray(x).astype(jnp.float64) for x in numbers))


def to_int32(number: jax.Array) -> jax.Array:
    """A non-negative number rounded down, as int32; at most 2^31 - 1."""
    return jnp.clip(number, 0, _MOST).astype(jnp.int32)
