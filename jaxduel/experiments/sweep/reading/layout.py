"""The layout of a sweep's data set: its dimensions, and the stored blocks behind it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxduel.experiments.sweep.reading.found import Tallied
from jaxduel.stats import Moments

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
