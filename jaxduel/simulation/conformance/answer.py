"""Checks of the answer of a policy that stops: a run in which the lower number always wins."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.policies.base import UNDECIDED

_PATIENCE = 100_000
_AFTER = 20
"""Most comparisons up to the answer, and those that follow it."""


def wrong_type(policy: Any) -> str | None:
    """A sentence on a wrong shape or dtype of a policy's answer; None if nothing is wrong."""
    shape = jax.eval_shape(lambda: policy.answer(policy.init(jax.random.key(0))))
    if shape.shape == () and shape.dtype == jnp.int32:
        return None
    return f"the answer must be () int32, not {shape.dtype}{list(shape.shape)}"


def wrong_course(policy: Any) -> str | None:
    """A sentence on an answer that does not come or changes, or is not what is compared from there
    on; None if nothing is wrong."""
    answer, (duels, later) = jax.tree.map(np.asarray, jax.jit(_run)(policy))
    if answer == UNDECIDED:
        always = f"{_PATIENCE:,} comparisons that the lower number always wins"
        return f"there is no answer after {always}"
    if not (later == answer).all():
        return f"the answer changes from {answer} to {later.tolist()}"
    alone = duels.left[:1] if answer < 0 else answer
    if not ((duels.left == alone) & (duels.right == alone)).all():
        return "after its answer the policy must compare one arm with itself, the one that it named"
    return None


def _run(policy: Any) -> Any:
    """The answer, and the duels and answers of the comparisons that follow."""

    def step(state: Any, t: jax.Array) -> tuple[Any, Any]:
        key = jax.random.key(t)
        duel = policy.act(state, key)
        wins = jnp.where(duel.left == duel.right, t % 2 == 0, duel.left < duel.right)
        state = policy.update(state, duel, jnp.where(wins, 1, -1).astype(jnp.int32), key)
        return state, (duel, policy.answer(state))

    def waits(carry: tuple[Any, jax.Array]) -> jax.Array:
        return (policy.answer(carry[0]) == UNDECIDED) & (carry[1] < _PATIENCE)

    begin = policy.init(jax.random.key(0)), jnp.int32(0)
    state, t = lax.while_loop(waits, lambda x: (step(x[0], x[1])[0], x[1] + 1), begin)
    later = t + jnp.arange(_AFTER, dtype=jnp.int32)
    return policy.answer(state), lax.scan(step, state, later)[1]
