"""Checks of `learn`, by which outcomes that were withheld are told later."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.base import WITHHELD, Feedback
from jaxduel.simulation.conformance_shapes import change_of


def wrong_type(policy: Any) -> str | None:
    """A sentence on a state that `learn` returns in another form; None if nothing is wrong."""
    told = jax.ShapeDtypeStruct((2, policy.num_arms, policy.num_arms), jnp.int32)
    before = jax.eval_shape(policy.init, jax.random.key(0))
    after = jax.eval_shape(lambda state, won: policy.learn(state, Feedback(*won)), before, told)
    change = change_of(before, after)
    return None if change is None else f"learn {change}"


def wrong_lesson(policy: Any) -> str | None:
    """A sentence on a first comparison whose outcome changes the policy's state if it is told at
    once, and does not if it is told later; None if nothing is wrong."""
    key = jax.random.key(0)
    update, learn = jax.jit(policy.update), jax.jit(policy.learn)
    state = jax.jit(policy.init)(key)
    duel = jax.jit(policy.act)(state, key)
    withheld = update(state, duel, jnp.int32(WITHHELD), key)
    none = jnp.zeros((policy.num_arms, policy.num_arms), jnp.int32)
    one = none.at[duel.left, duel.right].set(1)
    at_once = [update(state, duel, jnp.int32(outcome), key) for outcome in (1, -1)]
    later = [learn(withheld, Feedback(*told)) for told in ((one, none), (none, one))]
    if _are_equal(*at_once) or not _are_equal(*later):
        return None
    return "update learns from the outcome of a comparison, but learn, told it later, does not"


def _are_equal(one: Any, other: Any) -> bool:
    return all(map(np.array_equal, jax.tree.leaves(one), jax.tree.leaves(other)))
