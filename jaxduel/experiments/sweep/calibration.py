"""How long a sweep will take, about: a short run of each policy, timed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import NamedTuple

import jax
from tqdm import tqdm

from jaxduel.experiments.sweep.planning import Group, Task
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
    """Runs one block of each policy twice, the first time to compile, and scales the second.

    A policy that makes one comparison or pull at a time is run to `TRIAL` of them, in the program
    with the fewest arms, and is taken to cost in proportion to comparisons, seeds and arms. One
    that commits to batches is run whole, and is taken to cost in proportion to rounds, seeds and
    arms squared.

    Args:
      groups: of the plan.
      num_seeds: of the grid.
      devices: where the sweep is to run; the trial takes the first.
      progress: whether to show a bar on standard error.
    """
    seconds = compilation = 0.0
    policies = list(dict.fromkeys(group.policy for group in groups))
    for policy in tqdm(policies, unit=" policies", disable=not progress):
        own = [group for group in groups if group.policy == policy]
        trial = _short(min(own, key=lambda group: group.num_arms))
        first, second = _timed(trial, devices[0]), _timed(trial, devices[0])
        least = trial.num_arms
        rate = second / _work(trial, trial.block_seeds, least)
        seconds += rate * sum(_work(group, num_seeds, least) for group in own)
        compilation += (first - second) * len({group.program for group in own})
    most = sorted((group.bytes for group in groups), reverse=True)[: len(devices)]
    return Estimate((seconds + compilation) / len(devices), compilation / len(devices), sum(most))


def _timed(group: Group, device: Device) -> float:
    """Seconds of a block."""
    begun = time.perf_counter()
    with jax.default_device(device):
        carry_out(Task(group, 0), group.block_seeds, (), device)
    return time.perf_counter() - begun


def _short(group: Group) -> Group:
    """The group, of a policy that makes one comparison at a time up to `TRIAL` at most."""
    if group.batched or group.cells[0].horizon <= TRIAL:
        return group
    cells = tuple(
        dataclasses.replace(cell, horizon=TRIAL, checkpoints=(TRIAL,)) for cell in group.cells
    )
    return dataclasses.replace(group, cells=cells)


def _work(group: Group, num_seeds: int, least: int) -> float:
    """What a group costs, in units of its policy."""
    seeds = -(-num_seeds // group.lanes) * group.lanes
    arms = group.num_arms / least
    if group.batched:
        return len(group.stacked) * seeds * arms**2
    return len(group.stacked) * seeds * arms * group.cells[0].horizon
