"""Runs blocks of lanes, one at a time on each device, and stops between chunks on request."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from time import perf_counter
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxduel.errors import InputError
from jaxduel.interrupts import Workers
from jaxduel.policies.base import Batch, Duel, Pull, PullBatch
from jaxduel.policies.registry import is_of_package
from jaxduel.simulation import ballots, rounds, steps
from jaxduel.simulation.cells import Cell, Program
from jaxduel.simulation.compilation_cache import warn_of_failure
from jaxduel.simulation.compiling import shared
from jaxduel.simulation.devices import Device, placed
from jaxduel.simulation.event_blocks import run_events
from jaxduel.simulation.jobs import CALL_SECONDS, Job, Recorded
from jaxduel.simulation.lanes import Setup, set_up
from jaxduel.simulation.narrowing import Narrowing
from jaxduel.simulation.skip_heuristic import SkipHeuristic
from jaxduel.simulation.tallies import Tallies, of_problem

STEPS_PER_CALL = 4096
FEWEST_STEPS = 64
BRIEF_SECONDS = 4.0
"""Time spent on a program's quickly compiled steps, compilation included, after which the program
is compiled for long runs. Where skipping begins soon, the steps take less."""
_brief_seconds: defaultdict[Program, float] = defaultdict(float)
ROUNDS_PER_CALL = 64
_KINDS = {kind.__name__: kind for kind in (Duel, Pull, Batch, PullBatch)}


class Runner(NamedTuple):
    """A loop over time for blocks: its start and its run."""

    start: Callable[[Job, int], Any]
    """The block whose first seed has that index: its setups, and what changes as it runs."""
    shapes: Callable[[Job], Any]
    """Shapes of a lane."""
    run: Callable[[Job, int], Recorded | None]
    """Runs that block to its horizon; None if `Job.stop` was set before."""
    compile: Callable[[Job], Any]
    """Compiles what `run` calls first of all. It holds no lanes meanwhile: other blocks run, and
    other programs are compiled, at the same time."""


def plan_kind(policy: Any) -> type:
    """The kind of plan that the policy makes: Duel, Pull, Batch or PullBatch.

    It is read from the annotation of `act` for policies of the package; those of users are traced,
    which takes longer than a short run.

    Raises:
      InputError: if the policy's `act` returns something else.
    """
    if is_of_package(type(policy)):
        return _KINDS[type(policy).act.__annotations__["return"]]
    leaves, structure = jax.tree.flatten(policy)
    shapes = tuple((np.shape(x), jax.dtypes.result_type(x)) for x in leaves)
    return _kind(type(policy), structure, shapes)


@cache
def _kind(policy_class: type, structure: Any, shapes: tuple[tuple[Any, Any], ...]) -> type:
    """`plan_kind` by tracing, cached."""

    def plan(policy: Any) -> Any:
        key = jax.random.key(0)
        return policy.act(policy.init(key), key)

    leaves = [jax.ShapeDtypeStruct(*shape) for shape in shapes]
    kind = type(jax.eval_shape(plan, jax.tree.unflatten(structure, leaves)))
    if kind not in _KINDS.values():
        raise InputError(
            f"{policy_class.__name__}.act must return a Duel, Pull, Batch or PullBatch, "
            f"not {kind.__name__}."
        )
    return kind


def runner_for(kind: type) -> Runner:
    """The loop for a kind of plan."""
    return STEPS if kind in (Duel, Pull) else ROUNDS


def _run_steps(job: Job, first: int) -> Recorded | None:
    """Runs a block of a policy that makes one comparison or pull at a time: step by step, and from
    one informative comparison to the next once that pays."""
    setups, lanes = STEPS.start(job, first)
    cell = _timeless(job.cell)
    stacked, skips = job.program.stacked, job.program.skips
    times = np.asarray(job.cell.checkpoints)[..., : int(np.max(np.asarray(job.cell.points)))]
    first_ones: list[Tallies] = []
    settling, begin = SkipHeuristic(job), 0
    number, ticked = FEWEST_STEPS, 0
    narrowing = Narrowing(job)
    has_steps = partial(_has_steps, cell, setups, lanes, job.program)
    if skips and settling.goes_ahead(has_steps):
        ahead = job._replace(slots=job.lanes)
        record = run_events(ahead, setups, lanes, 0, 0, [], settling.has_shown)
        if record is not None:
            return record
        job.compiles()
        setups, lanes = STEPS.start(job, first)
    for time in times[0] if stacked else times:
        while begin < time:
            if job.stop.is_set():
                return None
            look = settling.following(begin) if skips else begin + STEPS_PER_CALL
            most = number
            if job.cell.poll is not None:
                narrowed = narrowing.narrower(job, setups, lanes, begin)
                if narrowed is not None:
                    job, setups, lanes, order = narrowed
                    cell = _timeless(job.cell)
                    settling.narrow(job, order)
                left = int(ballots.votes_left(job.cell, lanes.ballots).max())
                if left == 0:
                    break
                most = min(number, max(left, FEWEST_STEPS))
            end, called = min(look, int(time), begin + most), perf_counter()
            bounds = np.int32(begin), np.int32(end)
            brief = skips and settling.is_soon and _brief_seconds[job.program] < BRIEF_SECONDS
            advance = steps.advance.brief if brief else steps.advance
            lanes = advance(cell, setups, lanes, *bounds, program=job.program)
            jax.block_until_ready(lanes.tallies.plays)
            seconds = perf_counter() - called
            _brief_seconds[job.program] += seconds if brief else 0.0
            slow = seconds > CALL_SECONDS
            number = max(number // 2, FEWEST_STEPS) if slow else min(2 * number, STEPS_PER_CALL)
            made = end if job.cell.poll is None else narrowing.votes_made(job, lanes)
            job.tick(made - ticked)
            begin, ticked = end, made
            if skips and begin == look and settling.is_over(setups, lanes, begin):
                record = run_events(job, setups, lanes, begin, made, first_ones)
                return narrowing.whole(record)
        # a copy: the next chunk of steps is given the lanes' memory
        first_ones.append(jax.tree.map(np.array, lanes.tallies))
    axis = 2 if stacked else 1
    record = of_problem(setups, jax.tree.map(lambda *x: np.stack(x, axis), *first_ones))
    return narrowing.whole(Recorded(record, None, ballots.recorded(setups, lanes.ballots)))


def _run_rounds(job: Job, first: int) -> Recorded | None:
    """Runs a block of a policy that commits to batches."""
    setups, block, waiting = ROUNDS.start(job, first)
    number = np.int32(min(job.seeds, job.first_seed + job.num_seeds - first))
    chunk, ticked, finished = np.int32(ROUNDS_PER_CALL), 0, False
    while not finished:
        if job.stop.is_set():
            return None
        block, finished, stuck = rounds.advance(
            job.cell, setups, block, waiting, number, chunk, program=job.program
        )
        ended = int(np.min(np.asarray(block.following))) - job.lanes
        progress = job.amount * ended // job.seeds
        job.tick(progress - ticked)  # compilation is over
        ticked = progress
        if stuck:
            raise InputError(
                f"{type(job.cell.policy).__name__} committed to nothing before the horizon; "
                "simulate to a horizon that it reaches."
            )
    job.tick(job.amount - ticked)
    record = of_problem(setups, block.record)
    return Recorded(record, block.batches, ballots.recorded(setups, block.lanes.ballots))


def _compile_steps(job: Job) -> None:
    """Compiles the step loop, unless a block begins with the one that skips quiet runs."""
    setups, lanes = _shapes(STEPS.start(job, job.first_seed))
    settling, cell, bound = SkipHeuristic(job), _timeless(job.cell), np.int32(0)
    has_steps = partial(_has_steps, cell, setups, lanes, job.program)
    if job.program.skips and settling.goes_ahead(has_steps):
        return
    brief = job.program.skips and settling.is_soon
    advance = steps.advance.brief if brief else steps.advance
    advance.compile(cell, setups, lanes, bound, bound, program=job.program)


def _compile_rounds(job: Job) -> None:
    """Compiles the round loop."""
    of_block, number = _shapes(ROUNDS.start(job, job.first_seed)), np.int32(0)
    rounds.advance.compile(job.cell, *of_block, number, number, program=job.program)


def _has_steps(cell: Cell, setups: Setup, lanes: steps.StepLane, program: Program) -> bool:
    """True if the step loop is at hand, compiled quickly or well."""
    of_block = cell, setups, lanes, np.int32(0), np.int32(0)
    ways = steps.advance.brief, steps.advance
    return any(advance.is_at_hand(*of_block, program=program) for advance in ways)


def _shapes(arrays: Any) -> Any:
    """The shapes of arrays, and where they lie."""
    return jax.tree.map(
        lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding), arrays
    )


def _timeless(cell: Cell) -> Cell:
    """The cell for the step loop: without checkpoints, which the host keeps."""
    return cell._replace(checkpoints=None, points=None)


def _set_up(job: Job, first: int, seeds: int) -> tuple[Setup, jax.Array]:
    """Setups of the seeds from number `first` on, and their keys for first states."""
    indices = np.arange(seeds, dtype=np.int32) + np.int32(first)
    if job.program.stacked:
        indices = np.broadcast_to(indices, (len(job.cell.checkpoints), seeds))
    active = np.asarray(job.cell.policy.active_arms)
    return set_up(job.root, indices, active, job.program.shuffle)


def _of_one_lane(job: Job) -> tuple[Any, Any]:
    """Shapes of the arms and the keys of a block of one lane."""
    size = (len(job.cell.checkpoints), 1) if job.program.stacked else (1,)
    arms = jax.ShapeDtypeStruct((*size, job.cell.policy.num_arms), np.int32)
    return arms, jax.ShapeDtypeStruct(size, job.root.dtype)


def _start_steps(job: Job, first: int) -> tuple[Setup, steps.StepLane]:
    """`Runner.start` of single comparisons or pulls."""
    setups, keys = _set_up(job, first, job.lanes)
    lanes = steps.started(_timeless(job.cell), setups.arms, keys, program=job.program)
    return setups, placed(lanes, job.root)  # if `init` needs none of its arguments


def _start_rounds(job: Job, first: int) -> tuple[Setup, rounds.Block, rounds.RoundLane | None]:
    """`Runner.start` of rounds, with the lanes that wait."""
    setups, keys = _set_up(job, first, job.seeds)
    begun = rounds.started(job.cell, setups.arms, keys, slots=job.lanes, program=job.program)
    return setups, *placed(begun, job.root)


def _shapes_of_step(job: Job) -> steps.StepLane:
    return steps.started.shapes(_timeless(job.cell), *_of_one_lane(job), program=job.program)


def _shapes_of_round(job: Job) -> rounds.RoundLane:
    block, _ = rounds.started.shapes(job.cell, *_of_one_lane(job), slots=1, program=job.program)
    return block.lanes


STEPS = Runner(_start_steps, _shapes_of_step, _run_steps, _compile_steps)
ROUNDS = Runner(_start_rounds, _shapes_of_round, _run_rounds, _compile_rounds)


@contextmanager
def placed_on(device: Device, job: Job) -> Iterator[Job]:
    """Context in which this thread runs a job on a device; the job, with its data there."""
    with jax.default_device(device), shared(device):
        cell, root = jax.device_put((job.cell, job.root), device)
        yield job._replace(cell=cell, root=root)


def run_blocks(
    runner: Runner,
    job: Job,
    num_blocks: int,
    devices: Sequence[Device],
    keep: Callable[[int, Recorded], None],
) -> int:
    """Runs blocks 0 .. num_blocks - 1, each device taking the next one not yet taken.

    Once `job.stop` is set every device stops at the end of its chunk; one that is in the middle of
    a compilation is not waited for.

    Args:
      runner: the loop over time.
      job: shared by the blocks.
      num_blocks: number of blocks.
      devices: to run on.
      keep: takes a finished block's number and record; called from one thread at a time.

    Returns:
      Number of leading blocks that are finished: `num_blocks`, unless the run was interrupted.
    """
    lock = threading.Lock()
    waiting = iter(range(num_blocks))
    finished: set[int] = set()
    failures: list[BaseException] = []
    over = threading.Event()

    def fill(device: Device) -> None:
        with placed_on(device, job) as here:
            while not job.stop.is_set():
                with lock:
                    number = next(waiting, None)
                if number is None:
                    return
                record = runner.run(here, job.first_seed + number * job.seeds)
                with lock:
                    if record is not None and not over.is_set():
                        keep(number, record)
                        finished.add(number)

    def work(which: int) -> None:
        try:
            fill(used[which])
        except BaseException as failure:
            failures.append(failure)
            if len(used) > 1:  # the caller's event is left alone if there are no others to stop
                job.stop.set()

    used = devices[:num_blocks]
    Workers(len(used), work, job.stop).wait()
    with lock:
        over.set()
    warn_of_failure()
    if failures:
        raise failures[0]
    return next((n for n in range(num_blocks) if n not in finished), num_blocks)
