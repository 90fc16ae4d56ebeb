"""Checks of `learn`, by which outcomes that were withheld are told later."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.base import WITHHELD, Feedback
from jaxduel.simulation.conformance.shapes import change_of

_PATIENCE = 200
"""Comparisons by which one should teach, as few do of a policy that seldom explores."""


def wrong_type(policy: Any) -> str | None:
    """A sentence on a state that `learn` returns in another form; None if nothing is wrong."""
    told = jax.ShapeDtypeStruct((2, policy.num_arms, policy.num_arms), jnp.int32)
    before = jax.eval_shape(policy.init, jax.random.key(0))
    after = jax.eval_shape(lambda state, won: policy.learn(state, Feedback(*won)), before, told)
    change = change_of(before, after)
    return None if change is None else f"learn {change}"


def wrong_lesson(policy: Any) -> str | None:
    """A sentence on the first comparison whose outcome changes the policy's state if it is told at
    once, if it does not where it is told later; None if nothing is wrong."""
    act, update, learn = jax.jit(policy.act), jax.jit(policy.update), jax.jit(policy.learn)
    state = jax.jit(policy.init)(jax.random.key(0))
    none = jnp.zeros((policy.num_arms, policy.num_arms), jnp.int32)
    for t in range(_PATIENCE):
        key = jax.random.key(t)
        duel = act(state, key)
        withheld, *at_once = (update(state, duel, jnp.int32(x), key) for x in (WITHHELD, 1, -1))
        if not _are_equal(*at_once):
            one = none.at[duel.left, duel.right].set(1)
            later = [learn(withheld, Feedback(*told)) for told in ((one, none), (none, one))]
            wrong = "update learns from the outcome of a comparison, but learn, told it later, does"
            return f"{wrong} not" if _are_equal(*later) else None
        state = withheld
    return None


def _are_equal(one: Any, other: Any) -> bool:
    return all(map(np.array_equal, jax.tree.leaves(one), jax.tree.leaves(other)))
