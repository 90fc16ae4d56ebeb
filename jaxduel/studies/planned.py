"""Wanted runs as groups of cells that the engine simulates, and the runs of finished blocks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from jaxduel.runs import Runs
from jaxduel.studies.engine.blocks import Block
from jaxduel.studies.engine.cells import StudyCell
from jaxduel.studies.engine.groups import Group, tasks_of
from jaxduel.studies.engine.planning import family_of, plan
from jaxduel.studies.wanted import MOST_LANES, Wanted


class _Place(NamedTuple):
    """The place of a cell: its group, and its number in the group."""

    group: Group
    row: int


class Planned:
    """Wanted runs, with the groups of cells that make them.

    Instances with few runs are stacked in one program, as are cells that differ only in their
    delay; cells of policies that commit to batches share programs across all wanted runs.

    Args:
      wanted: the wanted runs, in the order of simulation; keys are unique.
      platform: platform of the devices.

    Attributes:
      groups: all groups, each once, in that order.
    """

    def __init__(self, wanted: Iterable[Wanted], platform: str) -> None:
        self.wanted = tuple(wanted)
        made: list[Group] = []
        batched: dict[_Like, list[StudyCell]] = {}
        others: dict[tuple[Any, ...], list[StudyCell]] = {}
        for one in self.wanted:
            for all_cells in one.cells.values():
                for runs, cells in _by_runs(one, all_cells):
                    like = _Like(runs, one.lanes, one.keep)
                    if one.batched:
                        batched.setdefault(like, []).extend(cells)
                    else:
                        but_for_delay = (replace(c, delay=min(c.delay, 2)) for c in cells)
                        others.setdefault((like, *but_for_delay), []).extend(cells)
        for (runs, lanes, keep), cells in batched.items():
            made += plan(_unique(cells), runs, keep=keep, lanes=lanes, platform=platform)
        for (like, *_), cells in others.items():
            made += _stacks(like, _unique(cells))
        found: dict[str, Group] = {group.key: group for group in made}
        self._places = {
            cell.labels_in_data: _Place(group, row)
            for group in found.values()
            for row, cell in enumerate(group.cells)
        }
        order = {one.key: n for n, one in enumerate(self.wanted)}
        first: dict[str, int] = {}
        for one in self.wanted:
            for place in self.places(one):
                first.setdefault(place.group.key, order[one.key])
        self.groups = tuple(sorted(found.values(), key=lambda group: first[group.key]))

    def places(self, one: Wanted) -> list[_Place]:
        """The places of the cells of `one`: by horizon, then by instance."""
        cells = itertools.chain.from_iterable(one.cells.values())
        return [self._places[cell.labels_in_data] for cell in cells]

    def tasks(self, one: Wanted) -> set[str]:
        """Keys of the tasks that `one` needs."""
        groups = {place.group.key: place.group for place in self.places(one)}
        return {task.key for task in tasks_of(groups.values())}

    def runs(self, one: Wanted, read: Callable[[str], Block | None]) -> Runs:
        """The runs of `one`, once all its tasks are stored; `read` returns the block of a task."""
        places, number = self.places(one), len(one.draws)
        parts = [
            _arrays(place, read, 1 if one.competitor.per_horizon else len(one.checkpoints))
            for place in places
        ]
        by_horizon = [parts[first : first + number] for first in range(0, len(parts), number)]
        sizes = [len(part["regret"]) for part in by_horizon[0]]
        last = by_horizon[-1]
        regret = [np.concatenate([part["regret"] for part in own]) for own in by_horizon]
        separate = one.competitor.per_horizon
        return Runs(
            name=one.competitor.name,
            label=one.competitor.label,
            times=np.array(one.horizons) if separate else one.checkpoints,
            regret=np.concatenate(regret, axis=1),
            most=one.most,
            settles=one.settles,
            groups=np.arange(sizes[0]) if number == 1 else np.repeat(np.arange(number), sizes),
            batches=_joined(last, "batches"),
            selves=_joined(last, "selves"),
            separate=separate,
        )


def _by_runs(wanted: Wanted, cells: Sequence[StudyCell]) -> list[tuple[int, list[StudyCell]]]:
    """The cells, one for each instance, grouped by number of runs, in order."""
    pairs = zip(wanted.draws, cells, strict=True)
    return [
        (runs, [cell for _, cell in alike])
        for runs, alike in itertools.groupby(pairs, lambda pair: pair[0].num_runs)
    ]


def _unique(cells: Iterable[StudyCell]) -> tuple[StudyCell, ...]:
    """The cells, each once, in order."""
    return tuple({cell.labels_in_data: cell for cell in cells}.values())


class _Like(NamedTuple):
    """Settings of a group: cells run together only if their settings are equal."""

    runs: int  # of each cell
    lanes: int
    keep: tuple[str, ...]  # as in `Group`


def _stacks(like: _Like, cells: Sequence[StudyCell]) -> list[Group]:
    """Groups of cells that run as one program, with at most the lanes of a block in all."""
    runs, lanes, keep = like
    number = -(-len(cells) // max(1, MOST_LANES // lanes))
    size = -(-len(cells) // number)
    return [
        Group(
            cells=tuple(cells[first : first + size]),
            size=size,
            lanes=lanes,
            block_seeds=lanes,
            num_seeds=runs,
            batched=False,
            keep=keep,
            program=(*family_of(cells[0]), cells[0].num_arms, size, lanes, keep),
            num_checkpoints=len(cells[0].checkpoints),
        )
        for first in range(0, len(cells), size)
    ]


def _arrays(
    place: _Place, read: Callable[[str], Block | None], points: int
) -> dict[str, np.ndarray]:
    """The runs of a cell: regret (n, M) float64 and, where recorded, batches (n,) and selves
    (n, K)."""
    own: dict[str, list[np.ndarray]] = {}
    for task in tasks_of([place.group]):
        block = read(task.key)
        assert block is not None
        regret = block.arrays["regret"][place.row, 0, : task.seeds, :points]
        own.setdefault("regret", []).append(regret)
        for name in ("batches", "selves"):
            if name in block.arrays:
                own.setdefault(name, []).append(block.arrays[name][place.row, : task.seeds])
    return {name: np.concatenate(some) for name, some in own.items()}


def _joined(parts: Sequence[Mapping[str, np.ndarray]], name: str) -> np.ndarray | None:
    """An array of all instances; None where it was not recorded."""
    there = [part[name] for part in parts if name in part]
    return np.concatenate(there) if there else None
