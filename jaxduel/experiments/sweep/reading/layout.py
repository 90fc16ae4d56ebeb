"""The layout of a sweep's data set: its dimensions, the stored blocks behind it, and sums over
seeds in those of a sweep that identifies arms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxduel.experiments.engine.blocks import Block
from jaxduel.policies.base import NO_WINNER, UNDECIDED
from jaxduel.stats import Moments

MEANS = ("probability", "simple_regret", "tau")
"""Variables that all such sweeps have."""

CELL = ("policy", "problem", "horizon", "parameters")
"""The dimensions that identify a cell."""
DIMENSIONS: dict[str, tuple[str, ...]] = {
    "regret_mean": (*CELL, "definition", "checkpoint"),
    "regret_std": (*CELL, "definition", "checkpoint"),
    "regret_sem": (*CELL, "definition", "checkpoint"),
    "num_seeds": CELL,
    "planned_seeds": CELL,
    "t": (*CELL, "checkpoint"),
    "batches_mean": CELL,
    "final_regret": (*CELL, "definition", "seed"),
    "plays_mean": (*CELL, "checkpoint", "arm"),
    "regret": (*CELL, "definition", "seed", "checkpoint"),
    "pairs_mean": (*CELL, "checkpoint", "left", "right"),
    "probability": (*CELL, "rule", "checkpoint"),
    "simple_regret": (*CELL, "rule", "checkpoint"),
    "tau": (*CELL, "rule", "checkpoint"),
    "best": ("problem", "arm"),
    "share_stopped": CELL,
    "share_wrong": CELL,
    "named": (*CELL, "rule", "seed", "checkpoint"),
    "cast": (*CELL, "seed"),
    "stopped": (*CELL, "seed"),
}
"""The dimensions of every variable."""
LAZY = {
    "definition": ("final_regret", "plays_mean", "regret", "pairs_mean"),
    "rule": ("named", "cast", "stopped"),
}
"""Variables that are read from blocks when they are used, where regret is measured and where arms
are identified."""


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


def tallied_names(blocks: Sequence[Any]) -> list[str]:
    """The variables of a data set with such blocks."""
    return list(dict.fromkeys([*MEANS, "best", *(name for b in blocks for name in b.sums)]))


def tallied_means(blocks: Sequence[Tallied]) -> dict[str, np.ndarray]:
    """Means over the seeds of several blocks of a group, by variable."""
    seeds = sum(block.seeds for block in blocks)
    return {name: np.sum([b.sums[name] for b in blocks], axis=0) / seeds for name in blocks[0].sums}


class StoredBlock(NamedTuple):
    """A block that was read and checked, without its large arrays."""

    path: Path
    names: frozenset[str]  # of its arrays
    key: str
    group: str
    number: int
    first: int  # seed
    seeds: int
    found: Moments | Tallied  # regret, (C, D, M), or what was found
    batches: np.ndarray | None  # (C,) sums over seeds


class StoredGroup(NamedTuple):
    """Cells that blocks hold together.

    Attributes:
      places: their indices along the dimensions `CELL`: four (C,) int64.
      measures: (D,) int64, the indices of the blocks' definitions of regret, or of their rules.
      t: (C, M) float64, the checkpoints, NaN beyond a cell's last.
      num_arms: (C,) int64.
      seeds: of each cell, once all blocks are there.
      blocks: in the order of their numbers.
    """

    places: tuple[np.ndarray, ...]
    measures: np.ndarray
    t: np.ndarray
    num_arms: np.ndarray
    seeds: int
    blocks: list[StoredBlock]
