"""What was found in the blocks of a sweep that identifies arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxduel.experiments.engine.blocks import Block


class Tallied(NamedTuple):
    """Sums over the seeds of a block, of C cells, R rules and M checkpoints."""

    seeds: int
    correct: np.ndarray  # (C, R, M) int64: seeds for which one of the best arms is named
    simple_regret: np.ndarray  # (C, R, M) float64
    tau: np.ndarray  # (C, R, M) float64
    stopped: np.ndarray | None  # (C,) int64: seeds for which a rule stopped
    wrong: np.ndarray | None  # (C,) int64: those for which it then named a wrong arm


def tallied(block: Block) -> Tallied:
    """The sums over the seeds of a block."""
    arrays = block.arrays
    named, best, stops = arrays["named"], arrays["best"], arrays.get("stopped_named")
    cells = np.arange(len(named))
    at = cells[:, None, None, None], named
    stopped = wrong = None
    if stops is not None:
        stopped = (stops >= 0).sum(axis=1)
        wrong = ((stops >= 0) & ~best[cells[:, None], stops]).sum(axis=1)
    return Tallied(
        seeds=block.seeds,
        correct=best[at].sum(axis=2),
        simple_regret=arrays["gaps"][at].sum(axis=2),
        tau=arrays["tau"].sum(axis=2, dtype=np.float64),
        stopped=stopped,
        wrong=wrong,
    )


def variables(blocks: Sequence[Any]) -> list[str]:
    """The variables of a data set with such blocks."""
    stops = any(block.stopped is not None for block in blocks)
    return ["probability", "simple_regret", "tau", *["share_stopped", "share_wrong"] * stops]


def statistics(blocks: Sequence[Tallied]) -> dict[str, np.ndarray]:
    """Means over the seeds of several blocks of a group, by variable."""
    seeds = sum(block.seeds for block in blocks)
    sums = {
        "probability": sum(block.correct for block in blocks),
        "simple_regret": sum(block.simple_regret for block in blocks),
        "tau": sum(block.tau for block in blocks),
    }
    if blocks[0].stopped is not None:
        sums["share_stopped"] = sum(block.stopped for block in blocks)
        sums["share_wrong"] = sum(block.wrong for block in blocks)
    return {name: np.asarray(some) / seeds for name, some in sums.items()}
