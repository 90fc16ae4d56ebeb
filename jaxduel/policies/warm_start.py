"""States from win counts: a policy that goes on from comparisons made elsewhere."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.errors import InputError
from jaxduel.policies.base import Feedback, LearnsLate
from jaxduel.policies.checks import MAX_HORIZON, require_policy


def state_from_wins(policy: Any, wins: Any, key: jax.Array | None = None) -> Any:
    """The state of a policy that has seen the comparisons counted in `wins`.

    It is the state before the first comparison, told of the outcomes at once (`LearnsLate.learn`),
    its clocks (fields named `t`) at their number. What depends on their order, such as a list that
    RMED is working through, is as at the start.

    Args:
      policy: a policy that can learn late.
      wins: (K, K) whole numbers, at least 0: how often i beat j; 0 on the diagonal and for inactive
        arms. K is the policy's.
      key: for policies whose first state is random; that of seed 0 if None.

    Raises:
      InputError: if the policy is none or cannot learn late, or the counts are none of its arms.
    """
    require_policy(policy, "state_from_wins")
    if not isinstance(policy, LearnsLate):
        raise InputError(
            f"{type(policy).__name__} cannot start from win counts: it has no method `learn`."
        )
    counts = _checked(wins, np.asarray(policy.active_arms))  # type: ignore[attr-defined]
    start = policy.init(jax.random.key(0) if key is None else key)  # type: ignore[attr-defined]
    total = jnp.int32(counts.sum())
    table = jnp.asarray(counts, jnp.int32)
    told = policy.learn(start, Feedback(table, jnp.zeros_like(table)))

    def set_clock(path: tuple[Any, ...], leaf: jax.Array) -> jax.Array:
        return total if getattr(path[-1], "name", None) == "t" else leaf

    return jax.tree_util.tree_map_with_path(set_clock, told)


def _checked(wins: Any, active: np.ndarray) -> np.ndarray:
    """The counts as int64.

    Raises:
      InputError: if they are not counts of wins between these arms.
    """
    size = len(active)
    try:
        counts = np.asarray(wins, float)
    except (TypeError, ValueError):
        raise InputError(f"wins must be a {size} x {size} table of whole numbers.") from None
    if counts.shape != (size, size):
        raise InputError(f"wins must have the shape ({size}, {size}), not {counts.shape}.")
    wrong = ~np.isfinite(counts) | (counts < 0) | (counts != np.floor(counts))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise InputError(
            f"wins[{i}, {j}] must be a whole number of at least 0, not {counts[i, j]:g}."
        )
    forbidden = (counts > 0) & (np.eye(size, dtype=bool) | ~(active[:, None] & active))
    if forbidden.any():
        i, j = np.argwhere(forbidden)[0]
        raise InputError(
            f"wins[{i}, {j}] must be 0, not {counts[i, j]:g}: an arm has no wins over itself, and "
            "an inactive arm none at all."
        )
    if counts.sum() >= MAX_HORIZON:
        raise InputError(f"wins must sum to less than 2^31 - 1, not to {counts.sum():g}.")
    return counts.astype(np.int64)
