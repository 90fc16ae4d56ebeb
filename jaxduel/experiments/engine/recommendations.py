"""Reduction of the votes of a group's seeds to the arrays of a block: the arms that rules name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

import jax
import numpy as np

from jaxduel.experiments.engine.cells import StudyCell
from jaxduel.experiments.engine.groups import Group
from jaxduel.experiments.engine.reducing import Seeds, by_cell
from jaxduel.problems import DuelingProblem
from jaxduel.simulation.checking import CheckedCell, Settings
from jaxduel.simulation.keys import root_key
from jaxduel.votes.collecting import FoundCollector
from jaxduel.votes.found import Found, truth_of


def named_arrays_of(
    group: Group,
    slices: Iterable[tuple[Sequence[CheckedCell], Sequence[Seeds]]],
    settings: Settings,
) -> dict[str, Any]:
    """The arrays of a block (`jaxduel.experiments.engine.blocks.LAYOUT`) where arms are identified.

    Args:
      group: the group.
      slices: as for `jaxduel.experiments.engine.reducing.arrays_of`.
      settings: of the simulation, with the first seed of the block.
    """
    parts = by_cell(slices)
    first = parts[0][-1]
    cells, rules, points = len(group.cells), group.definitions, group.num_checkpoints
    seeds = sum(part.number for part in first)
    table = (cells, len(rules), seeds, points)
    arrays: dict[str, Any] = {
        "named": np.zeros(table, np.int32),
        "tau": np.zeros(table, np.float32),
        "cast": np.zeros((cells, seeds), np.int64),
        "gaps": np.full((cells, group.num_arms), np.nan),
        "best": np.zeros((cells, group.num_arms), bool),
    }
    if first[0].record.batches is not None:
        arrays["batches"] = np.zeros((cells, seeds), np.int64)
    for number, (cell, (place, checked, records)) in enumerate(
        zip(group.cells, parts, strict=False)
    ):
        own = dataclasses.replace(settings, seed=cell.root, num_seeds=seeds)
        found = _found(cell, checked, own, place, records)
        num = checked.problem.num_arms
        for row, rule in enumerate(rules):
            for name, values in (("named", found.named[rule]), ("tau", found.tau[rule])):
                arrays[name][number, row] = np.pad(
                    values, ((0, 0), (0, points - values.shape[1])), mode="edge"
                )
        arrays["cast"][number] = found.cast
        arrays["gaps"][number, :num] = found.truth.gaps
        arrays["best"][number, list(found.truth.best)] = True
        if found.stops is not None:
            for name, values in (
                ("stopped", found.stops.votes),
                ("stopped_named", found.stops.named),
            ):
                arrays.setdefault(name, np.zeros((cells, seeds), np.int64))[number] = values
        if "batches" in arrays:
            arrays["batches"][number] = np.concatenate(
                [seeds.record.batches[place, : seeds.number] for seeds in records]
            )
    return arrays


def _found(
    cell: StudyCell,
    checked: CheckedCell,
    settings: Settings,
    place: int,
    records: Sequence[Seeds],
) -> Found:
    """The result of a cell; `place` is its own in the records."""
    question, problem = cell.question, checked.problem
    assert question is not None
    assert isinstance(problem, DuelingProblem)
    asked = {**dataclasses.asdict(question), "recommend": cell.definitions, "top": None}
    truth = truth_of(problem, question.target)
    root = root_key(cell.root, cell.prng)
    collector, first = FoundCollector(checked, settings, truth, root, asked), 0
    for seeds in records:
        collector.keep(first, jax.tree.map(itemgetter(place), seeds.record))
        first += seeds.number
    return collector.result(first, cell.lanes)
