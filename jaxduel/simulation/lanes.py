"""Lanes: setups of the seeds of a block, whichever loop runs it; and the width of blocks."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxduel.errors import InputError
from jaxduel.simulation import keys
from jaxduel.simulation.devices import placed

ARRAY_BYTES = 256 * 2**10
"""On a CPU, blocks are fastest while each array of their state stays below this size."""
FEWEST_LANES, MOST_LANES = 64, 512
"""Bounds on a CPU: fewer lanes share the cost of dispatch among too few, more do not lower it."""
LARGE_ARRAY, FEWEST_LARGE = 16 * 2**10, 8
"""Bytes of a lane's largest array from which `FEWEST_LARGE` lanes are enough for that."""
NARROW_LANES, ACCELERATOR_LANES = 1_024, 65_536
"""Bounds on the number of lanes on accelerators."""
MEMORY_BYTES = 4 * 2**30
_LAST = np.uint32(2**23)
"""Sort key of inactive arms, behind those of active ones, which are random integers below 2^23."""


class Setup(NamedTuple):
    """The streams and the order of arms of a seed, which do not change while it runs."""

    environment: jax.Array  # () key: the stream of outcomes
    policy: jax.Array  # () key: the stream of the policy
    quiet: jax.Array  # () key: the stream of the lengths of quiet runs
    shares: jax.Array  # () key: the stream of arms in quiet runs that have several
    arms: jax.Array  # (K,) int32: the problem's arm behind each arm of the policy


def set_up(
    root: jax.Array, indices: np.ndarray, active_arms: np.ndarray, shuffle: bool
) -> tuple[Setup, jax.Array]:
    """The streams of seeds, and their orders of the arms (inactive ones stay at the end).

    Args:
      root: () typed key; it may be (C,) where there are several cells.
      indices: (L,) int32, of the seeds; (C, L) where there are several cells.
      active_arms: (K,) bool; (C, K).
      shuffle: whether each seed has an order of its own.

    Returns:
      The setups, and the key of each seed for `Policy.init`.
    """
    num = active_arms.shape[-1]
    with jax.ensure_compile_time_eval():  # also under a trace, for shapes
        streams, words = keys.streams(root, indices, num)
    if shuffle:
        places = np.where(active_arms[..., None, :], np.asarray(words) >> np.uint32(9), _LAST)
        arms = np.argsort(places, axis=-1, kind="stable").astype(np.int32)
    else:
        arms = np.broadcast_to(np.arange(num, dtype=np.int32), (*indices.shape, num))
    setup = Setup(
        environment=streams[keys.ENVIRONMENT],
        policy=streams[keys.POLICY],
        quiet=streams[keys.QUIET],
        shares=streams[keys.SHARES],
        arms=arms,  # type: ignore[arg-type]
    )
    return placed((setup, streams[keys.INIT]), root)


def default_lanes(
    lane: Any, platform: str, num_seeds: float = math.inf, memory_budget: int | None = None
) -> int:
    """Default number of lanes of a block: one of few, so that few programs are compiled.

    It is the narrowest that holds all seeds, or the one that is fastest with many of them.

    Args:
      lane: a lane, or its shapes.
      platform: "cpu", "gpu", ...
      num_seeds: number of seeds asked for; many, if left out.
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
        width, factor = FEWEST_LARGE if largest >= LARGE_ARRAY else FEWEST_LANES, 2
        most = min(max(fitting, FEWEST_LANES), MOST_LANES)
    else:
        width, factor, most = NARROW_LANES, 8, ACCELERATOR_LANES
    while width < min(num_seeds, most):
        width *= factor
    return min(width, most, budget // size)
