"""Numbers of cells and seeds that run side by side in one program.

Results depend on these widths, since XLA may round differently for different shapes. The widths
therefore do not depend on the number of seeds asked for, on the number of devices, or on the
finished part.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.errors import InputError
from jaxduel.policies import registry
from jaxduel.policies.base import Policy, SupportsSkip
from jaxduel.problems import Problem
from jaxduel.simulation import rounds, steps
from jaxduel.simulation.cells import Cell, Poll, Program
from jaxduel.simulation.checkpoints import padded_size
from jaxduel.simulation.instances import instance_of
from jaxduel.simulation.lanes import NARROW_LANES, default_lanes

FEWEST_LANES = 64
BLOCK_BYTES = 2**30
"""Most bytes on a CPU for the lanes and the records of one block of all cells of a group."""
ARRAY_BYTES = 2**20
"""Most bytes for one array of the state of a batched policy on a CPU, over all cells and seeds side
by side: the size of a core's cache. (A policy that plays step by step is fastest with even less:
`simulation.lanes.ARRAY_BYTES`.)"""
BLOCK = (16, 512)
"""Cells and seeds of a block of a batched policy on a CPU, if fewer run side by side and their
records fit `BLOCK_BYTES`: a block then takes seconds to run, and a small part of that to store."""
SHARE = 4
"""A group of several parts has at most one in `SHARE` of the cells that share its program, so that
several devices have work."""
_MULTIPLE = 32


class Limits(NamedTuple):
    """Most cells and most seeds side by side."""

    cells: int
    lanes: int


STEP_LIMITS = Limits(8, 512)
ROUND_LIMITS = Limits(16, 256)
ACCELERATOR_CELLS = 64
"""Most cells side by side on an accelerator, unless one in `SHARE` of all are more."""
WIDE_LANES, WIDE_BYTES = 65_536, 2**28
"""Cells times seeds, and bytes of their state, at which a step on an accelerator takes about twice
as long as launching its kernels: up to here, surplus seeds cost little."""


class Width(NamedTuple):
    """Division of the cells that share a program into groups, and of their seeds into blocks."""

    size: int
    """Cells side by side in the program."""
    lanes: int
    """Seeds side by side in the program, of each cell."""
    cells: int
    """Cells in a group, a multiple of `size`."""
    block_seeds: int
    """Seeds in a block, a multiple of `lanes`."""


class Need(NamedTuple):
    """Memory needs of one seed of one cell.

    Attributes:
      total: bytes, with the records.
      state: bytes without the records.
      largest: bytes of the largest array of the policy's state.
      default: seeds in a block of `jaxduel.simulate`.
    """

    total: int
    state: int
    largest: int
    default: int


def need_of(
    policy: Policy,
    problem: Problem,
    num_checkpoints: int,
    *,
    batched: bool,
    pairs: bool,
    delayed: bool,
    poll: Poll | None,
    platform: str,
    memory: int,
) -> Need:
    """Memory needs of one seed, from shapes alone: nothing is compiled.

    Args:
      pairs: whether plays of pairs are recorded.
      poll: given if votes are the clock; its number of checkpoints is then used.
      memory: most bytes for a block.

    Raises:
      InputError: if one seed needs more than a block may take.
    """
    cell = Cell(
        policy,
        instance_of(problem, policy.num_arms),
        jax.ShapeDtypeStruct((num_checkpoints,), jnp.int32),
        jax.ShapeDtypeStruct((), jnp.int32),
        poll=poll,
    )
    skips = isinstance(policy, SupportsSkip)
    program = Program(type(policy), pairs=pairs, delayed=delayed, skips=skips)
    start: Any = rounds.start if batched else steps.start

    def lane(cell: Cell) -> Any:
        arms = jnp.arange(policy.num_arms, dtype=jnp.int32)
        return start(cell, arms, jax.random.key(0), program)

    shapes = jax.eval_shape(lane, cell)
    state = [leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes.state)]
    num = policy.num_arms
    recorded = 8 * num_checkpoints * num * (1 + (num if pairs or poll is not None else 0))
    total = sum(leaf.size * max(leaf.dtype.itemsize, 4) for leaf in jax.tree.leaves(shapes))
    total += recorded
    if total > memory:
        raise InputError(
            f"{registry.registered_name(type(policy))} with {num} arms needs {total:.2g} bytes for "
            f"one seed, and {memory:.2g} is the most that a block may take."
        )
    return Need(
        total=total,
        state=sum(state),
        largest=max(state),
        default=default_lanes(shapes, padded_size(num_checkpoints), platform, memory),
    )


def width_of(
    num_cells: int, need: Need, *, batched: bool, platform: str, lanes: int | None = None
) -> Width:
    """Numbers of cells and seeds that run side by side, and that are stored together.

    Limits on cells times seeds side by side: on a CPU, for policies that play step by step the
    seeds that `jaxduel.simulate` takes at once, for batched ones as many as fit `ARRAY_BYTES`, and
    for both as many as fit `BLOCK_BYTES`. On an accelerator the limit is the number that
    `jaxduel.simulate` takes at once for many seeds, which depends on its memory: 1,024 seeds of
    each cell, or more if few cells do not fill `WIDE_LANES`. At least 64 seeds run side by side, if
    they fit.

    Args:
      num_cells: cells that share the program.
      lanes: seeds side by side, if given; a block then has no more.

    Returns:
      The width; its size leaves few cells to fill up in the last group.
    """
    fitting = max(BLOCK_BYTES // need.total, 1)
    if platform != "cpu":
        limits = Limits(max(ACCELERATOR_CELLS, num_cells // SHARE), NARROW_LANES)
        total = fitting = need.default
    elif batched:
        limits, total = ROUND_LIMITS, ARRAY_BYTES // need.largest
    else:
        limits, total = STEP_LIMITS, need.default
    total = min(total, fitting)
    most_cells = max(min(limits.cells, total // (lanes or FEWEST_LANES)), 1)
    size = _even_size(num_cells, most_cells)
    cells, seeds = BLOCK if batched and platform == "cpu" else (1, 1)
    cells = size * max(min(cells, num_cells // SHARE) // size, 1)
    if lanes is not None:
        return Width(size, lanes, cells, lanes)
    whole = total // size // _MULTIPLE * _MULTIPLE
    most = limits.lanes
    if platform != "cpu":
        wide = min(WIDE_LANES, WIDE_BYTES // need.state)
        most = max(wide // size // _MULTIPLE * _MULTIPLE, most)
    lanes = min(max(whole, FEWEST_LANES), most, fitting)
    stored = BLOCK_BYTES // (cells * max(need.total - need.state, 1))
    return Width(size, lanes, cells, lanes * max(min(seeds, stored) // lanes, 1))


def _even_size(num_cells: int, most: int) -> int:
    """The largest size of equal parts, at most `most`, that needs at most a twentieth of all cells
    to fill up the last part; if there is none, the size that needs the fewest."""
    fewest = -(-num_cells // most)
    sizes = [-(-num_cells // parts) for parts in range(fewest, 2 * fewest + 1)]
    even = [size for size in sizes if 20 * (-num_cells % size) <= num_cells]
    return even[0] if even else min(sizes, key=lambda size: (-num_cells % size, -size))
