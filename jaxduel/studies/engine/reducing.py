"""Reduction of the records of a group's seeds to the arrays of a block, in one pass. On an
accelerator plays are reduced there, since fetching them takes longer than making them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.problems import ArmsProblem, DuelingProblem, PiecewiseProblem
from jaxduel.simulation import regret
from jaxduel.simulation.checking import CheckedCell, Settings
from jaxduel.simulation.compiling import compiled_once
from jaxduel.simulation.jobs import Recorded
from jaxduel.simulation.keys import root_key
from jaxduel.studies.engine.cells import StudyCell
from jaxduel.studies.engine.groups import Group
from jaxduel.votes.collecting import FoundCollector
from jaxduel.votes.found import Found, truth_of

_CACHE_BYTES = 2**19
"""Bytes of plays that are reduced at once, few enough for a core's cache."""


class Sums(NamedTuple):
    """Sums of plays: over arms, weighed by gaps, and over seeds."""

    regret: Any  # (C, D, L, M) float64, NaN where a cell has no such regret
    plays: Any  # (C, M, K) float64


class Seeds(NamedTuple):
    """Records of consecutive seeds of some cells, as the loops return them.

    Attributes:
      number: number of seeds; further seeds in the record are padding.
      record: with an axis for cells in front.
      sums: sums of the plays, if they are reduced; the record then has no plays.
    """

    number: int
    record: Recorded
    sums: Sums | None = None

    def fetched(self) -> Seeds:
        """With NumPy's arrays."""
        return Seeds(self.number, self.record.fetched(), jax.tree.map(np.asarray, self.sums))


def reduced(
    seeds: Seeds,
    group: Group,
    cells: Sequence[StudyCell],
    checked: Sequence[CheckedCell],
) -> Seeds:
    """The seeds of some of the group's cells, with plays reduced on the device if plays suffice for
    the regret.

    Regret differs from that of `arrays_of` by 1e-15 of itself: products of plays and gaps are
    summed in another order.
    """
    tallies = seeds.record.tallies
    if tallies.pairs is not None or any(isinstance(c.problem, PiecewiseProblem) for c in checked):
        return seeds
    gaps = np.zeros((len(cells), len(group.definitions), tallies.plays.shape[-1]))
    for table, cell, one in zip(gaps, cells, checked, strict=True):
        for row, name in zip(table, group.definitions, strict=True):
            if name in cell.definitions:
                of_arms = regret.regret_from_plays(one.problem, name, np.eye(one.problem.num_arms))
                row[: len(of_arms)] = of_arms
            else:
                row[:] = np.nan
    with jax.enable_x64(True):
        sums = _sums(tallies.plays, jnp.asarray(gaps), np.int32(seeds.number))
    return Seeds(seeds.number, seeds.record._replace(tallies=tallies._replace(plays=None)), sums)


@compiled_once
def _sums(plays: jax.Array, gaps: jax.Array, number: jax.Array) -> Sums:
    """Sums of (C, L, M, K) plays, over the first `number` along L; the others are padding."""
    counts = plays.astype(gaps.dtype)
    values = jnp.sum(counts[:, None] * gaps[:, :, None, None, :], axis=-1)
    is_seed = jnp.arange(plays.shape[1], dtype=jnp.int32) < number
    return Sums(values, jnp.sum(jnp.where(is_seed[:, None, None], counts, 0.0), axis=1))


def arrays_of(
    group: Group, slices: Iterable[tuple[Sequence[CheckedCell], Sequence[Seeds]]]
) -> dict[str, Any]:
    """The arrays of a block (`jaxduel.studies.engine.blocks.LAYOUT`).

    The sums over seeds have the same bits however the seeds are divided into parts: sums of plays
    are integers, and regret is summed once all seeds are there.

    Args:
      slices: the group's cells in order, as they ran side by side, with the records of their seeds;
        copies that fill up the last slice are left out.
    """
    parts = by_cell(slices)
    first = parts[0][-1]
    cells, seeds = len(group.cells), sum(part.number for part in first)
    points, num = group.num_checkpoints, group.num_arms
    values = np.full((cells, len(group.definitions), seeds, points), np.nan)
    arrays: dict[str, Any] = {"plays_mean": np.zeros((cells, points, num))}
    if "wins" in group.keep and first[0].record.tallies.pairs is not None:
        arrays["pairs_mean"] = np.zeros((cells, points, num, num))
    if "selves" in group.keep and first[0].record.tallies.pairs is not None:
        arrays["selves"] = np.zeros((cells, seeds, num), np.int64)
    if first[0].record.batches is not None:
        arrays["batches"] = np.zeros((cells, seeds), np.int64)
    for number, (cell, of_cell) in enumerate(zip(group.cells, parts, strict=False)):
        names = [name if name in cell.definitions else None for name in group.definitions]
        own = {name: array[number] for name, array in arrays.items()}
        _enter(*of_cell, names, values[number], own)
    mean = values.mean(axis=2)
    arrays["regret_count"] = np.int64(seeds)
    arrays["regret_mean"] = mean
    arrays["regret_m2"] = ((values - mean[:, :, None]) ** 2).sum(axis=2)
    arrays["final_regret"] = values[..., -1]
    if "seeds" in group.keep:
        arrays["regret"] = values
    return arrays


def by_cell(
    slices: Iterable[tuple[Sequence[CheckedCell], Sequence[Seeds]]],
) -> list[tuple[int, CheckedCell, list[Seeds]]]:
    """(position, checked cell, host records) of every cell."""
    return [
        (place, checked, fetched)
        for several, records in slices
        for fetched in [[seeds.fetched() for seeds in records]]
        for place, checked in enumerate(several)
    ]


def _enter(
    place: int,
    checked: CheckedCell,
    parts: Sequence[Seeds],
    definitions: Sequence[str | None],
    values: np.ndarray,
    arrays: dict[str, np.ndarray],
) -> None:
    """Enters a cell into the block's arrays; `place` is its position in the records.

    Args:
      definitions: D definitions of regret; None where the cell lacks one.
      values: (D, S, M) float64, for the regret of each seed.
      arrays: the cell's part of each of the block's other arrays, zeros before.
    """
    problem, points = checked.problem, len(checked.grid)
    num, first = problem.num_arms, 0
    step = max(_CACHE_BYTES // (8 * points * num), 1)
    for size, record, sums in parts:
        whole = slice(first, first + size)
        first += size
        if "batches" in arrays:
            arrays["batches"][whole] = record.batches[place, :size]
        if sums is not None:
            arrays["plays_mean"][:points, :num] += sums.plays[place, :points, :num]
            values[:, whole, :points] = sums.regret[place, :, :size, :points]
            continue
        plays = record.tallies.plays[place, :size, :points, :num]
        pairs = record.tallies.pairs
        pairs = None if pairs is None else pairs[place, :size, :points, :num, :num]
        for begin in range(0, size, step):
            some = slice(begin, min(begin + step, size))
            own = slice(whole.start + some.start, whole.start + some.stop)
            counts = plays[some].astype(np.float64, order="C")
            arrays["plays_mean"][:points, :num] += counts.sum(axis=0)
            for row, definition in zip(values, definitions, strict=True):
                if definition is None:
                    continue
                more = None if pairs is None else pairs[some]
                row[own, :points] = regret.regret_of(
                    problem, definition, checked.grid, counts, more
                )
        if "pairs_mean" in arrays and pairs is not None:
            arrays["pairs_mean"][:points, :num, :num] += pairs.sum(axis=0, dtype=np.float64)
        if "selves" in arrays and pairs is not None:
            arrays["selves"][whole, :num] = np.diagonal(pairs[:, -1], axis1=1, axis2=2)
    values[..., points:] = values[..., points - 1 : points]
    for name in {"plays_mean", "pairs_mean"} & arrays.keys():
        arrays[name] /= first


def named_arrays_of(
    group: Group,
    slices: Iterable[tuple[Sequence[CheckedCell], Sequence[Seeds]]],
    settings: Settings,
) -> dict[str, Any]:
    """The arrays of a block (`jaxduel.studies.engine.blocks.LAYOUT`) where arms are identified.

    Args:
      group: the group.
      slices: as for `arrays_of`.
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
                ("stopped", found.stops.at),
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
    """The result of a cell; `place` is its position in the records."""
    question, problem = cell.question, checked.problem
    assert question is not None
    assert isinstance(problem, DuelingProblem | ArmsProblem)
    asked = {**dataclasses.asdict(question), "recommend": cell.definitions, "top": None}
    truth = truth_of(problem, question.target)
    root = root_key(cell.root, cell.prng)
    collector, first = FoundCollector(checked, settings, truth, root, asked), 0
    for seeds in records:
        collector.keep(first, jax.tree.map(itemgetter(place), seeds.record))
        first += seeds.number
    return collector.result(first, cell.lanes)
