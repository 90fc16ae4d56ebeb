"""Jobs: data and settings that the blocks of a run share; and the record of a block."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxduel.simulation import events
from jaxduel.simulation.ballots import Ballots
from jaxduel.simulation.cells import Cell, Program
from jaxduel.simulation.devices import is_on_cpu
from jaxduel.simulation.tallies import Tallies

CALL_SECONDS = 0.5
"""Longest time of a call of a loop over time, about: a call cannot be interrupted."""


class Recorded(NamedTuple):
    """Records of a finished block, some of them maybe still on the device. With stacked cells, each
    array has the cells in front."""

    tallies: Tallies  # at the checkpoints, (lanes, M, ...), of the problem's arms
    batches: Any  # (lanes,) int32, batched policies only; else None
    ballots: Ballots | None = None  # of the problem's arms, (lanes, ...), where votes are the clock

    def fetched(self) -> Recorded:
        """The record as NumPy's arrays."""
        return jax.tree.map(np.asarray, self)


class Job(NamedTuple):
    """Data, settings and callbacks that all blocks of a run share."""

    cell: Cell
    program: Program
    root: jax.Array
    first_seed: int
    num_seeds: int
    lanes: int
    """Seeds that run side by side, the width of compiled loops."""
    seeds: int
    """Seeds of a block: as many as lanes, or, of policies that play in rounds, more."""
    slots: int
    """Seeds that run side by side while quiet runs are skipped."""
    tick: Callable[[int], Any]
    compiles: Callable[[], Any]
    stop: threading.Event

    @property
    def slot_numbers(self) -> list[int]:
        """The numbers of slots that the last seeds go through as they become few: halved on a CPU,
        where a slot without a seed costs as much as one with."""
        numbers = [self.slots]
        while is_on_cpu(self.root) and numbers[-1] // 2 >= events.FEW_SLOTS:
            numbers.append(numbers[-1] // 2)
        return numbers

    @property
    def amount(self) -> int:
        """Comparisons, pulls or, where these are the clock, votes of a seed; of several cells, the
        most."""
        poll = self.cell.poll
        times = self.cell.checkpoints if poll is None else poll.checkpoints
        return int(np.max(np.asarray(times)))
