"""Grouping of cells that run together as one program, and their division into blocks of seeds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np

from jaxduel.experiments.sweep.cells import (
    SweepCell,
    digest_of_json,
    plan_kind_of,
    policy_of,
    problem_of,
)
from jaxduel.experiments.sweep.describing.entries import BATCHES
from jaxduel.experiments.sweep.describing.grid import Grid
from jaxduel.experiments.sweep.padding import padded_arms
from jaxduel.experiments.sweep.widths import need_of, width_of
from jaxduel.policies import registry
from jaxduel.policies.base import Batch, Policy, PullBatch, SupportsSkip
from jaxduel.problems import ArmsProblem, Problem

_ROUNDS = 16
"""Assumed number of batches of a policy that has no parameter for it."""


@dataclass(frozen=True)
class Group:
    """Cells that are simulated and stored together, by one program.

    Attributes:
      policy: the registered name.
      num_arms: arms of the policy, padding included; problems may have fewer.
      cells: in order, planned.
      size: number of cells that the program runs side by side; beyond `cells` the last one is
        repeated, so that there are always so many.
      lanes: seeds that the program runs side by side, of each cell.
      block_seeds: seeds in a block, a multiple of `lanes`.
      num_checkpoints: number of checkpoints that the program records: the most of all its cells; a
        cell that has fewer repeats its last one.
      batched: whether the policy commits to batches; if not, the cells share the checkpoints.
      pairs: whether comparisons of pairs are recorded.
      program: everything that the compiled program depends on: groups of equal programs compile
        once.
      bytes: approximate memory of the program.
    """

    policy: str
    num_arms: int
    cells: tuple[SweepCell, ...]
    size: int
    lanes: int
    block_seeds: int
    num_checkpoints: int
    batched: bool
    pairs: bool
    program: tuple[Any, ...]
    bytes: int

    @property
    def stacked(self) -> tuple[SweepCell, ...]:
        """The cells that the program runs, `size` at a time, with those that fill up the last."""
        return (*self.cells, *(-len(self.cells) % self.size) * self.cells[-1:])

    @property
    def delay(self) -> int:
        """The delay of all cells."""
        return self.cells[0].delay

    @property
    def definitions(self) -> tuple[str, ...]:
        """The regrets that any of the cells measures."""
        return tuple(dict.fromkeys(name for cell in self.cells for name in cell.definitions))

    @cached_property
    def key(self) -> str:
        """A hash of all that determines the group's results: 16 hexadecimal digits."""
        cells = [cell.key for cell in self.stacked]
        return digest_of_json([self.program, self.block_seeds, cells])

    @property
    def rounds(self) -> int:
        """Number of plans that the policies of all its cells make, as in `rounds_of`."""
        return sum(rounds_of(cell, batched=self.batched) for cell in self.cells)

    def policies(self) -> list[Policy]:
        """The policies of `stacked`."""
        made = [policy_of(cell) for cell in self.cells]
        return [*made, *(-len(made) % self.size) * made[-1:]]

    def problems(self) -> list[Problem]:
        """The problems of `stacked`."""
        return [problem_of(cell) for cell in self.stacked]


@dataclass(frozen=True)
class Task:
    """A group for one block of seeds: the unit that is simulated, stored and resumed.

    Attributes:
      group: the group.
      number: number of the block, from 0.
    """

    group: Group
    number: int

    @property
    def first_seed(self) -> int:
        """The index of the block's first seed."""
        return self.number * self.group.block_seeds

    @cached_property
    def key(self) -> str:
        """A hash of all that determines the block's results: 16 hexadecimal digits."""
        return digest_of_json([self.group.key, self.number])


def plan(cells: Sequence[SweepCell], grid: Grid, platform: str = "cpu") -> tuple[Group, ...]:
    """The groups of a grid's cells.

    Cells share a program if their policies are of one class with the same switches and the same
    parameters left at None, if their problems are of one kind, and their delays equal or both
    above 1; numbers of arms are padded where that pays (`padding`). They share a group if besides
    they have one delay and, for policies that make one comparison at a time, one horizon. Batched
    policies are sorted by their number of batches and horizon, others by their problem, so that a
    group holds cells that take about as long. Groups of a program are of one size (`widths`) and
    stand together.

    The plan depends on the grid and the platform alone, not on the number of seeds.

    Args:
      cells: cells from `expand`.
      grid: their grid.
      platform: platform of the devices: "cpu", "gpu", ...

    Raises:
      InputError: what building a policy or problem raises.
    """
    families: dict[tuple[Any, ...], list[SweepCell]] = {}
    kinds: dict[str, bool] = {}
    for cell in cells:
        if cell.policy not in kinds:
            kind = plan_kind_of(cell.policy, cell.parameters, cell.horizon)
            kinds[cell.policy] = kind in (Batch, PullBatch)
        families.setdefault(_family(cell), []).append(cell)
    groups: list[Group] = []
    for family, members in families.items():
        batched = kinds[members[0].policy]
        arms = padded_arms(_loads(members, batched), batched=batched)
        for num_arms in dict.fromkeys(arms.values()):
            sharing = [
                dataclasses.replace(cell, padded_arms=num_arms)
                for cell in members
                if arms[cell.num_arms] == num_arms
            ]
            groups += _groups(family, sharing, grid, batched, platform)
    return tuple(groups)


def tasks(groups: Iterable[Group], num_seeds: int) -> tuple[Task, ...]:
    """The tasks of all groups for so many seeds, those of a group one after the other."""
    return tuple(
        Task(group, number)
        for group in groups
        for number in range(-(-num_seeds // group.block_seeds))
    )


def rounds_of(cell: SweepCell, *, batched: bool) -> int:
    """Number of plans that a cell's policy makes: its batches, about, or its comparisons."""
    return (cell.all_parameters.get(BATCHES) or _ROUNDS) if batched else cell.horizon


def _family(cell: SweepCell) -> tuple[Any, ...]:
    """Everything that a program depends on besides widths and the number of arms: plain values."""
    made = registry.policy_class(cell.policy)(
        num_arms=cell.num_arms, active_arms=np.ones(cell.num_arms, bool), **cell.all_parameters
    )
    policy = registry.to_32_bits(made)
    structure = []
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        if field.name in ("num_arms", "active_arms"):
            continue
        if field.metadata.get("static"):
            structure.append((field.name, repr(value)))
        else:
            leaves = tuple((leaf.shape, str(leaf.dtype)) for leaf in jax.tree.leaves(value))
            structure.append((field.name, str(jax.tree.structure(value)), leaves))
    problem = problem_of(cell)
    kind = problem.rewards if isinstance(problem, ArmsProblem) else "preferences"
    return cell.policy, tuple(structure), kind, cell.delay > 1


def _loads(cells: Iterable[SweepCell], batched: bool) -> dict[int, float]:
    """For each number of arms, the comparisons (or rounds) of one seed of all its cells."""
    loads: dict[int, float] = {}
    for cell in cells:
        load = rounds_of(cell, batched=batched)
        loads[cell.num_arms] = loads.get(cell.num_arms, 0.0) + load
    return loads


def _groups(
    family: tuple[Any, ...],
    cells: Sequence[SweepCell],
    grid: Grid,
    batched: bool,
    platform: str,
) -> list[Group]:
    """The groups of cells that share all that `_family` returns, and the padded number of arms."""
    together: dict[Any, list[SweepCell]] = {}
    for cell in cells:
        clock = () if batched else (cell.horizon, cell.checkpoints)
        together.setdefault((cell.delay, *clock), []).append(cell)
    num_checkpoints = max(len(cell.checkpoints) for cell in cells)
    policy, problem = policy_of(cells[0]), problem_of(cells[0])
    definitions = {name for cell in cells for name in cell.definitions}
    pairs = not isinstance(problem, ArmsProblem) and ("wins" in grid.keep or "weak" in definitions)
    delayed = cells[0].delay > 1
    need = need_of(
        policy,
        problem,
        num_checkpoints,
        batched=batched,
        pairs=pairs,
        delayed=delayed,
        platform=platform,
    )
    records = num_checkpoints if batched or isinstance(policy, SupportsSkip) else 0
    groups = []
    for members in together.values():
        if batched:
            members = sorted(
                members, key=lambda cell: (rounds_of(cell, batched=True), cell.horizon)
            )
        else:
            members = sorted(members, key=lambda cell: cell.problem)
        width = width_of(len(members), need, batched=batched, platform=platform, lanes=grid.lanes)
        size, lanes = width.size, width.lanes
        num_arms = cells[0].padded_arms
        for start in range(0, len(members), width.cells):
            part = members[start : start + width.cells]
            groups.append(
                Group(
                    policy=part[0].policy,
                    num_arms=num_arms,
                    cells=tuple(dataclasses.replace(cell, lanes=lanes) for cell in part),
                    size=size,
                    lanes=lanes,
                    block_seeds=width.block_seeds,
                    num_checkpoints=num_checkpoints,
                    batched=batched,
                    pairs=pairs,
                    program=(*family, num_arms, size, lanes, records, pairs),
                    bytes=need.total * size * lanes,
                )
            )
    return groups
