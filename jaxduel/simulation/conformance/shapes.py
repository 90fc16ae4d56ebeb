"""Shapes, dtypes and values of states and plans."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.base import Batch, Duel, Pull, PullBatch

_AXES = {Duel: 0, Pull: 0, PullBatch: 1, Batch: 2}
"""Number of axes, each of K entries, of a plan's arrays."""


def change_of(before: Any, after: Any) -> str | None:
    """The difference in structure, shapes or dtypes of two states, as the end of a sentence; None
    if there is none."""
    if jax.tree.structure(before) != jax.tree.structure(after):
        return "changes the structure of the state"
    paths = jax.tree_util.tree_leaves_with_path(before)
    for (path, old), new in zip(paths, jax.tree.leaves(after), strict=True):
        if old.shape != new.shape or old.dtype != new.dtype:
            return f"changes state{jax.tree_util.keystr(path)} from {_said(old)} to {_said(new)}"
    return None


def difference(expected: Any, found: Any, what: str) -> str | None:
    """A sentence on the first number of a state that is not as expected, but for rounding; None if
    there is none."""
    paths = jax.tree_util.tree_leaves_with_path(expected)
    for (path, leaf), also in zip(paths, jax.tree.leaves(found), strict=True):
        a, b = np.asarray(leaf), np.asarray(also)
        for at in np.argwhere(~np.isclose(b, a, rtol=1e-5, atol=1e-5)).tolist():
            place = f"state{jax.tree_util.keystr(path)}{at or ''}"
            return f"{what} gives {place} = {b[tuple(at)]}, not {a[tuple(at)]}"
    return None


def wide_state(state: Any) -> str | None:
    """A sentence on a number of more than 32 bits in a state; None if there is none."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(state):
        if not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) and leaf.dtype.itemsize > 4:
            return (
                f"the state must hold at most 32 bits a number, and state"
                f"{jax.tree_util.keystr(path)} is {_said(leaf)}: give its dtype, int32 or float32"
            )
    return None


def wrong_plan(plan: Any, num_arms: int) -> str | None:
    """A sentence on a plan of another type, shape or dtype; None if nothing is wrong."""
    if type(plan) not in _AXES:
        found = _said(plan) if isinstance(plan, jax.ShapeDtypeStruct) else type(plan).__name__
        return f"act must return a Duel, Pull, Batch or PullBatch, not {found}"
    shape = (num_arms,) * _AXES[type(plan)]
    for name, leaf in plan._asdict().items():
        if leaf.shape != shape or leaf.dtype != jnp.int32:
            return (
                f"plans must be int32{list(shape)}, and `{name}` of the {type(plan).__name__} that "
                f"act returns is {_said(leaf)}"
            )
    return None


def _said(leaf: Any) -> str:
    return f"{leaf.dtype}{list(leaf.shape)}"
