"""Checks of states, plans and counts, and of what JAX traces of a policy."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.base import Batch, Duel, Pull, PullBatch
from jaxduel.simulation.traces import ASKS_FOR_VALUES, outcome_of, program_of

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


def wrong_counts(policy: Any, horizon: int) -> str | None:
    """A sentence on the first round that cannot be carried out as planned; None if all can.

    Args:
      policy: commits to counts, of pairs or arms.
      horizon: T, all of which is played, unless a round is empty.
    """
    key = jax.random.key(0)
    state, left, number = jax.jit(policy.init)(key), horizon, 0
    act, update = jax.jit(policy.act), jax.jit(policy.update)
    while left > 0:
        key, number = jax.random.fold_in(key, number), number + 1
        plan = act(state, key)
        counts = np.asarray(plan.counts, np.int64)
        if counts.ndim == 2 and np.tril(counts, -1).any():
            return f"counts must be an upper triangle, and those of round {number} are not"
        if (counts < 0).any():
            return f"counts must not be negative, and {counts.min()} is in round {number}"
        if counts.sum() > left:
            return (
                f"a batch must not exceed what is left of the horizon, and round {number} has "
                f"{counts.sum()} where {left} are left"
            )
        if counts.sum() == 0:
            break
        left -= counts.sum()
        state = update(state, plan, outcome_of(plan), key)
    return None


def failure_of(policy: Any, method: str, error: Exception) -> str:
    """The sentence on a method that ended in an error: its line in the policy's file, the error,
    and what to use in place of Python's `if` and NumPy."""
    code = getattr(inspect.unwrap(getattr(type(policy), method)), "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if code is not None and f.filename == code.co_filename]
    place = f" at {code.co_filename}:{lines[-1]}" if code is not None and lines else ""
    said = str(error).strip().partition("\n")[0].rstrip(".")
    hint = "; of traced values use jnp.where or lax.cond, not `if`, and jnp, not NumPy"
    return (
        f"{method} ends in {type(error).__name__}{place}: {said}"
        f"{hint if isinstance(error, ASKS_FOR_VALUES) else ''}"
    )


def is_same_each_time(step: Callable[..., Any], *arguments: Any) -> bool:
    """True if tracing a function twice gives the same program, constants included."""
    return program_of(step, *arguments) == program_of(step, *arguments)
