"""Digests of the programs that JAX traces of functions, and of policies of a user's own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.base import Batch, Duel, Feedback, Plan, Pull, RewardFeedback

ASKS_FOR_VALUES = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
"""Errors of JAX for code that asks for the values of traced arrays, as NumPy and `if` do."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def outcome_of(plan: Plan) -> jax.Array:
    """An outcome of a plan: the left arm, or the lower-numbered of each pair, wins; every pull has
    reward 1."""
    if isinstance(plan, Duel):
        return jnp.int32(1)
    if isinstance(plan, Batch):
        return jnp.triu(plan.counts, 1)
    return jnp.float32(1) if isinstance(plan, Pull) else plan.counts.astype(jnp.float32)


def program_of(function: Callable[..., Any], *arguments: Any) -> str:
    """Digest of what a function computes of arguments of these shapes, constants included: 16
    hexadecimal digits, the same in every process."""
    closed = jax.make_jaxpr(lambda *given: function(*given))(*arguments)  # JAX keeps traces
    content = hashlib.sha256(_ADDRESS.sub("", str(closed)).encode())
    for constant in closed.consts:
        content.update(np.asarray(constant).tobytes())
    return content.hexdigest()[:16]


def program_of_policy(policy: Any) -> str:
    """Digest of what all methods of a policy compute, whatever its numbers."""
    leaves, structure = jax.tree.flatten(policy)
    shapes = tuple((np.shape(leaf), jax.dtypes.result_type(leaf)) for leaf in leaves)
    return _program(type(policy), structure, shapes)


@cache
def _program(policy_class: type, structure: Any, shapes: tuple[tuple[Any, Any], ...]) -> str:
    """`program_of_policy`, cached; a class that is defined anew is another one."""
    policy = jax.tree.unflatten(structure, [jax.ShapeDtypeStruct(*shape) for shape in shapes])
    number = jax.ShapeDtypeStruct((), jnp.int32)
    table = jax.ShapeDtypeStruct((policy.num_arms, policy.num_arms), jnp.int32)
    arms = jax.ShapeDtypeStruct((policy.num_arms,), bool)
    return program_of(_all_methods, policy, jax.random.key(0), number, table, arms)


def _all_methods(
    policy: Any, key: jax.Array, number: jax.Array, table: jax.Array, arms: jax.Array
) -> Any:
    state = policy.init(key)
    plan = policy.act(state, key)
    found = [plan, policy.update(state, plan, outcome_of(plan), key)]
    told: Any = Feedback(table, table)
    if isinstance(plan, Pull):
        told = RewardFeedback(arms.astype(jnp.int32), arms.astype(jnp.float32))
    optional = {
        "learn": (state, told),
        "quiet": (state, number, key),
        "quiet_among": (state, number, key, arms),
        "from_wins": (table, key),
        "answer": (state,),
    }
    return found + [
        getattr(policy, m)(*given) for m, given in optional.items() if hasattr(policy, m)
    ]
