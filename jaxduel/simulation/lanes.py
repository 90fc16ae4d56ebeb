"""Lanes: what every seed of a block has, whatever loop runs it; and how many there are in a
block."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.errors import InputError
from jaxduel.simulation import keys

ARRAY_BYTES = 256 * 2**10
"""On a CPU, blocks are fastest while each array of their state stays below this size."""
FEWEST_LANES, MOST_LANES = 64, 512
"""On a CPU: fewer lanes leave the cost of dispatch to too few, more do not lower it any further."""
NARROW_LANES, ACCELERATOR_LANES = 1_024, 65_536
"""The same on accelerators."""
MEMORY_BYTES = 4 * 2**30


class Setup(NamedTuple):
    """What does not change while a seed runs."""

    environment: jax.Array  # () key: the stream of outcomes
    policy: jax.Array  # () key: the stream of the policy
    quiet: jax.Array  # () key: the stream of the lengths of quiet runs
    shares: jax.Array  # () key: the stream of arms in quiet runs that have several
    arms: jax.Array  # (K,) int32: the problem's arm behind each arm of the policy


def set_up(root: jax.Array, index: jax.Array, active_arms: jax.Array, shuffle: bool) -> Setup:
    """The streams of a seed, and its order of the arms (inactive ones stay at the end)."""
    num = active_arms.shape[0]
    if shuffle:
        u = jax.random.uniform(keys.stream(root, index, keys.SHUFFLE), (num,), jnp.float32)
        arms = jnp.argsort(jnp.where(active_arms, u, 2.0)).astype(jnp.int32)
    else:
        arms = jnp.arange(num, dtype=jnp.int32)
    return Setup(
        environment=keys.stream(root, index, keys.ENVIRONMENT),
        policy=keys.stream(root, index, keys.POLICY),
        quiet=keys.stream(root, index, keys.QUIET),
        shares=keys.stream(root, index, keys.SHARES),
        arms=arms,
    )


def default_lanes(
    lane: Any, platform: str, num_seeds: float = math.inf, memory_budget: int | None = None
) -> int:
    """The width of a block: one of few, so that few programs are compiled.

    It is the narrowest that holds all seeds, or the one that is fastest with many of them.

    Args:
      lane: a lane, or its shapes.
      platform: "cpu", "gpu", ...
      num_seeds: how many seeds are asked for; many, if left out.
      memory_budget: most bytes for the state of a block; 4 GiB by default.

    Raises:
      InputError: if one lane does not fit the budget.
    """
    size = sum(leaf.size * max(leaf.dtype.itemsize, 4) for leaf in jax.tree.leaves(lane))
    budget = MEMORY_BYTES if memory_budget is None else memory_budget
    if size > budget:
        raise InputError(
            f"memory_budget of {budget} bytes is too small: one seed of this policy needs {size}."
        )
    if platform == "cpu":
        largest = max(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(lane.state))
        fitting = (ARRAY_BYTES - 1) // largest // 32 * 32
        width, factor, most = FEWEST_LANES, 2, min(max(fitting, FEWEST_LANES), MOST_LANES)
    else:
        width, factor, most = NARROW_LANES, 8, ACCELERATOR_LANES
    while width < min(num_seeds, most):
        width *= factor
    return min(width, most, budget // size)
