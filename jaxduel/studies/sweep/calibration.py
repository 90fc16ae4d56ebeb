"""Estimated duration of a sweep, from a short timed run of each policy."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxduel.policies import registry
from jaxduel.policies.base import SupportsSkip
from jaxduel.progress import Progress
from jaxduel.simulation.devices import Device
from jaxduel.studies.engine.groups import Group, Task, rounds_of
from jaxduel.studies.engine.work import Stopped, carry_out, lanes_of

SHORT, LONG = 2_000, 8_000
"""Comparisons or pulls in the two trial runs of policies that make one at a time: early ones cost
more than later ones."""


class Estimate(NamedTuple):
    """Estimated duration of a sweep."""

    seconds: float
    """Seconds on all devices together, if no policy falls quiet."""
    least: float
    """The same if policies that can fall quiet begin to after `LONG` comparisons."""
    compilation: float
    """The part of either estimate for compilation, each program once."""


class _Work(NamedTuple):
    """Work of all seeds and cells: rounds, or comparisons up to `SHORT` and later ones."""

    early: int
    late: int
    busy: float
    """Expected number of later comparisons with a cost if the policy falls quiet after `LONG`: the
    t-th has one with probability `LONG` / t."""


class _Costs(NamedTuple):
    """Costs of a policy with some number of arms, in seconds."""

    early: float
    """Cost of a round, or of one of the first comparisons."""
    late: float
    """Cost of a later comparison."""
    compilation: float


def calibrate(
    groups: Sequence[Group],
    devices: Sequence[Device],
    progress: bool | None = None,
) -> Estimate:
    """Estimates the duration of a sweep: for each policy, with the fewest arms and with the most,
    part of a block is run once to compile, then timed and scaled.

    A policy that makes one comparison or pull at a time is run to `SHORT` and to `LONG` steps.
    Later steps are assumed to cost as much as the steps between, or fewer and fewer of them to cost
    anything. A policy that commits to batches is run to the end, in its group with the most rounds,
    and assumed to cost in proportion to rounds, which is too much if T ends it earlier. Between the
    two numbers of arms the cost is a power of the number.

    Args:
      devices: devices of the sweep; the trial runs on the first.
      progress: as in `jaxduel.simulate`; it counts trials.
    """
    trials: dict[tuple[str, int], Group] = {}
    for policy in dict.fromkeys(group.policy for group in groups):
        own = [group for group in groups if group.policy == policy]
        sizes = [group.num_arms for group in own]
        for num_arms in sorted({min(sizes), max(sizes)}):
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
        cost, work = costs[group.policy, group.num_arms], _work(group, devices[0])
        most += cost.early * work.early + cost.late * work.late
        least += cost.early * work.early + cost.late * work.busy
    number = len(devices)
    return Estimate(most / number, least / number, compilation / number)


def _measured(group: Group, device: Device) -> _Costs:
    """The costs of a policy, always positive, since `_at` takes logarithms."""
    group = dataclasses.replace(group, num_seeds=group.lanes, keep=())
    longest = _up_to(group, LONG)
    first, whole = _timed(longest, device), _timed(longest, device)
    begun, work = whole, _work(longest, device)
    if work.late:
        begun = _timed(_up_to(group, SHORT), device)
    early = begun / work.early
    late = max(whole - begun, 0.0) / work.late if work.late else early
    return _Costs(early, max(late, early / 100), max(first - whole, 1e-3))


def _at(known: dict[int, _Costs], num_arms: int) -> _Costs:
    """Costs at a number of arms, interpolated as a power between one or two known numbers."""
    arms = sorted(known)
    logs = np.log([known[num] for num in arms])
    return _Costs(*(np.exp(np.interp(np.log(num_arms), np.log(arms), x)) for x in logs.T))


def _timed(group: Group, device: Device) -> float:
    """Seconds for one run of the group."""
    begun = time.perf_counter()
    try:
        with jax.default_device(device):
            carry_out(Task(group, 0), device)
    except Stopped:
        raise KeyboardInterrupt from None
    return time.perf_counter() - begun


def _up_to(group: Group, horizon: int) -> Group:
    """The group up to that horizon at most; unchanged if its policy commits to batches."""
    if group.batched or group.cells[0].horizon <= horizon:
        return group
    cells = tuple(
        dataclasses.replace(
            cell,
            horizon=horizon,
            checkpoints=(*(t for t in cell.checkpoints if t < horizon), horizon),
        )
        for cell in group.cells
    )
    return dataclasses.replace(group, cells=cells)


def _work(group: Group, device: Device) -> _Work:
    """The amount of work of a group."""
    lanes = lanes_of(group, device)
    seeds = -(-group.num_seeds // lanes) * lanes
    rounds = np.array([rounds_of(cell, batched=group.batched) for cell in group.stacked])
    early = rounds if group.batched else np.minimum(rounds, SHORT)
    late = busy = rounds - early
    if issubclass(registry.policy_class(group.policy), SupportsSkip):
        settled = np.minimum(rounds, LONG) - early
        busy = settled + LONG * np.log(np.maximum(rounds / LONG, 1.0))
    return _Work(*(seeds * x.sum().item() for x in (early, late, busy)))
