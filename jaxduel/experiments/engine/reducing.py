"""Reduction of the records of a group's seeds to the arrays of a block, in one pass over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxduel.experiments.engine.groups import Group
from jaxduel.simulation import regret
from jaxduel.simulation.checking import CheckedCell
from jaxduel.simulation.jobs import Recorded

_CACHE_BYTES = 2**19
"""Bytes of plays that are reduced at once: they stay in a core's cache."""


class Seeds(NamedTuple):
    """Records of consecutive seeds of some cells, as the loops made them.

    Attributes:
      number: of seeds; the record may have more, which are padding.
      record: with an axis for cells in front.
    """

    number: int
    record: Recorded


def arrays_of(
    group: Group, slices: Iterable[tuple[Sequence[CheckedCell], Sequence[Seeds]]]
) -> dict[str, Any]:
    """The arrays of a block (`jaxduel.experiments.engine.blocks.LAYOUT`).

    The sums over seeds are the same bits in whatever parts the seeds come: those of plays are
    integers, and regret is summed up when all seeds are there.

    Args:
      group: the group.
      slices: its cells in order, as they ran side by side, with the records of their seeds; cells
        that fill up the last slice are left out.
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
    """Of each cell of `slices` its place among those that ran with it, and their records, on the
    host."""
    return [
        (place, checked, fetched)
        for several, records in slices
        for fetched in [[Seeds(number, record.fetched()) for number, record in records]]
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
    """Enters a cell.

    Args:
      place: its place in the records.
      checked: the cell.
      parts: the records of its seeds.
      definitions: D of regret; None where it has none.
      values: (D, S, M) float64, for the regret of each seed.
      arrays: its own in each of the block's other arrays, of zeros.
    """
    problem, points = checked.problem, len(checked.grid)
    num, first = problem.num_arms, 0
    step = max(_CACHE_BYTES // (8 * points * num), 1)
    for size, record in parts:
        plays = record.tallies.plays[place, :size, :points, :num]
        pairs = record.tallies.pairs
        pairs = None if pairs is None else pairs[place, :size, :points, :num, :num]
        for begin in range(0, size, step):
            some = slice(begin, min(begin + step, size))
            own = slice(first + some.start, first + some.stop)
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
        own = slice(first, first + size)
        if "selves" in arrays and pairs is not None:
            arrays["selves"][own, :num] = np.diagonal(pairs[:, -1], axis1=1, axis2=2)
        if "batches" in arrays:
            arrays["batches"][own] = record.batches[place, :size]
        first += size
    values[..., points:] = values[..., points - 1 : points]
    for name in {"plays_mean", "pairs_mean"} & arrays.keys():
        arrays[name] /= first
