"""How long a sweep will take, about: a short run of each policy, timed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
from tqdm import tqdm

from jaxduel.experiments.sweep.planning import Group, Task, rounds_of
from jaxduel.experiments.sweep.work import carry_out
from jaxduel.simulation.devices import Device

TRIAL = 2_000
"""Comparisons or pulls of a trial run, of policies that make one at a time."""


class Estimate(NamedTuple):
    """What a sweep will take."""

    seconds: float
    """On all devices together; less where quiet runs are skipped."""
    compilation: float
    """Seconds of it for compilation, each program once."""
    bytes: int
    """Memory of the blocks that run at once."""


def calibrate(
    groups: Sequence[Group], num_seeds: int, devices: Sequence[Device], progress: bool = False
) -> Estimate:
    """Runs a part of a block of each policy, with the fewest arms and with the most: twice, the
    first time to compile. The second is scaled.

    A policy that makes one comparison or pull at a time is run to `TRIAL` of them, and is taken to
    cost in proportion to comparisons and seeds. One that commits to batches is run whole, where it
    has most rounds, and is taken to cost in proportion to rounds and seeds: more than it takes
    where T leaves it fewer. Between the two numbers of arms the cost is a power of the number.

    Args:
      groups: of the plan.
      num_seeds: of the grid.
      devices: where the sweep is to run; the trial takes the first.
      progress: whether to show a bar on standard error.
    """
    trials: dict[tuple[str, int], Group] = {}
    for policy in dict.fromkeys(group.policy for group in groups):
        own = [group for group in groups if group.policy == policy]
        for num_arms in _ends([group.num_arms for group in own]):
            there = [group for group in own if group.num_arms == num_arms]
            trials[policy, num_arms] = _short(max(there, key=lambda group: group.rounds))
    rates: dict[str, dict[int, float]] = {}
    compilations: dict[str, dict[int, float]] = {}
    for (policy, num_arms), trial in tqdm(trials.items(), unit=" trials", disable=not progress):
        first, second = _timed(trial, devices[0]), _timed(trial, devices[0])
        rates.setdefault(policy, {})[num_arms] = second / _work(trial, trial.lanes)
        compilations.setdefault(policy, {})[num_arms] = max(first - second, 1e-3)
    seconds = sum(_at(rates[g.policy], g.num_arms) * _work(g, num_seeds) for g in groups)
    programs = {group.program: group for group in groups}.values()
    compilation = sum(_at(compilations[g.policy], g.num_arms) for g in programs)
    most = sorted((group.bytes for group in groups), reverse=True)[: len(devices)]
    return Estimate((seconds + compilation) / len(devices), compilation / len(devices), sum(most))


def _ends(numbers: Sequence[int]) -> list[int]:
    """The smallest and the largest, if they differ."""
    return sorted({min(numbers), max(numbers)})


def _at(known: dict[int, float], num_arms: int) -> float:
    """What is known for one or two numbers of arms, for another: a power of it between them."""
    arms = sorted(known)
    logs = np.log([known[num] for num in arms])
    return float(np.exp(np.interp(np.log(num_arms), np.log(arms), logs)))


def _timed(group: Group, device: Device) -> float:
    """Seconds of the seeds that run side by side."""
    begun = time.perf_counter()
    with jax.default_device(device):
        carry_out(Task(group, 0), group.lanes, (), device)
    return time.perf_counter() - begun


def _short(group: Group) -> Group:
    """The group, of a policy that makes one comparison at a time up to `TRIAL` at most."""
    if group.batched or group.cells[0].horizon <= TRIAL:
        return group
    cells = tuple(
        dataclasses.replace(cell, horizon=TRIAL, checkpoints=(TRIAL,)) for cell in group.cells
    )
    return dataclasses.replace(group, cells=cells)


def _work(group: Group, num_seeds: int) -> float:
    """What a group costs, in units of its policy and number of arms."""
    seeds = -(-num_seeds // group.lanes) * group.lanes
    return seeds * sum(rounds_of(cell, batched=group.batched) for cell in group.stacked)
