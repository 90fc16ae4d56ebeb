"""Simulation of a task: a group of cells for a block of seeds, as a block to be stored."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jax
import numpy as np

from jaxduel.errors import AssumptionWarning
from jaxduel.experiments.engine.blocks import Block
from jaxduel.experiments.engine.groups import Group, Task
from jaxduel.policies.base import Policy
from jaxduel.problems import Problem
from jaxduel.simulation import Result, regret
from jaxduel.simulation.devices import Device
from jaxduel.simulation.keys import root_key
from jaxduel.simulation.run import Settings, run_cells

_MEMORY = "RESOURCE_EXHAUSTED"


class Stopped(Exception):
    """Raised by a task that ends because it was told to stop."""


def carry_out(task: Task, device: Device, stop: threading.Event | None = None) -> Block:
    """Simulates a task.

    If the device has too little memory the lanes are halved, repeatedly if needed; then results may
    round differently, and the block's attribute `lanes` records it.

    Args:
      task: the task.
      device: device to simulate on.
      stop: once it is set, the task ends with its next chunk.

    Returns:
      The block.

    Raises:
      MemoryError: if one seed of one group is too much.
      Stopped: soon after `stop` is set.
    """
    group = task.group
    results: list[list[Result]] = []
    lanes = group.lanes
    for start in range(0, len(group.stacked), group.size):
        which = slice(start, start + group.size)
        seeds = task.first_seed, task.seeds
        parts, used = _simulate(group, which, *seeds, group.lanes, device, stop)
        results, lanes = results + parts, min(lanes, used)
    return Block(
        key=task.key,
        group=group.key,
        number=task.number,
        first_seed=task.first_seed,
        arrays=_arrays(group, results),
        attributes={"lanes": lanes},
    )


@lru_cache(maxsize=64)
def _players(group: Group) -> tuple[list[Policy], list[Problem]]:
    return group.policies(), group.problems()


def _simulate(
    group: Group,
    which: slice,
    first_seed: int,
    seeds: int,
    lanes: int,
    device: Device,
    stop: threading.Event | None,
) -> tuple[list[list[Result]], int]:
    """The results of each of some cells, in consecutive parts; and the fewest lanes of a part."""
    policies, problems = _players(group)
    first, cells = group.cells[0], group.stacked[which]
    settings = Settings(
        num_seeds=seeds,
        seed=first.root,
        shuffle_arms=first.shuffle_arms,
        delay=first.delay,
        first_seed=first_seed,
        record_pairs=group.pairs,
        skip_quiet=True if group.pairs else first.skip_quiet,
        lanes=lanes,
        devices=[device],
        prng=first.prng,
        part=seeds * sum(cell.horizon for cell in group.cells[which]),
        stop=stop,
    )
    differ = len({cell.seed for cell in cells}) > 1
    roots = [root_key(cell.root, cell.prng) for cell in cells] if differ else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)  # said before the sweep begins
            results = run_cells(
                policies[which],
                problems[which],
                [cell.horizon for cell in cells],
                settings,
                stacked=len(cells) > 1,
                times=[np.array(cell.checkpoints) for cell in cells],
                roots=roots,
                points=group.num_checkpoints,
            )
        return [[result] for result in results], lanes
    except KeyboardInterrupt:
        raise Stopped from None
    except jax.errors.JaxRuntimeError as error:
        if _MEMORY not in str(error):
            raise
    if lanes == 1:
        raise MemoryError(
            f"one seed of {len(cells)} cells such as {first} is more than the device can hold."
        )
    lanes = -(-lanes // 2)
    parts: list[list[Result]] = [[] for _ in cells]
    used = lanes
    for start in range(0, seeds, lanes):
        own = min(lanes, seeds - start)
        part, fewest = _simulate(group, which, first_seed + start, own, lanes, device, stop)
        used = min(used, fewest)
        for cell, more in zip(parts, part, strict=True):
            cell += more
    return parts, used


def _arrays(group: Group, results: Sequence[Sequence[Result]]) -> dict[str, np.ndarray]:
    """The arrays of a block (`jaxduel.experiments.engine.blocks.LAYOUT`)."""
    points, num, definitions = group.num_checkpoints, group.num_arms, group.definitions
    regrets, plays, pairs, selves, batches = [], [], [], [], []
    for cell, problem, parts in zip(group.cells, _players(group)[1], results, strict=False):
        counts = np.concatenate([part.plays for part in parts])
        of_pairs = _joined([part.pairs for part in parts])
        after = [(0, points - counts.shape[1])]
        more = [(0, num - counts.shape[2])]
        values = [
            _regret(name, problem, counts, of_pairs)
            if name in cell.definitions
            else np.full(counts.shape[:2], np.nan)
            for name in definitions
        ]
        regrets.append(np.pad(np.stack(values), [(0, 0), (0, 0), *after], mode="edge"))
        plays.append(np.pad(counts.mean(axis=0), [*after, *more]))
        if of_pairs is not None and "wins" in group.keep:
            pairs.append(np.pad(of_pairs.mean(axis=0), [*after, *more, *more]))
        if of_pairs is not None and "selves" in group.keep:
            own = np.diagonal(of_pairs[:, -1], axis1=1, axis2=2)
            selves.append(np.pad(own, [(0, 0), *more]))
        of_batches = _joined([part.batches for part in parts])
        if of_batches is not None:
            batches.append(of_batches)
    regret_values = np.stack(regrets)  # (C, D, S, M)
    mean = regret_values.mean(axis=2)
    arrays: dict[str, Any] = {
        "regret_count": np.int64(regret_values.shape[2]),
        "regret_mean": mean,
        "regret_m2": ((regret_values - mean[:, :, None]) ** 2).sum(axis=2),
        "final_regret": regret_values[..., -1],
        "plays_mean": np.stack(plays),
    }
    if "seeds" in group.keep:
        arrays["regret"] = regret_values
    if pairs:
        arrays["pairs_mean"] = np.stack(pairs)
    if selves:
        arrays["selves"] = np.stack(selves)
    if batches:
        arrays["batches"] = np.stack(batches)
    return arrays


def _joined(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Parts of an array that is in all results or in none."""
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if there else None


def _regret(
    definition: str, problem: Problem, plays: np.ndarray, pairs: np.ndarray | None
) -> np.ndarray:
    """Regret of each seed at each checkpoint, (S, M) float64."""
    if not regret.needs_pairs(definition):
        return regret.regret_from_plays(problem, definition, plays)
    assert pairs is not None
    return regret.regret_from_pairs(problem, pairs)
