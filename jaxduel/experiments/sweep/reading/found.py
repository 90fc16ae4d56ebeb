"""Sums over the seeds in the blocks of a sweep that identifies arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxduel.experiments.engine.blocks import Block
from jaxduel.policies.base import NO_WINNER, UNDECIDED

MEANS = ("probability", "simple_regret", "tau")
"""Variables that all such sweeps have."""


class Tallied(NamedTuple):
    """Sums over the seeds of a block, by the variable of which they make the mean: `MEANS`
    (C, R, M), and share_stopped and share_wrong (C,) where a rule or policy stops; and the best
    arms, (C, K) bool."""

    seeds: int
    sums: dict[str, np.ndarray]
    best: np.ndarray


def tallied(block: Block) -> Tallied:
    """The sums over the seeds of a block."""
    arrays = block.arrays
    named, best, stops = arrays["named"], arrays["best"], arrays.get("stopped_named")
    cells = np.arange(len(named))
    at = cells[:, None, None, None], named
    sums = {
        "probability": best[at].sum(axis=2),
        "simple_regret": arrays["gaps"][at].sum(axis=2),
        "tau": arrays["tau"].sum(axis=2, dtype=np.float64),
    }
    if stops is not None:
        stopped, of_cell = stops != UNDECIDED, cells[:, None]
        none = np.all(~best, axis=1)
        right = np.where(stops == NO_WINNER, none[of_cell], best[of_cell, stops])
        sums["share_stopped"] = stopped.sum(axis=1)
        sums["share_wrong"] = (stopped & ~right).sum(axis=1)
    return Tallied(block.seeds, sums, best)


def variables(blocks: Sequence[Any]) -> list[str]:
    """The variables of a data set with such blocks."""
    return list(dict.fromkeys([*MEANS, "best", *(name for b in blocks for name in b.sums)]))


def statistics(blocks: Sequence[Tallied]) -> dict[str, np.ndarray]:
    """Means over the seeds of several blocks of a group, by variable."""
    seeds = sum(block.seeds for block in blocks)
    return {name: np.sum([b.sums[name] for b in blocks], axis=0) / seeds for name in blocks[0].sums}
