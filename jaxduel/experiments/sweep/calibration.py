"""How long a sweep will take, about: a short run of each policy, timed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxduel.experiments.sweep.planning import Group, Task, rounds_of
from jaxduel.experiments.sweep.work import carry_out
from jaxduel.policies import registry
from jaxduel.policies.base import SupportsSkip
from jaxduel.progress import Progress
from jaxduel.simulation.devices import Device

SHORT, LONG = 2_000, 8_000
"""Comparisons or pulls of the two trial runs of policies that make one at a time: the first ones
cost more than the others."""


class Estimate(NamedTuple):
    """What a sweep will take."""

    seconds: float
    """On all devices together, if no policy falls quiet."""
    least: float
    """The same if those that can fall quiet have begun to."""
    compilation: float
    """Seconds of either for compilation, each program once."""


class _Work(NamedTuple):
    """Rounds, or comparisons up to the first `SHORT` and later ones, of all seeds and cells."""

    early: int
    late: int
    busy: float
    """Of the later ones, those that cost something if the policy falls quiet after `LONG`: the t-th
    of them with a probability of `LONG` / t."""


class _Costs(NamedTuple):
    """Of a policy with some number of arms, in seconds."""

    early: float
    """Of a round, or of one of the first comparisons."""
    late: float
    """Of a later comparison."""
    compilation: float


def calibrate(
    groups: Sequence[Group],
    num_seeds: int,
    devices: Sequence[Device],
    progress: bool | None = None,
) -> Estimate:
    """Runs a part of a block of each policy, with the fewest arms and with the most: once to
    compile, then timed. What it takes is scaled.

    A policy that makes one comparison or pull at a time is run to `SHORT` and to `LONG` of them;
    later ones are taken to cost as much as those between, or fewer and fewer of them. One that
    commits to batches is run whole, where it has most rounds, and is taken to cost in proportion to
    rounds: more than it takes where T leaves it fewer. Between the two numbers of arms the cost is
    a power of the number.

    Args:
      groups: of the plan.
      num_seeds: of the grid.
      devices: where the sweep is to run; the trial takes the first.
      progress: as in `jaxduel.simulate`; it counts trials.
    """
    trials: dict[tuple[str, int], Group] = {}
    for policy in dict.fromkeys(group.policy for group in groups):
        own = [group for group in groups if group.policy == policy]
        for num_arms in _ends([group.num_arms for group in own]):
            there = [group for group in own if group.num_arms == num_arms]
            trials[policy, num_arms] = max(there, key=lambda group: group.rounds)
    known: dict[str, dict[int, _Costs]] = {}
    with Progress("estimate", len(trials), "trials", progress) as shown:
        for (policy, num_arms), trial in trials.items():
            known.setdefault(policy, {})[num_arms] = _measured(trial, devices[0])
            shown.tick()
    costs = {(g.policy, g.num_arms): _at(known[g.policy], g.num_arms) for g in groups}
    programs = {group.program: group for group in groups}.values()
    compilation = sum(costs[g.policy, g.num_arms].compilation for g in programs)
    most = least = compilation
    for group in groups:
        cost, work = costs[group.policy, group.num_arms], _work(group, num_seeds)
        most += cost.early * work.early + cost.late * work.late
        least += cost.early * work.early + cost.late * work.busy
    number = len(devices)
    return Estimate(most / number, least / number, compilation / number)


def _ends(numbers: Sequence[int]) -> list[int]:
    """The smallest and the largest, if they differ."""
    return sorted({min(numbers), max(numbers)})


def _measured(group: Group, device: Device) -> _Costs:
    """The costs of a policy, positive whatever the clock says: `_at` takes logarithms."""
    longest = _up_to(group, LONG)
    first, whole = _timed(longest, device), _timed(longest, device)
    begun, work = whole, _work(longest, group.lanes)
    if work.late:
        begun = _timed(_up_to(group, SHORT), device)
    early = begun / work.early
    late = max(whole - begun, 0.0) / work.late if work.late else early
    return _Costs(early, max(late, early / 100), max(first - whole, 1e-3))


def _at(known: dict[int, _Costs], num_arms: int) -> _Costs:
    """What is known for one or two numbers of arms, for another: a power of it between them."""
    arms = sorted(known)
    logs = np.log([known[num] for num in arms])
    return _Costs(*(np.exp(np.interp(np.log(num_arms), np.log(arms), x)) for x in logs.T))


def _timed(group: Group, device: Device) -> float:
    """Seconds of the seeds that run side by side."""
    begun = time.perf_counter()
    with jax.default_device(device):
        carry_out(Task(group, 0), group.lanes, (), device)
    return time.perf_counter() - begun


def _up_to(group: Group, horizon: int) -> Group:
    """The group, of a policy that makes one comparison at a time up to that horizon at most."""
    if group.batched or group.cells[0].horizon <= horizon:
        return group
    cells = tuple(
        dataclasses.replace(cell, horizon=horizon, checkpoints=(horizon,)) for cell in group.cells
    )
    return dataclasses.replace(group, cells=cells)


def _work(group: Group, num_seeds: int) -> _Work:
    """What a group does."""
    seeds = -(-num_seeds // group.lanes) * group.lanes
    rounds = np.array([rounds_of(cell, batched=group.batched) for cell in group.stacked])
    early = rounds if group.batched else np.minimum(rounds, SHORT)
    late = busy = rounds - early
    if issubclass(registry.policy_class(group.policy), SupportsSkip):
        settled = np.minimum(rounds, LONG) - early
        busy = settled + LONG * np.log(np.maximum(rounds / LONG, 1.0))
    return _Work(*(seeds * x.sum().item() for x in (early, late, busy)))
