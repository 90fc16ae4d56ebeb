"""Reduction of the records of a group's seeds to the arrays of a block, in one pass over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxduel.experiments.engine.groups import Group
from jaxduel.problems import Problem
from jaxduel.simulation import regret
from jaxduel.simulation.blocks import Recorded
from jaxduel.simulation.run import CheckedCell

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
    cells = [
        (checked, parts, place)
        for several, records in slices
        for parts in [[Seeds(number, record.fetched()) for number, record in records]]
        for place, checked in enumerate(several)
    ]
    rows: dict[str, list[np.ndarray]] = {name: [] for name in ("plays", "regret")}
    for cell, (checked, parts, place) in zip(group.cells, cells, strict=False):
        points, num = len(checked.grid), checked.problem.num_arms
        after = (0, group.num_checkpoints - points)
        more = (0, group.num_arms - num)
        names = [name if name in cell.definitions else None for name in group.definitions]
        values, plays = _of_cell(checked.problem, names, parts, place, points)
        rows["regret"].append(np.pad(values, [(0, 0), (0, 0), after], mode="edge"))
        rows["plays"].append(np.pad(plays, [after, more]))
        if "wins" in group.keep and (pairs := _pairs(parts, place, points, num)):
            total = sum(part.sum(axis=0, dtype=np.float64) for part in pairs)
            mean = total / sum(map(len, pairs))
            rows.setdefault("pairs_mean", []).append(np.pad(mean, [after, more, more]))
        if "selves" in group.keep and (pairs := _pairs(parts, place, points, num)):
            own = np.concatenate([np.diagonal(part[:, -1], axis1=1, axis2=2) for part in pairs])
            rows.setdefault("selves", []).append(np.pad(own, [(0, 0), more]))
        batches = [
            part.record.batches[place, : part.number]
            for part in parts
            if part.record.batches is not None
        ]
        if batches:
            rows.setdefault("batches", []).append(np.concatenate(batches))
    stacked = {name: np.stack(values) for name, values in rows.items()}
    values = stacked.pop("regret")  # (C, D, S, M)
    mean = values.mean(axis=2)
    arrays: dict[str, Any] = {
        "regret_count": np.int64(values.shape[2]),
        "regret_mean": mean,
        "regret_m2": ((values - mean[:, :, None]) ** 2).sum(axis=2),
        "final_regret": values[..., -1],
        "plays_mean": stacked.pop("plays"),
        **stacked,
    }
    if "seeds" in group.keep:
        arrays["regret"] = values
    return arrays


def _of_cell(
    problem: Problem,
    definitions: Sequence[str | None],
    parts: Sequence[Seeds],
    place: int,
    points: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The regret of each seed by each definition (NaN where it is None), (D, S, M), and the mean
    plays, (M, K); float64."""
    num, seeds = problem.num_arms, sum(part.number for part in parts)
    values = np.full((len(definitions), seeds, points), np.nan)
    total = np.zeros((points, num))
    step = max(_CACHE_BYTES // (8 * points * num), 1)
    first = 0
    for part in parts:
        plays = part.record.tallies.plays[place, : part.number, :points, :num]
        pairs = part.record.tallies.pairs
        for begin in range(0, part.number, step):
            some = slice(begin, min(begin + step, part.number))
            counts = plays[some].astype(np.float64, order="C")
            total += counts.sum(axis=0)
            own = slice(first + some.start, first + some.stop)
            for row, definition in zip(values, definitions, strict=True):
                if definition is not None and not regret.needs_pairs(definition):
                    row[own] = regret.regret_from_plays(problem, definition, counts)
                elif definition is not None:
                    of_pairs = pairs[place, some, :points, :num, :num]
                    row[own] = regret.regret_from_pairs(problem, of_pairs)
        first += part.number
    return values, total / seeds


def _pairs(parts: Sequence[Seeds], place: int, points: int, num: int) -> list[np.ndarray]:
    """Plays of ordered pairs of a cell, (seeds, M, K, K) in each part; empty if none are there."""
    return [
        part.record.tallies.pairs[place, : part.number, :points, :num, :num]
        for part in parts
        if part.record.tallies.pairs is not None
    ]
