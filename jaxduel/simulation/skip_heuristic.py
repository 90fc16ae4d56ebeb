"""Decides when skipping quiet runs becomes faster than stepping."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from jaxduel.simulation import events
from jaxduel.simulation.ballots import votes_left
from jaxduel.simulation.cells import Program
from jaxduel.simulation.devices import is_on_cpu, placed
from jaxduel.simulation.events import EventLane
from jaxduel.simulation.jobs import Job
from jaxduel.simulation.lanes import Setup, apart
from jaxduel.simulation.narrowing import widths
from jaxduel.simulation.steps import StepLane
from jaxduel.simulation.turn_costs import has_price, is_drawn, turn_cost

LATE_COST = 2.0
"""Factor on the price of a turn with delayed feedback: all slots wait for the few whose policy
hears outcomes."""
FLOOR = 16
"""A turn, or a step, costs as if there were so many more seeds: its kernels have to be called.
Measured with 8 to 64 slots, 15 (RUCB on 5 arms) and 17 (RMED1)."""
FIRST_TURNS = 64
"""Turns that a seed costs beyond its own, until its slot is given to the next."""
HOST = 2**18
"""Cost of entering and leaving the event loop, and of exchanging seeds, in turns of a slot times
arms: 8 ms, measured with RUCB on 5 arms."""
TRIAL_HOST = 2**16
"""As `HOST`, of a trial: 2 ms."""
TRIAL = 1024
"""Fewest comparisons between two looks at the count of self-comparisons, and most in a trial."""
TRIAL_TURNS = 32
"""The most turns of a trial."""
WORTH = 2**27
"""Comparisons left in a block, times arms, above which the event loop is worth its compilation."""
_LOADING = 1 / 20
"""Cost of loading the loop as a part of that of its compilation: measured, 1/17 (RMED1 on 5 arms)
to 1/23 (D-TS on 16)."""
_missed: defaultdict[tuple[Program, int], float] = defaultdict(float)
"""Comparisons times arms, of all blocks of this process, that the event loop was not there for."""
TAIL_WORTH = 2**30
"""As `WORTH`, above which the last seeds of a block get a loop of fewer slots: where less is left,
all slots wait for them to the end."""
AT_ONCE = 6 * 10**7
"""As `WORTH`, for a narrow block to begin in the event loop: about half of it, as the step loop is
not compiled then."""
NARROW = 128
"""Most lanes, of all cells together, of a narrow block. There a turn costs little more than a step,
as the call of a kernel costs more than its work."""
AHEAD_TURNS = 1024
"""Turns for each pair of arms by which an event loop that a block begins with must have come to
pay; else the block starts over with steps."""
_AHEAD_PART = 6
"""Those turns, times this, must fit in the horizon."""
_SURE_ARMS = 5
"""With so many arms nearly every block begun ahead pays; with more it costs its turns in vain more
often, and the horizon must have as many times the room."""
_REST = 8
"""After a trial there is no other for the time that has passed, divided by this."""
_SLEEP = 4
"""As `_REST`, after a look before which no seed compared an arm with itself."""
TRIALS_PART = 32
"""Trials take at most about this part of the steps before and after them."""


class SkipHeuristic:
    """Decides for a block in the step loop when to begin skipping.

    The count of self-comparisons is not enough: a policy that tosses coins also compares an arm
    with itself by chance, and such comparisons cannot be skipped. So the count says only when to
    try, and which seeds are slow, and a trial decides: the event loop goes ahead for some turns,
    with random numbers that nothing else uses, and the comparisons that these turns stand for are
    counted, of all seeds together. The times of trials do not depend on the checkpoints.

    Skipping also has to be worth the compilation of its loop, unless that is at hand. Where the
    policy's comparisons depend on when skipping begins, the rule must not depend on what happens to
    be compiled: it is as if the loop had to be loaded.

    Args:
      job: the job.
    """

    def __init__(self, job: Job) -> None:
        self._job, self._policy = job, job.program.policy_class
        num_arms, delayed = job.cell.policy.num_arms, job.program.delayed
        cost = turn_cost(self._policy, num_arms, is_on_cpu(job.root))
        self._cost = cost * (LATE_COST if delayed else 1.0)
        self._horizon = int(np.max(np.asarray(job.cell.checkpoints)))
        self._by_votes = job.cell.poll is not None
        self._measure(job)
        self._ahead = AHEAD_TURNS * (num_arms * (num_arms - 1) // 2)
        self._seen: list[tuple[np.ndarray, np.ndarray]] = []
        self._missing = 0.0
        self._looked = 0, np.zeros(())
        self._rests_until = self._sleeps_until = 0
        self._marks = [(0, np.zeros(())), (0, np.zeros(()))]

    def narrow(self, job: Job, order: np.ndarray) -> None:
        """Goes on with some lanes of the block, by their places, (S,) or (cells, S)."""
        self._job = job
        self._measure(job)
        self._looked = self._looked[0], _taken(self._looked[1], order)
        self._marks = [(t, _taken(votes, order)) for t, votes in self._marks]

    def _measure(self, job: Job) -> None:
        """Sets the number of lanes, and what is counted in steps of all of them."""
        self._lanes = job.cell.points.size * job.lanes
        self._each = self._lanes * job.cell.policy.num_arms
        trial = self._cost * (TRIAL_TURNS + TRIAL_HOST / self._each)
        self._between = TRIALS_PART * int(min(trial, self._horizon))

    @property
    def is_soon(self) -> bool:
        """True if the arms are so few that most of the horizon may be skipped; where votes are the
        clock, always, as runs are short."""
        return self._by_votes or self._ahead * _AHEAD_PART <= self._horizon

    def goes_ahead(self, has_steps: Callable[[], bool]) -> bool:
        """True if the block is to begin with the event loop, instead of steps, so that only one
        loop is compiled; `has_steps` tells that the step loop is at hand. Never where the price of
        a turn is unknown, as the cost of turns in vain would be."""
        narrow = self._lanes <= NARROW and not (self._job.program.delayed or self._by_votes)
        room = self._ahead * self._cost * self._job.cell.policy.num_arms / _SURE_ARMS
        fits = self.is_soon and has_price(self._policy) and room <= self._horizon
        fits = fits and self._horizon * self._each >= AT_ONCE
        return narrow and fits and (is_drawn(self._policy) or not has_steps())

    def has_shown(self, lanes: EventLane) -> bool:
        """False if an event loop that the block began with does not pay in the second half of its
        first turns, by its lanes."""
        turns, due = np.array(lanes.turns), self._ahead * (1 + len(self._seen)) / 2
        if len(self._seen) == 2 or turns.max() < due:
            return True
        self._seen.append((turns, np.array(lanes.t)))
        if len(self._seen) == 1:
            return True
        turns, passed = (after - before for before, after in zip(*self._seen, strict=True))
        # starting over costs too much to charge for slots that would wait
        return self._pays(turns / np.maximum(passed, 1), self._horizon)

    def following(self, t: int) -> int:
        """The time of the first look after time t: looks become rarer, as each ends a call, and
        there is none where too little is left for a trial, or soon after one that saw nothing."""
        gap = TRIAL << max((t // (_REST * TRIAL)).bit_length() - 1, 0)
        look = max(t - t % gap + gap, self._sleeps_until)
        return look if look + self._between < self._horizon else self._horizon

    def is_over(self, setups: Setup, lanes: StepLane, t: int) -> bool:
        """True if skipping pays from now on; to be called at all times of `following`.

        Args:
          setups, lanes: of the block, at time t.
          t: the time.
        """
        # a copy: the next chunk of steps is given the lanes' memory
        (since, before), self._looked = self._looked, (t, np.array(lanes.selves))
        selves = self._looked[1] - before
        if not selves.any():
            self._sleeps_until = t + t // _SLEEP
        left = self._left(lanes, t)
        longest = float(np.max(left))
        if t < self._rests_until or longest <= self._between:
            return False
        shares = 1.0 - selves / (t - since)
        if not self._pays(shares, left, t):
            return False
        if not self._is_worth_its_compilation(setups, lanes, longest * self._each):
            return False
        self._rests_until = t + max(t // _REST, self._between)
        # a trial is too short to tell a slow seed from one that has a burst of turns
        more = np.mean(self._tried(setups, lanes, t) - shares, axis=-1, keepdims=True)
        return self._pays(np.minimum(shares + np.maximum(more, 0.0), 1.0), left, t)

    def _is_worth_its_compilation(self, setups: Setup, lanes: StepLane, left: float) -> bool:
        """True if the event loop need not be compiled, or is worth it, by the comparisons left in
        the block, times arms, and those of blocks before in which it was not."""
        if is_drawn(self._policy):
            return left > WORTH * _LOADING
        at, program = (np.int32(0), np.int32(0)), self._job.program
        if events.begin.is_at_hand(self._job.cell, setups, lanes, *at, program=program):
            return True
        key = program, self._job.cell.policy.num_arms
        _missed[key] += max(left - self._missing, 0.0)  # where votes are the clock, more is seen
        self._missing = max(left, self._missing)
        return _missed[key] > WORTH

    def _left(self, lanes: StepLane, t: int) -> float | np.ndarray:
        """Steps that the block has left; where votes are the clock, that each seed has left, until
        it has cast them at its rate of late: since a time that is a quarter to a half of t."""
        cell, counted = self._job.cell, lanes.ballots
        if cell.poll is None or counted is None:
            return self._horizon - t
        votes = np.array(counted.votes)
        since, before = self._marks[0]
        if t >= 2 * self._marks[1][0]:
            self._marks = [self._marks[1], (t, votes)]
        each = votes_left(cell, counted) * (t - since) / np.maximum(votes - before, 0.5)
        return np.minimum(each, self._horizon - t)

    def _tried(self, setups: Setup, lanes: StepLane, t: int) -> np.ndarray:
        """Turns per comparison of each seed in a trial: (lanes,) or (cells, lanes), at most 1."""
        job = self._job
        job.compiles()
        end = np.full(job.cell.checkpoints.shape, min(t + TRIAL, self._horizon), np.int32)
        times = placed((end, np.zeros(job.cell.points.shape, np.int32)), job.root)
        cell = job.cell._replace(checkpoints=times[0], points=times[1])
        setups = apart(setups, ~t)  # never a time: the decision is independent of the runs to come
        block = events.begin(cell, setups, lanes, np.int32(t), np.int32(0), program=job.program)
        turns, chunk = [], np.int32(TRIAL_TURNS)
        for first in range(0, job.lanes, job.slots):
            start = min(first, job.lanes - job.slots)
            slots = events.occupy(block, np.int32(start), number=job.slots, program=job.program)
            lane = events.advance(cell, slots, chunk, program=job.program).lane
            passed = np.maximum(np.asarray(lane.t) - t, 1)  # 0 where all votes are cast
            each = np.asarray(lane.turns) / passed
            turns.append(each[..., first - start :])
        return np.concatenate(turns, axis=-1)

    def _pays(self, rates: np.ndarray, left: float | np.ndarray, t: float = 0.0) -> bool:
        """True if so many turns per comparison, (lanes,) or (cells, lanes), cost less than steps in
        the comparisons that are left, of all seeds or of each, after t.

        The last seeds go through fewer and fewer slots if these are worth a loop, or t is 0.
        """
        job = self._job
        turns = last = rates * left + FIRST_TURNS
        numbers: Sequence[int] = job.slot_numbers
        if t and float(np.max(left)) * self._each <= TAIL_WORTH:
            numbers = [job.slots]
            # the rate of a seed that has begun to be quiet falls as 1 / t
            last = np.where(rates < 1.0, rates * t * np.log1p(left / t) + FIRST_TURNS, turns)
        spent = _cost(turns, last, numbers) + HOST * job.lanes / self._each
        steps = np.broadcast_to(left, turns.shape)
        return self._cost * spent < _cost(steps, steps, widths(job))


def _cost(needed: np.ndarray, last: np.ndarray, numbers: Sequence[int]) -> float:
    """Time until seeds have made the turns or steps that each needs, (lanes,) or (cells, lanes), at
    a time of 1 for one of them.

    As many seeds as the first of `numbers` run side by side. One that is done makes room for the
    next, so that the mean over seeds counts; the last ones, which need `last`, go through fewer and
    fewer places.
    """
    slowest = np.sort(last, axis=-1)[..., ::-1]
    now = np.mean(needed, axis=-1) * needed.shape[-1] / numbers[0]  # when no seed waits
    cost = (numbers[0] + FLOOR) * now
    for number, fewer in zip(numbers, [*numbers[1:], 0], strict=True):
        end = np.maximum(now, slowest[..., fewer])
        cost, now = cost + (number + FLOOR) * (end - now), end
    return float(np.max(cost))


def _taken(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Some lanes of an array, unless it has none yet."""
    return np.take_along_axis(values, order, axis=-1) if values.ndim else values
