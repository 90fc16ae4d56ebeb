"""Decides when skipping quiet runs becomes faster than stepping."""

from __future__ import annotations

import numpy as np

from jaxduel.simulation import events
from jaxduel.simulation.ballots import votes_left
from jaxduel.simulation.devices import placed
from jaxduel.simulation.events import EventLane
from jaxduel.simulation.jobs import Job
from jaxduel.simulation.lanes import Setup
from jaxduel.simulation.steps import StepLane

TURN_COST = 3.0
"""Approximate cost of a turn of the event loop, in steps of as many lanes: measured on a CPU, 1.5
(CCB) to 5 (D-TS on 16 arms); by the kernels of an NVIDIA H200, 1.1 (ECW-RMED) to 3.7 (D-TS). It is
not timed where it is used: some policies draw other runs if skipping begins at another time, and
the same seeds are to play the same."""
FEW_COST = 1.6
"""The cost of a turn of `FEW_SLOTS` slots, each, by that of a turn of many: measured, D-TS+."""
TRIAL = 1024
"""Comparisons between two looks at the count of self-comparisons, and at most in a trial."""
TRIAL_TURNS = 64
"""The most turns of a trial."""
WORTH = 2**27
"""Comparisons left in a block, times arms, above which the event loop is worth its compilation."""
AT_ONCE = 6 * 10**7
"""The same for a narrow block to begin in the event loop: about half of `WORTH`, as the step loop
is not compiled then."""
NARROW = 128
"""Most lanes, of all cells together, of a narrow block. There a turn costs little more than a step,
as the call of a kernel costs more than its work."""
AHEAD_TURNS = 1024
"""Turns for each pair of arms by which an event loop that a block begins with must have skipped
enough; else the block starts over with steps."""
_AHEAD_PART = 6
"""Those turns, times this, must fit in the horizon."""
_SKIPS = 0.8
"""The most turns per comparison, up to then, with which it goes on. Measured with seven policies on
five to nine arms: 0.13 (ECW-RMED) to 0.78 (RUCB) where they settle, 0.82 (ECW-RMED) or more where
not."""
_REST = 8
"""After a trial there is no other for the time that has passed, divided by this."""


class SkipHeuristic:
    """Decides for a block in the step loop when to begin skipping.

    The count of self-comparisons is not enough: a policy that tosses coins also compares an arm
    with itself by chance, and such comparisons cannot be skipped. So the count says only when to
    try, and a trial decides: the event loop goes ahead for some turns, with random numbers that
    nothing else uses, and the comparisons that these turns stand for are counted. The times of
    trials do not depend on the checkpoints.

    Args:
      job: the job. With delayed feedback, all slots wait for the few that are told outcomes, which
        doubles the cost of a turn.
    """

    def __init__(self, job: Job) -> None:
        self._job, self._share = job, job.slots / job.lanes
        self._cost = TURN_COST * (2.0 if job.program.delayed else 1.0)
        self._horizon = int(np.max(np.asarray(job.cell.checkpoints)))
        self._by_votes = job.cell.poll is not None
        num_arms = job.cell.policy.num_arms
        self._lanes = job.cell.points.size * job.lanes
        self._each = self._lanes * num_arms
        self._ahead, self._has_shown = AHEAD_TURNS * (num_arms * (num_arms - 1) // 2), False
        self._selves = np.zeros(())
        self._rests_until = 0
        self._marks = [(0, np.zeros(())), (0, np.zeros(()))]

    def narrow(self, job: Job, order: np.ndarray) -> None:
        """Goes on with some lanes of the block, by their places, (S,) or (cells, S)."""
        self._job, self._share = job, job.slots / job.lanes
        self._lanes = job.cell.points.size * job.lanes
        self._each = self._lanes * job.cell.policy.num_arms
        self._selves = _taken(self._selves, order)
        self._marks = [(t, _taken(votes, order)) for t, votes in self._marks]

    @property
    def is_soon(self) -> bool:
        """True if the arms are so few that most of the horizon may be skipped; where votes are the
        clock, always, as runs are short."""
        return self._by_votes or self._ahead * _AHEAD_PART <= self._horizon

    def goes_ahead(self) -> bool:
        """True if the block is to begin with the event loop, instead of steps."""
        narrow = self._lanes <= NARROW and not (self._job.program.delayed or self._by_votes)
        return narrow and self.is_soon and self._horizon * self._each >= AT_ONCE

    def has_shown(self, lanes: EventLane) -> bool:
        """False if an event loop that the block began with has skipped too little, by its lanes."""
        if not self._has_shown and np.max(turns := np.asarray(lanes.turns)) >= self._ahead:
            self._has_shown = True
            return float(np.mean(turns / np.asarray(lanes.t))) <= _SKIPS
        return True

    def following(self, t: int) -> int:
        """The time of the first look after time t."""
        return t - t % TRIAL + TRIAL

    def is_over(self, setups: Setup, lanes: StepLane, t: int) -> bool:
        """True if skipping pays from now on; to be called at all times of `following`.

        Args:
          setups, lanes: of the block, at time t.
          t: the time.
        """
        # a copy: the next chunk of steps is given the lanes' memory
        before, self._selves = self._selves, np.array(lanes.selves)
        if t < self._rests_until or self._left(lanes, t) * self._each <= WORTH:
            return False
        if not self._pays(1.0 - (self._selves - before) / TRIAL):
            return False
        self._rests_until = t + t // _REST
        return self._pays(self._tried(setups, lanes, t))

    def _left(self, lanes: StepLane, t: int) -> float:
        """Steps that the block has left; where votes are the clock, until its slowest seed has cast
        them at its rate of late: since a time that is a quarter to a half of t."""
        cell, counted = self._job.cell, lanes.ballots
        if cell.poll is None or counted is None:
            return self._horizon - t
        votes = np.array(counted.votes)
        since, before = self._marks[0]
        if t >= 2 * self._marks[1][0]:
            self._marks = [self._marks[1], (t, votes)]
        each = votes_left(cell, counted) * (t - since) / np.maximum(votes - before, 0.5)
        return min(float(each.max()), self._horizon - t)

    def _tried(self, setups: Setup, lanes: StepLane, t: int) -> np.ndarray:
        """Turns per comparison of each seed in a trial: (lanes,) or (cells, lanes), at most 1."""
        job = self._job
        job.compiles()
        end = np.full(job.cell.checkpoints.shape, min(t + TRIAL, self._horizon), np.int32)
        times = placed((end, np.zeros(job.cell.points.shape, np.int32)), job.root)
        cell = job.cell._replace(checkpoints=times[0], points=times[1])
        at = np.int32(t), np.int32(0), np.bool_(True)
        block = events.begin(cell, setups, lanes, *at, program=job.program)
        turns, chunk = [], np.int32(TRIAL_TURNS)
        for first in range(0, job.lanes, job.slots):
            start = min(first, job.lanes - job.slots)
            slots = events.occupy(block, np.int32(start), number=job.slots, program=job.program)
            lane = events.advance(cell, slots, chunk, program=job.program).lane
            passed = np.maximum(np.asarray(lane.t) - t, 1)  # 0 where all votes are cast
            each = np.asarray(lane.turns) / passed
            turns.append(each[..., first - start :])
        return np.concatenate(turns, axis=-1)

    def _pays(self, turns: np.ndarray) -> bool:
        """True if so many turns per comparison, (lanes,) or (cells, lanes), cost less than a step.

        A slot whose seed is done takes the next one, so that the mean over seeds counts, unless
        slow seeds alone take longer. On a CPU the last ones have fewer slots (`FEW_SLOTS`).
        """
        few, ordered = self._job.few_slots, np.sort(turns, axis=-1)
        waiting = ordered[..., -1 - few] * self._share
        last = ordered[..., -1] * FEW_COST * few / self._job.lanes
        each = np.maximum.reduce([np.mean(turns, axis=-1), waiting, last])
        return float(np.max(each)) * self._cost < 1.0


def _taken(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Some lanes of an array, unless it has none yet."""
    return np.take_along_axis(values, order, axis=-1) if values.ndim else values
