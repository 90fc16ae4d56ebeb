"""Groups of cells that run together as one program, and their division into blocks of seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from jaxduel.policies.base import SupportsSkip
from jaxduel.policies.registry import policy_class
from jaxduel.simulation.regret import OF_PAIRS
from jaxduel.studies.engine.cells import StudyCell
from jaxduel.studies.engine.manifest import (
    BOUND,
    CellRecord,
    GroupRecord,
    digest_of_json,
    plain,
    task_key,
)
from jaxduel.votes.rewards import unit_of

BATCHES = "num_batches"
"""The parameter of policies for their number of batches."""
_ROUNDS = 16
"""Assumed number of batches of a policy without such a parameter."""
_SKIPPED = 100_000
"""Number of comparisons from which on runs with skipping are taken to be quiet, mostly."""


@dataclass(frozen=True)
class Group:
    """Cells that are simulated and stored together, by one program.

    Attributes:
      cells: of one policy, in order, planned.
      size: number of cells that the program runs side by side; copies of the last cell fill up.
      lanes: seeds that the program runs side by side, of each cell.
      block_seeds: seeds in a block, a multiple of `lanes`.
      num_seeds: seeds of each cell; only the size of the last block depends on it.
      batched: whether the policy commits to batches; if not, the cells share the checkpoints.
      keep: optional records: "seeds", the regret of every seed at all checkpoints; "wins", means of
        comparisons of every pair; "selves", comparisons of each arm with itself, of every seed.
      program: everything that the compiled program depends on: groups with equal values compile
        once.
      num_checkpoints: number of checkpoints that the program records: the most of any cell; a cell
        with fewer repeats its last one.
      bytes: approximate memory of the program.
    """

    cells: tuple[StudyCell, ...]
    size: int
    lanes: int
    block_seeds: int
    num_seeds: int
    batched: bool
    keep: tuple[str, ...]
    program: tuple[Any, ...]
    num_checkpoints: int
    bytes: int = 0

    @property
    def policy(self) -> str:
        """The registered name of the policy."""
        return self.cells[0].policy

    @property
    def num_arms(self) -> int:
        """Arms of the policy, padding included; problems may have fewer."""
        return self.cells[0].padded_arms

    @property
    def pairs(self) -> bool:
        """True if comparisons of pairs are recorded."""
        return needs_pairs(self.cells, self.keep)

    @property
    def identifies(self) -> bool:
        """True if arms are identified, and no regret is measured."""
        return self.cells[0].question is not None

    @property
    def unit(self) -> str:
        """The unit of runs that identify arms, "votes" or "pulls"; "" if regret is measured."""
        return unit_of(self.definitions) if self.identifies else ""

    @property
    def stacked(self) -> tuple[StudyCell, ...]:
        """The cells that the program runs, `size` at a time, with copies that fill up the last
        run."""
        return (*self.cells, *(-len(self.cells) % self.size) * self.cells[-1:])

    @property
    def definitions(self) -> tuple[str, ...]:
        """The regrets that any of the cells measures, or the rules that name arms."""
        return tuple(dict.fromkeys(name for cell in self.cells for name in cell.definitions))

    @cached_property
    def key(self) -> str:
        """A hash of everything that determines the group's results: 16 hexadecimal digits."""
        cells = [cell.key for cell in self.stacked]
        return digest_of_json([self.program, self.block_seeds, self.keep, cells])

    @property
    def rounds(self) -> int:
        """Total number of plans that the cells' policies make, as in `rounds_of`."""
        return sum(rounds_of(cell, batched=self.batched) for cell in self.cells)

    @cached_property
    def cost(self) -> float:
        """Approximate cost of a block: comparisons times arms, or rounds times pairs.

        If the policy skips quiet runs, every tenfold of T beyond 100,000 counts as another 100,000
        comparisons.
        """
        seeds = min(self.block_seeds, self.num_seeds)
        turns = sum(_turns(cell, self.batched) for cell in self.cells)
        return seeds * turns * self.num_arms ** (2 if self.batched else 1)

    def record(self) -> GroupRecord:
        """The group's entry in a manifest."""
        return GroupRecord(
            policy=self.policy,
            cells=tuple(map(_record, self.cells)),
            definitions=self.definitions,
            block_seeds=self.block_seeds,
            seeds=self.num_seeds,
            size=self.size,
            keep=self.keep,
            program=plain(self.program),
        )


def _turns(cell: StudyCell, batched: bool) -> float:
    """Plans of a cell that take time; those of quiet runs do not."""
    turns = rounds_of(cell, batched=batched)
    skips = cell.skip_quiet and issubclass(policy_class(cell.policy), SupportsSkip)
    if batched or not skips or turns <= _SKIPPED:
        return turns
    return _SKIPPED * (1 + math.log10(turns / _SKIPPED))


def _record(cell: StudyCell) -> CellRecord:
    """The cell's entry in a manifest: fields of the same name have the same value."""
    others = plain({k: x for k, x in cell.determined.items() if k not in BOUND})
    known: dict[str, Any] = {"parameters": cell.labels, "others": others}
    names = {field.name for field in fields(CellRecord)} - known.keys()
    return CellRecord(**{name: getattr(cell, name) for name in names}, **known)


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

    @property
    def seeds(self) -> int:
        """Number of seeds: fewer in the last block of a group."""
        return min(self.group.block_seeds, self.group.num_seeds - self.first_seed)

    @property
    def amount(self) -> int:
        """Number of comparisons, pulls or votes."""
        return self.seeds * sum(cell.horizon for cell in self.group.cells)

    @cached_property
    def key(self) -> str:
        """A hash of everything that determines the block's results: 16 hexadecimal digits."""
        return task_key(self.group.key, self.number)


def tasks_of(groups: Iterable[Group]) -> tuple[Task, ...]:
    """The tasks of all groups, group by group."""
    return tuple(
        Task(group, number)
        for group in groups
        for number in range(-(-group.num_seeds // group.block_seeds))
    )


def needs_pairs(cells: Iterable[StudyCell], keep: Iterable[str]) -> bool:
    """True if comparisons of pairs must be recorded, for optional records or for a regret."""
    of_pairs = not all(OF_PAIRS.keys().isdisjoint(cell.definitions) for cell in cells)
    return of_pairs or not {"wins", "selves"}.isdisjoint(keep)


def rounds_of(cell: StudyCell, *, batched: bool) -> int:
    """Number of plans that a cell's policy makes: about its batches, or its comparisons."""
    return (cell.all_parameters.get(BATCHES) or _ROUNDS) if batched else cell.horizon
