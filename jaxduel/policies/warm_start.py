"""States from win counts: a policy that goes on from comparisons made elsewhere."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.errors import InputError
from jaxduel.policies import registry
from jaxduel.policies.base import SupportsWarmStart
from jaxduel.policies.checks import MAX_HORIZON, require_policy


def state_from_wins(policy: Any, wins: Any, key: jax.Array | None = None) -> Any:
    """The state of a policy that has made exactly the comparisons counted in `wins`.

    Checks the counts and calls `policy.from_wins` (`SupportsWarmStart`), a method of policies that
    depend on counts, not on their order and sides. What some remember beside counts begins anew:
    the pass over a list of CW-RMED, ECW-RMED, RMED1, RMED2 and RMED2FH (whose initial phase has all
    these comparisons), the hypotheses of RUCB and CCB, the champions of RCS.

    Args:
      policy: a policy with the method `from_wins`.
      wins: (K, K) whole numbers, at least 0: wins of i over j; 0 on the diagonal and for inactive
        arms. K is the policy's.
      key: for policies whose first state is random; that of seed 0 if None.

    Returns:
      The state, its clock at the sum of `wins`.

    Raises:
      InputError: if `policy` is no policy or cannot start from counts, or `wins` are not counts of
        its arms.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("rmed1", num_arms=3)
      >>> state = jd.policies.state_from_wins(policy, [[0, 9, 9], [0, 0, 5], [0, 4, 0]])
      >>> state.wins.tolist(), int(state.t)
      ([[0, 9, 9], [0, 0, 5], [0, 4, 0]], 27)
    """
    require_policy(policy, "state_from_wins")
    counts = checked_start(policy, wins)
    key = jax.random.key(0) if key is None else key
    return _started(policy, jnp.asarray(counts, jnp.int32), key, policy_class=type(policy))


def checked_start(policy: Any, wins: Any) -> np.ndarray:
    """The counts from which a policy is to start, as int32.

    Raises:
      InputError: if it cannot start from counts, or they are not counts of wins between its arms.
    """
    if not isinstance(policy, SupportsWarmStart):
        raise InputError(_refusal(type(policy)))
    return _checked(wins, np.asarray(policy.active_arms))  # type: ignore[attr-defined]


@partial(jax.jit, static_argnames="policy_class")
def _started(
    policy: SupportsWarmStart, wins: jax.Array, key: jax.Array, *, policy_class: type
) -> Any:
    """`from_wins`, compiled once per class, which JAX cannot tell by the policy alone, and size."""
    return policy.from_wins(wins, key)


def _refusal(policy_class: type) -> str:
    """The sentence for a policy that cannot start from counts."""
    name = registry.registered_name(policy_class) or policy_class.__name__
    known = ((name, registry.policy_class(name)) for name in registry.names())
    able = [name for name, each in known if issubclass(each, SupportsWarmStart)]
    return (
        f"{name} cannot start from win counts, as it has no method `from_wins`: its next "
        f"comparisons depend on more than counts; {', '.join(able[:-1])} and {able[-1]} can."
    )


def _checked(wins: Any, active: np.ndarray) -> np.ndarray:
    """The counts as int32.

    Raises:
      InputError: if they are not counts of wins between these arms.
    """
    size = len(active)
    try:
        counts = np.asarray(wins).astype(float, casting="same_kind")
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
    return counts.astype(np.int32)
