"""Simulation of a task: a group of cells for a block of seeds, as a block to be stored."""

from __future__ import annotations

import dataclasses
import gc
import threading
import warnings
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

import jax
import numpy as np

from jaxduel.errors import AssumptionWarning
from jaxduel.policies.registry import policy_class, pulls_arms
from jaxduel.simulation.checking import Settings
from jaxduel.simulation.devices import Device, is_out_of_memory, memory_text
from jaxduel.simulation.jobs import Recorded
from jaxduel.simulation.keys import root_key
from jaxduel.simulation.lanes import MULTIPLE, block_seeds
from jaxduel.simulation.regret import require_all_played
from jaxduel.simulation.run import (
    Prepared,
    compile_ahead,
    prepare,
    run_prepared,
    with_seeds,
)
from jaxduel.simulation.turn_costs import is_drawn
from jaxduel.studies.engine.blocks import Block
from jaxduel.studies.engine.cells import policy_of, problem_of
from jaxduel.studies.engine.groups import Group, Task
from jaxduel.studies.engine.profile import Seconds
from jaxduel.studies.engine.reducing import Seeds, arrays_of, named_arrays_of, reduced
from jaxduel.votes.identifying import most_comparisons

_PREPARED = 32
"""Most groups that are kept prepared: a few for each device, of megabytes each."""
_fewer_lanes: dict[tuple[Hashable, Device], int] = {}
"""Lanes with which blocks of a program begin on a device that had too little memory for more."""


class Stopped(Exception):
    """Raised by a task that ends because `stop` was set."""


def carry_out(task: Task, device: Device, stop: threading.Event | None = None) -> Block:
    """The block of a task; arguments and errors are as in `simulated`."""
    return simulated(task, device, stop)()


def simulated(
    task: Task,
    device: Device,
    stop: threading.Event | None = None,
    seconds: Seconds | None = None,
) -> Callable[[], Block]:
    """Simulates a task.

    If the device has too little memory, the block is simulated again in parts of half the lanes,
    repeatedly. It holds the same seeds, with the numbers of a plan for fewer lanes: they may round
    differently, and the block's attribute `lanes` records the number of lanes.

    Args:
      task: the task.
      device: device to simulate on.
      stop: once it is set, the task ends with its next chunk.
      seconds: records the time of the parts of the work.

    Returns:
      A function, for any thread, that makes the block from the records.

    Raises:
      MemoryError: if one seed of a group does not fit.
      PlaysError: from the function that is returned, if the plays do not add up.
      Stopped: soon after `stop` is set.
    """
    group, seconds = task.group, seconds or Seconds()
    this = group.program, device
    while True:
        lanes, slices = lanes_of(group, device), []
        try:
            for start in range(0, len(group.stacked), group.size):
                parts = _simulate(task, start, lanes, device, stop, seconds)
                slices.append((_prepared(group, start, lanes).checked, parts))
            break
        except jax.errors.JaxRuntimeError as error:
            if not is_out_of_memory(error):
                raise
        if lanes == 1:
            raise MemoryError(
                f"one seed of {group.size} cells such as {group.cells[0]} is more than the memory "
                f"of {memory_text(device)} can hold."
            )
        _fewer_lanes[this] = -(-lanes // 2)
        slices.clear()
        gc.collect()  # the error's traceback and its frames, which hold arrays, refer to each other

    def arrays() -> dict[str, Any]:
        if not group.identifies:
            made = arrays_of(group, slices)
            _require_all_played(task, made["plays_mean"])
            return made
        settings = _prepared(group, 0, lanes).settings
        settings = dataclasses.replace(settings, first_seed=task.first_seed)
        return named_arrays_of(group, slices, settings)

    def block() -> Block:
        with seconds.of("reduce"):
            return Block(
                key=task.key,
                group=group.key,
                number=task.number,
                first_seed=task.first_seed,
                arrays=arrays(),
                attributes={"lanes": lanes},
            )

    return block


def _require_all_played(task: Task, plays_mean: np.ndarray) -> None:
    """Raises PlaysError unless the mean plays, (C, M, K), of the task's cells add up."""
    each = 1 if pulls_arms(policy_class(task.group.policy)) else 2
    for cell, mean in zip(task.group.cells, plays_mean, strict=True):
        made = each * task.seeds * np.array(cell.checkpoints)
        plays = np.rint(task.seeds * mean[: len(made), : cell.num_arms])
        require_all_played(cell.policy, made, plays)


def compile_task(task: Task, device: Device) -> None:
    """Compiles the program of a task, on the device, ahead of its first run."""
    lanes = lanes_of(task.group, device)
    compile_ahead(_sharing(_prepared(task.group, 0, lanes), task.group), device)


def lanes_of(group: Group, device: Device) -> int:
    """Seeds of a task side by side: no more than the group has, if the width changes no run."""
    lanes = _fewer_lanes.get((group.program, device), group.lanes)
    if device.platform != "cpu" or is_drawn(policy_class(group.policy)):
        return lanes
    return min(lanes, -(-group.num_seeds // MULTIPLE) * MULTIPLE)


def _sharing(prepared: Prepared, group: Group) -> Prepared:
    """Prepared cells whose seeds share lanes, if that is possible and pays."""
    job, kind = prepared.job, prepared.checked[0].kind
    seeds = block_seeds(job.lanes, min(group.block_seeds, group.num_seeds))
    return prepared._replace(job=with_seeds(job, kind, seeds))


@lru_cache(maxsize=_PREPARED)
def _prepared(group: Group, start: int, lanes: int) -> Prepared:
    """`size` cells of a group, from number `start` on, checked and stacked for all blocks."""
    first, cells = group.cells[0], group.stacked[start : start + group.size]
    policies = [policy_of(cell) for cell in cells]
    horizons, times, poll = [cell.horizon for cell in cells], [c.checkpoints for c in cells], None
    if first.question is not None:
        if group.unit == "votes":
            horizons = [most_comparisons(policy, None, first.horizon, None) for policy in policies]
        times = [(horizon,) for horizon in horizons]
        poll = first.question.poll(problem_of(first), first.checkpoints)
    settings = Settings(
        seed=first.root,
        shuffle_arms=first.shuffle_arms,
        ties=first.ties,
        record_pairs=group.pairs,
        skip_quiet=True if group.pairs else first.skip_quiet,
        lanes=lanes,
        prng=first.prng,
        poll=poll,
    )
    differ = len({cell.seed for cell in cells}) > 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # said before the sweep begins
        return prepare(
            policies,
            [problem_of(cell) for cell in cells],
            horizons,
            settings,
            stacked=len(cells) > 1,
            times=[np.array(some) for some in times],
            delays=[cell.delay for cell in cells],
            roots=[root_key(cell.root, cell.prng) for cell in cells] if differ else None,
            points=group.num_checkpoints,
        )


def _simulate(
    task: Task,
    start: int,
    lanes: int,
    device: Device,
    stop: threading.Event | None,
    seconds: Seconds,
) -> list[Seeds]:
    """The records of `size` cells from number `start` on, in consecutive parts of its seeds."""
    group = task.group
    with seconds.of("check and stack"):
        prepared = _sharing(_prepared(group, start, lanes), group)
    settings = dataclasses.replace(
        prepared.settings,
        num_seeds=task.seeds,
        first_seed=task.first_seed,
        devices=[device],
        part=task.seeds * sum(cell.horizon for cell in group.cells[start : start + group.size]),
        stop=stop,
    )
    parts: list[Seeds] = []

    def keep(begin: int, record: Recorded) -> None:
        if not prepared.job.program.stacked:
            record = jax.tree.map(lambda x: x[None], record)
        seeds = Seeds(min(prepared.job.seeds, task.seeds - begin), record)
        if device.platform != "cpu" and not group.identifies:
            cells = group.stacked[start : start + group.size]
            seeds = reduced(seeds, group, cells, prepared.checked)
        parts.append(seeds)

    try:
        with seconds.of("device loops"):
            run_prepared(prepared, settings, keep)
    except KeyboardInterrupt:
        raise Stopped from None
    return parts
