"""Checks of the answer of a policy that stops: a run in which the lower number always wins, or has
the larger reward."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.policies.base import UNDECIDED, Duel, Pull, PullBatch
from jaxduel.simulation.blocks import plan_kind

_PATIENCE = 100_000
_AFTER = 20
"""Most comparisons, pulls or rounds up to the answer, and the number that follows the answer."""
_ENDLESS = {
    Duel: "comparisons that the lower number always wins",
    Pull: "pulls whose reward is the larger the lower the number",
    PullBatch: "rounds whose rewards are the larger the lower the number",
}
"""Words for the plays of such a run, by the kind of plans."""


def wrong_type(policy: Any) -> str | None:
    """A sentence on a wrong shape or dtype of a policy's answer; None if nothing is wrong."""
    shape = jax.eval_shape(lambda: policy.answer(policy.init(jax.random.key(0))))
    if shape.shape == () and shape.dtype == jnp.int32:
        return None
    return f"the answer must be () int32, not {shape.dtype}{list(shape.shape)}"


def wrong_course(policy: Any) -> str | None:
    """A sentence on an answer that does not come or changes, or is not what is played from there
    on; None if nothing is wrong. Pairs must not be compared in batches."""
    kind = plan_kind(policy)
    answer, (played, later) = jax.tree.map(np.asarray, jax.jit(_run)(policy))
    if answer == UNDECIDED:
        return f"there is no answer after {_PATIENCE:,} {_ENDLESS[kind]}"
    if not (later == answer).all():
        return f"the answer changes from {answer} to {later.tolist()}"
    alone = played[0] if answer < 0 else np.arange(policy.num_arms) == answer
    if alone.sum() != 1 or (played & ~alone).any():
        does = "compare one arm with itself" if kind is Duel else "pull one arm"
        return f"after its answer the policy must {does}, the one that it named"
    return None


def _run(policy: Any) -> Any:
    """The answer, and what follows it: which arms are played, (T, K) bool, and answers, (T,)."""
    arms = jnp.arange(policy.num_arms, dtype=jnp.int32)

    def step(state: Any, t: jax.Array) -> tuple[Any, Any]:
        key = jax.random.key(t)
        plan = policy.act(state, key)
        if isinstance(plan, Duel):
            played = (arms == plan.left) | (arms == plan.right)
            wins = jnp.where(plan.left == plan.right, t % 2 == 0, plan.left < plan.right)
            outcome = jnp.where(wins, 1, -1).astype(jnp.int32)
        elif isinstance(plan, Pull):
            played, outcome = arms == plan.arm, -plan.arm.astype(jnp.float32)
        else:
            played, outcome = plan.counts > 0, -(arms * plan.counts).astype(jnp.float32)
        state = policy.update(state, plan, outcome, key)
        return state, (played, policy.answer(state))

    def waits(carry: tuple[Any, jax.Array]) -> jax.Array:
        return (policy.answer(carry[0]) == UNDECIDED) & (carry[1] < _PATIENCE)

    begin = policy.init(jax.random.key(0)), jnp.int32(0)
    state, t = lax.while_loop(waits, lambda x: (step(x[0], x[1])[0], x[1] + 1), begin)
    later = t + jnp.arange(_AFTER, dtype=jnp.int32)
    return policy.answer(state), lax.scan(step, state, later)[1]
