"""Runs a block in the event loop, through as many slots as its seeds need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from time import perf_counter

import jax
import numpy as np

from jaxduel.simulation import ballots, events, steps
from jaxduel.simulation.cells import Cell, Program
from jaxduel.simulation.devices import placed
from jaxduel.simulation.jobs import CALL_SECONDS, Job, Recorded
from jaxduel.simulation.lanes import Setup
from jaxduel.simulation.tallies import Tallies, of_problem

TURNS_PER_CALL, FEWEST_TURNS, MOST_TURNS = 64, 16, 512
"""Turns of the first call of the event loop, and most of a later one: the fewer slots fall idle in
a call, the longer the next may be."""
TAIL_SECONDS = 4.0
"""Time that the last seeds of blocks run in more slots than they need before they move to fewer,
unless the loop for these is at hand: compiling it takes about as long. Where regret has a heavy
tail, one seed runs ten times as long as others."""
_tail_seconds: defaultdict[tuple[Program, int, int], float] = defaultdict(float)


def run_events(
    job: Job,
    setups: Setup,
    lanes: steps.StepLane,
    begin: int,
    made: int,
    first_ones: Sequence[Tallies],
    pays: Callable[[events.EventLane], bool] = lambda _: True,
) -> Recorded | None:
    """Runs the rest of a block, from time `begin` on, with quiet runs skipped; `made` is the amount
    of each seed and `first_ones` the records up to then. None if the run is stopped, or once `pays`
    of the seeds in slots is False.
    """
    cell, program, stacked = job.cell, job.program, job.program.stacked
    at = np.int32(begin), np.int32(len(first_ones))
    block = events.begin(cell, setups, lanes, *at, program=program)
    first, size, number = np.int32(0), np.int32(job.lanes), job.slots
    alone = number == job.lanes  # no seed waits for a slot
    enough, at_hand = number, dict[int, bool]()
    if alone:
        seeds = np.broadcast_to(np.arange(number, dtype=np.int32), block.t.shape)
        slots = events.Slots(placed(seeds, job.root), block)
    else:
        slots = events.occupy(block, first, number=number, program=program)
    following = np.full(len(cell.checkpoints) if stacked else (), number, np.int32)
    following = placed(following, job.root)
    total, ticked, idle, turns = job.amount - made, 0, 0, TURNS_PER_CALL
    while True:
        if job.stop.is_set():
            return None
        called = perf_counter()
        slots = events.advance(cell, slots, np.int32(turns), program=program)
        if alone and not pays(slots.lane):
            job.tick(-ticked)
            return None
        if alone and enough < number:
            alone, block, idle = False, slots.lane, 0
            slots = events.occupy(block, first, number=number, program=program)
        if not alone:
            finished = _idle(cell, slots) - idle
            turns = _next_turns(turns, finished / slots.seed.size, perf_counter() - called)
            if finished:
                block, slots, following = events.exchange(
                    cell, block, slots, following, program=program
                )
        seen = slots.lane if alone else block
        running = np.asarray(seen.cursor) < np.asarray(cell.points)[..., None]
        progress = total * int(np.sum(~running)) // running.size
        job.tick(progress - ticked)
        ticked, most = progress, int(np.max(np.sum(running, axis=-1)))
        if most == 0:
            break
        if enough < number:
            slots, number = events.close_up(slots, size, number=enough), enough
        idle = _idle(cell, slots)
        enough = _enough_slots(job, cell, slots, most, perf_counter() - called, at_hand)
    record, before = events.recorded(seen), (slice(None),) * (2 if stacked else 1)
    for number, tallies in enumerate(first_ones):
        tallies = of_problem(setups, tallies)
        for all_times, values in zip(*map(jax.tree.leaves, (record, tallies)), strict=True):
            all_times[(*before, number)] = values
    return Recorded(record, None, ballots.recorded(setups, seen.step.ballots))


def _next_turns(turns: int, idle: float, seconds: float) -> int:
    """Turns of the next call, by those of the last one, the part of its slots that fell idle in it,
    and its time."""
    if idle > 0.25 or seconds > CALL_SECONDS:
        return max(turns // 2, FEWEST_TURNS)
    return turns if idle > 0.0625 else min(2 * turns, MOST_TURNS)


def _idle(cell: Cell, slots: events.Slots) -> int:
    """The number of slots without a seed that runs, of all cells."""
    return int(np.sum(np.asarray(slots.lane.cursor) == np.asarray(cell.points)[..., None]))


def _enough_slots(
    job: Job, cell: Cell, slots: events.Slots, most: int, seconds: float, at_hand: dict[int, bool]
) -> int:
    """The number of slots for the next turns: fewer than now if these hold the seeds that run, and
    the loop for so many is at hand or by now worth its compilation.

    Args:
      job: the job.
      cell: its cell.
      slots: those of now.
      most: the seeds of a cell that run or wait.
      seconds: passed since the last call.
      at_hand: the numbers of slots that were asked for, and whether their loop is at hand.
    """
    program, now = job.program, slots.seed.shape[-1]
    number = min(n for n in job.slot_numbers if n >= min(most, now))
    if number == now:
        return now
    if number not in at_hand:
        given = cell, events.resized(slots, number), np.int32(0)
        at_hand[number] = events.advance.is_at_hand(*given, program=program)
    key = program, cell.policy.num_arms, number
    _tail_seconds[key] += seconds
    return number if at_hand[number] or _tail_seconds[key] >= TAIL_SECONDS else now
