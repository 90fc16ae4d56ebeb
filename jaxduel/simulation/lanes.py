"""Lanes: setups of the seeds of a block, whichever loop runs it; and the width of blocks."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxduel.errors import InputError
from jaxduel.simulation import keys
from jaxduel.simulation.devices import placed

ARRAY_BYTES, ROUND_BYTES = 256 * 2**10, 2**20
"""On a CPU, blocks are fastest while each array of their state stays below this size; the second of
policies that play in rounds, of which there are few, so that the start of a block counts."""
FEWEST_LANES, MOST_LANES = 64, 512
"""Bounds on a CPU, where there are as many seeds: fewer lanes share the cost of dispatch among too
few, more do not lower it."""
MULTIPLE = 4
"""Lanes of a block on a CPU are a multiple of this: numbers of seeds that hardly differ share
programs, and few lanes have no seed."""
SHARING = 4, 8
"""Fewest and most seeds of a block by its lanes, where seeds of policies that play in rounds share
these: with fewer it is not worth compiling, with more hardly fewer lanes wait at its end."""
REMAINDER = 0.25
"""Seeds left over, up to this part of a block, make no block of their own but widen the others."""
NARROW_LANES, WIDEST_LANES = 1_024, 2**20
"""Bounds on accelerators. More lanes than the widest cannot be asked for anywhere."""
MOST_ENTRIES = 2**31 - 1
"""Most entries of an array, all lanes together: places in it are int32."""
_WORK, _FEWEST_ARMS = 7, 16
"""Most entries of an array that a step computes and does not keep, for each pair of so many arms at
least. (4 were found, compiling 15 policies for a GPU at K = 16, D-TS also at 64.)"""
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


def apart(setups: Setup, number: int) -> Setup:
    """The setups with streams of their own, that nothing else uses: with a number folded in, one
    that is no time of a comparison."""
    fold = partial(keys.folded, number=number)
    return Setup(*map(fold, setups[:-1]), arms=setups.arms)


def default_lanes(
    lane: Any,
    points: int,
    platform: str,
    memory: int,
    num_seeds: float = math.inf,
    array_bytes: int = ARRAY_BYTES,
) -> int:
    """Default number of lanes of a block.

    On a CPU the seeds are divided evenly among blocks of about the width that is fastest with many
    of them. On an accelerator it is the narrowest of few that holds all seeds, or the widest that
    fits.

    Args:
      lane: a lane, or its shapes; of all cells if they are stacked.
      points: number of checkpoints.
      platform: "cpu", "gpu", ...
      memory: most bytes for the state and the record of a block.
      num_seeds: number of seeds asked for; many, if left out.
      array_bytes: most bytes of an array of the state of a block on a CPU, about.

    Raises:
      InputError: if one lane does not fit.
    """
    size = sum(leaf.size * max(leaf.dtype.itemsize, 4) for leaf in jax.tree.leaves(lane))
    size += 4 * points * sum(leaf.size for leaf in jax.tree.leaves(lane.tallies))
    if size > memory:
        raise InputError(
            f"memory_budget of {memory} bytes is too small: one seed of this policy needs {size}."
        )
    fitting = memory // size
    if platform == "cpu":
        largest = max([1, *(x.size * x.dtype.itemsize for x in jax.tree.leaves(lane.state))])
        fast = (array_bytes - 1) // largest // 32 * 32
        width = min(max(fast, FEWEST_LANES), MOST_LANES)
        if num_seeds < math.inf:
            width = math.ceil(num_seeds / max(math.ceil(num_seeds / width - REMAINDER), 1))
            width = -(-width // MULTIPLE) * MULTIPLE
        return min(width, fitting)
    fitting = min(fitting, most_lanes(lane, points), WIDEST_LANES)
    fitting = 1 << fitting.bit_length() - 1  # the same on devices of about the same memory
    width = NARROW_LANES
    while width < min(num_seeds, fitting):
        width *= 2
    return min(width, fitting)


def block_seeds(lanes: int, num_seeds: int, devices: int = 1) -> int:
    """Seeds of a block of rounds on a CPU, which take the lanes one after another, if that pays.

    A power of two times the lanes, so that numbers of seeds share programs; so few that each device
    has a block.
    """
    fewest, most = SHARING
    times = num_seeds // (lanes * devices)
    return lanes * (min(1 << times.bit_length() - 1, most) if times >= fewest else 1)


def most_lanes(lane: Any, points: int) -> int:
    """The most lanes of a block whose arrays int32 can index; arguments as in `default_lanes`.

    Raises:
      InputError: if one lane is too many.
    """
    plays = lane.tallies.plays
    cells, num = plays.size // plays.shape[-1], max(plays.shape[-1], _FEWEST_ARMS)
    kept = max([0, *(leaf.size for leaf in jax.tree.leaves(lane.state))])
    recorded = points * max(leaf.size for leaf in jax.tree.leaves(lane.tallies))
    largest = max(_WORK * cells * num**2, kept, recorded)
    if largest > MOST_ENTRIES:
        raise InputError(
            f"one seed needs arrays of {largest:,} entries, all cells together, and "
            f"{MOST_ENTRIES:,} is the most: give fewer cells, arms or checkpoints."
        )
    return MOST_ENTRIES // largest
