"""Checks of the counts that a batched policy commits to, round by round."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxduel.simulation.traces import outcome_of


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
