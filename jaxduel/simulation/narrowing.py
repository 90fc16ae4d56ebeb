"""Narrowing of a block as its seeds end, where votes are the clock."""

from __future__ import annotations

import jax
import numpy as np

from jaxduel.simulation.ballots import recorded, votes_left
from jaxduel.simulation.devices import is_on_cpu, placed
from jaxduel.simulation.jobs import Job, Recorded
from jaxduel.simulation.lanes import Setup
from jaxduel.simulation.steps import StepLane, narrowed
from jaxduel.simulation.tallies import of_problem

NARROWEST = 8
"""Fewest lanes to which a block is narrowed."""
PART = 4
"""Divisor of a block's lanes. Each width is another program to compile: with 2 first calls took 1.4
to 1.9 times as long (50 to 200 seeds, 500 to 5,000 votes), later ones 0.85 times or more."""
WORTH = 2**22
"""Comparisons made by as many lanes as a block has, times arms, from which on narrowing it pays."""


def widths(job: Job) -> list[int]:
    """The numbers of lanes that a block goes through as its seeds end."""
    numbers = [job.lanes]
    narrows = job.cell.poll is not None and is_on_cpu(job.root)
    while narrows and numbers[-1] // PART >= NARROWEST:
        numbers.append(numbers[-1] // PART)
    return numbers


class Narrowing:
    """Narrows a block on a CPU to a quarter of its lanes whenever these hold all seeds that still
    run, as a step costs there what its lanes cost, and the slowest seeds may take many times as
    long as others."""

    def __init__(self, job: Job) -> None:
        self._seeds = job.lanes
        self._done: Recorded | None = None  # of all seeds, those that still run as they were
        self._places = np.zeros(0, np.int64)  # of the lanes in it

    def votes_made(self, job: Job, lanes: StepLane) -> int:
        """Mean votes of all seeds of the block, by the lanes of those that still run."""
        left = votes_left(job.cell, lanes.ballots)
        return job.amount - int(left.sum() / (left.size // left.shape[-1] * self._seeds))

    def narrower(
        self, job: Job, setups: Setup, lanes: StepLane, t: int
    ) -> tuple[Job, Setup, StepLane, np.ndarray] | None:
        """The job, the setups and the lanes of the seeds that still run after t comparisons, and
        their places among those before, if fewer lanes hold them and it pays; else None."""
        made = t * job.cell.points.size * job.lanes
        if made * job.cell.policy.num_arms < WORTH:
            return None
        runs = votes_left(job.cell, lanes.ballots) > 0
        width = job.lanes // PART
        fits = width >= NARROWEST and runs.sum(axis=-1).max() <= width and runs.any()
        if not (fits and is_on_cpu(job.root)):
            return None
        tallies = of_problem(setups, lanes.tallies)
        now = Recorded(
            jax.tree.map(lambda x: np.expand_dims(x, runs.ndim), tallies),
            None,
            recorded(setups, lanes.ballots),
        )
        self._keep(now, runs.shape)
        order = np.argsort(~runs, axis=-1, kind="stable")[..., :width]
        self._places = np.take_along_axis(self._places, order, axis=-1)
        setups, lanes = narrowed(setups, lanes, placed(order, job.root), program=job.program)
        narrow = job._replace(lanes=width, slots=min(job.slots, width))
        return narrow, setups, lanes, order

    def whole(self, last: Recorded | None) -> Recorded | None:
        """The record of all seeds of a block, from that of the lanes at its end."""
        if self._done is None or last is None:
            return last
        self._keep(last, self._places.shape)
        return self._done

    def _keep(self, record: Recorded, shape: tuple[int, ...]) -> None:
        """Enters the record of the lanes: of the tallies, that at the horizon."""
        first = (*(slice(None) for _ in shape), slice(1))
        tallies = jax.tree.map(lambda x: x[first], record.tallies)
        record = record._replace(tallies=tallies).fetched()
        if self._done is None:
            self._done = jax.tree.map(np.array, record)
            self._places = np.broadcast_to(np.arange(shape[-1]), shape)
            return
        before = np.indices(shape)[:-1]
        for all_lanes, some in zip(*map(jax.tree.leaves, (self._done, record)), strict=True):
            all_lanes[(*before, self._places)] = some
