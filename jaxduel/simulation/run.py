"""Runs checked cells in blocks, stacked if there are several, and makes their results."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel import interrupts
from jaxduel.errors import InputError, warn_caller
from jaxduel.policies import registry
from jaxduel.policies.base import Pull, PullBatch, SupportsSkip
from jaxduel.problems import Problem
from jaxduel.problems.piecewise import require_changes_within
from jaxduel.simulation import blocks, checkpoints, events
from jaxduel.simulation.cells import Cell, Program
from jaxduel.simulation.checking import CheckedCell, Settings, horizon_of
from jaxduel.simulation.devices import (
    Device,
    block_memory,
    is_on_cpu,
    is_out_of_memory,
    memory_text,
    warn_if_idle,
)
from jaxduel.simulation.jobs import Job, Recorded
from jaxduel.simulation.keys import root_key
from jaxduel.simulation.lanes import (
    ARRAY_BYTES,
    NARROW_LANES,
    ROUND_BYTES,
    block_seeds,
    default_lanes,
    most_lanes,
)
from jaxduel.simulation.memory_maps import CompileCacheGuard
from jaxduel.simulation.progress import Simulating
from jaxduel.simulation.record import Record
from jaxduel.simulation.result import Result

_GUARD = CompileCacheGuard()


def job_of(
    checked: Sequence[CheckedCell],
    settings: Settings,
    *,
    stacked: bool,
    roots: Sequence[jax.Array] | None = None,
    points: int = 1,
) -> Job:
    """The job of simulating cells, with its number of lanes; arguments as in `prepare`."""
    points = checkpoints.padded_size(max(points, *(len(c.grid) for c in checked)))
    runner = blocks.runner_for(checked[0].kind)
    devices, lanes, share = _devices(settings), settings.lanes, settings.num_seeds
    platform = devices[0].platform
    among = any(c.among.sum() > 1 for c in checked)
    with_ties = any(c.knows_ties for c in checked)
    delayed = any(c.delay > 1 for c in checked)
    cells = [c.to_cell(points, among, with_ties, delayed) for c in checked]
    job = Job(
        cell=_stack(cells, runner) if stacked else cells[0],
        first_seed=settings.first_seed,
        program=Program(
            policy_class=type(checked[0].policy),
            stacked=stacked,
            shuffle=settings.shuffle_arms,
            pairs=settings.counts_pairs,
            outcomes=settings.record_outcomes,
            delayed=delayed,
            skips=_skips(checked[0], settings),
            among=among,
        ),
        root=root_key(settings.seed, settings.prng) if roots is None else jnp.stack(roots),
        num_seeds=settings.num_seeds,
        lanes=1,
        seeds=1,
        slots=1,
        tick=lambda _: None,
        compiles=lambda: None,
        stop=settings.stop or threading.Event(),
    )
    if lanes is None:
        shapes = runner.shapes(job)
        memory = settings.memory_budget or block_memory(devices)
        if platform != "cpu":
            share = -(-share // len(devices))
        array_bytes = ROUND_BYTES if runner is blocks.ROUNDS else ARRAY_BYTES
        lanes = default_lanes(shapes, points, platform, memory, share, array_bytes)
        seeds = block_seeds(lanes, share, len(devices))
        return with_seeds(_with_lanes(job, lanes, platform), checked[0].kind, seeds)
    elif lanes > NARROW_LANES:
        shapes = runner.shapes(job)
        if lanes > (most := most_lanes(shapes, points)):
            raise InputError(f"lanes must be at most {most:,} for this policy, not {lanes:,}.")
    return _with_lanes(job, lanes, platform)


def _skips(checked: CheckedCell, settings: Settings) -> bool:
    """True if quiet runs are skipped: not those of pulls whose rewards are recorded."""
    skips = bool(settings.skip_quiet) and isinstance(checked.policy, SupportsSkip)
    records = settings.record_outcomes or settings.poll is not None
    return skips and not (checked.kind is Pull and records)


def _with_lanes(job: Job, lanes: int, platform: str) -> Job:
    """The job in blocks of so many lanes."""
    return job._replace(lanes=lanes, seeds=lanes, slots=events.slots_for(lanes, platform))


def _devices(settings: Settings) -> list[Device]:
    """Devices to run on: all local ones unless some are given."""
    return list(settings.devices) if settings.devices is not None else jax.local_devices()


def with_seeds(job: Job, kind: type, seeds: int) -> Job:
    """The job, of policies with plans of this kind, in blocks of so many seeds, a multiple of its
    lanes, if these can be shared: by seeds of policies that play in rounds, on a CPU, unless votes
    are the clock."""
    in_rounds = blocks.runner_for(kind) is blocks.ROUNDS
    may_share = in_rounds and is_on_cpu(job.root) and job.cell.poll is None
    return job._replace(seeds=seeds) if may_share else job


class Prepared(NamedTuple):
    """Checked cells, and the job that simulates them, for any number of runs."""

    checked: tuple[CheckedCell, ...]
    job: Job
    settings: Settings


def prepare(
    policies: Sequence[Any],
    problems: Sequence[Problem],
    horizons: Sequence[float | None],
    settings: Settings,
    *,
    stacked: bool,
    times: Sequence[Any] | None = None,
    delays: Sequence[int] | None = None,
    roots: Sequence[jax.Array] | None = None,
    points: int = 1,
) -> Prepared:
    """Checks cells: one, or several to be stacked into one program.

    Args:
      policies, problems, horizons: of the cells.
      settings: shared by the cells.
      stacked: whether they are one program with an axis for cells.
      times, delays: the checkpoints, and the delay, of each cell, instead of those of `settings`.
      roots: a () typed key for each of several stacked cells, instead of the seed of `settings`:
        then what seed i draws in one cell is independent of what it draws in another.
      points: number of checkpoints that the program has room for, if more than any cell has.

    Raises:
      InputError: for arguments out of range, or cells that cannot be stacked.
    """
    settings = settings.checked()
    checked = _checked(policies, problems, horizons, settings, times, delays)
    job = job_of(checked, settings, stacked=stacked, roots=roots, points=points)
    return Prepared(checked, job, settings)


def _checked(
    policies: Sequence[Any],
    problems: Sequence[Problem],
    horizons: Sequence[float | None],
    settings: Settings,
    times: Sequence[Any] | None = None,
    delays: Sequence[int] | None = None,
) -> tuple[CheckedCell, ...]:
    """Checked cells, by arguments as of `prepare`."""
    if times is None:
        times = [settings.checkpoints] * len(policies)
    if delays is None:
        delays = [settings.delay] * len(policies)
    return tuple(
        CheckedCell(policy, problem, horizon, some, replace(settings, delay=delay))
        for policy, problem, horizon, some, delay in zip(
            policies, problems, horizons, times, delays, strict=True
        )
    )


def run_prepared(
    prepared: Prepared, settings: Settings, keep: Callable[[int, Recorded], None]
) -> int:
    """Simulates prepared cells.

    Args:
      prepared: the cells.
      settings: those that they were prepared with; others may be `num_seeds`, `first_seed`,
        `devices`, `part` and `stop`.
      keep: takes each finished block, as soon as it is finished: the number of its first
        seed, from 0, and its record, padding included.

    Returns:
      The number of seeds that are finished, the first ones.

    Raises:
      KeyboardInterrupt: if it was interrupted before any seed had finished, or stopped before all
        had.
    """
    _GUARD.make_room()
    checked, job = prepared.checked, prepared.job
    job = job._replace(
        first_seed=settings.first_seed,
        num_seeds=settings.num_seeds,
        stop=settings.stop or threading.Event(),
    )
    num_blocks = -(-settings.num_seeds // job.seeds)
    warn_if_idle(settings.devices, num_blocks)
    with interrupts.stops(job.stop), _progress(checked, settings) as shown:
        steps = num_blocks * job.amount
        job = job._replace(tick=lambda n: shown.tick(n / steps), compiles=shown.compiles)
        finished = blocks.run_blocks(
            blocks.runner_for(checked[0].kind),
            job,
            num_blocks,
            _devices(settings),
            lambda number, record: keep(number * job.seeds, record),
        )
    done = min(finished * job.seeds, settings.num_seeds)
    stopped = settings.stop is not None and settings.stop.is_set()
    if done == 0 or (done < settings.num_seeds and stopped):
        raise KeyboardInterrupt
    if done < settings.num_seeds:
        warn_caller(f"interrupted: {done} of {settings.num_seeds} seeds are returned.")
    return done


def compile_ahead(prepared: Prepared, device: Device) -> None:
    """Compiles the programs with which a run of prepared cells begins, for a device."""
    _GUARD.make_room()
    with blocks.placed_on(device, prepared.job) as job:
        blocks.runner_for(prepared.checked[0].kind).compile(job)


class Collector(Protocol):
    """Interface of what a cell's blocks are gathered in."""

    def keep(self, first: int, record: Recorded) -> None:
        """Takes the record of a block, on the host, padding included; `first` is its first seed's
        number, from 0."""
        ...

    def result(self, done: int, lanes: int) -> Any:
        """The result of the first `done` seeds, simulated in blocks of `lanes`."""
        ...


def run_cell(policy: Any, problem: Problem, horizon: float | None, settings: Settings) -> Result:
    """Simulates a cell; arguments as in `prepare`.

    Raises:
      InputError: as `run_collecting`; or the problem changes after the horizon.
      KeyboardInterrupt: as `run_collecting`.
    """
    require_changes_within(problem, horizon_of(policy, horizon))
    prepared = prepare([policy], [problem], [horizon], settings, stacked=False)
    return run_collecting(prepared, _records)[0]


def run_cells(
    policies: Sequence[Any],
    problems: Sequence[Problem],
    horizons: Sequence[float | None],
    settings: Settings,
) -> list[Result]:
    """Simulates cells, those stacked that can share a program; arguments as in `prepare`.

    Raises:
      InputError: as `run_collecting`; or a problem changes after the horizon.
      KeyboardInterrupt: likewise; or after Ctrl-C where there are several programs.
    """
    settings = settings.checked()
    for policy, problem, horizon in zip(policies, problems, horizons, strict=True):
        require_changes_within(problem, horizon_of(policy, horizon))
    checked = _checked(policies, problems, horizons, settings)
    programs: dict[Any, list[int]] = {}
    for number, cell in enumerate(checked):
        programs.setdefault(_program_of(cell), []).append(number)
    todo: list[tuple[list[int], Prepared]] = []
    for numbers in programs.values():
        cells = tuple(checked[number] for number in numbers)
        budget = settings.table_budget and settings.table_budget * len(cells) // len(checked)
        own = replace(settings, table_budget=budget)
        todo.append((numbers, Prepared(cells, job_of(cells, own, stacked=True), own)))
        _tables(todo[-1][1])  # refused, if they are, before anything is computed
    results: dict[int, Result] = {}
    for numbers, prepared in todo:
        results |= zip(numbers, run_collecting(prepared, _records), strict=True)
        if len(todo) > 1 and results[numbers[0]].num_seeds < settings.num_seeds:
            raise KeyboardInterrupt
    return [results[number] for number in range(len(checked))]


def _program_of(checked: CheckedCell) -> tuple[Any, ...]:
    """Equal for cells that can be stacked."""
    cell = checked.to_cell(len(checked.grid), among=False, with_ties=False, delayed=False)
    rounds = blocks.runner_for(checked.kind) is blocks.ROUNDS
    return *_kind_of(cell._replace(checkpoints=None)), None if rounds else checked.grid.tobytes()


def run_collecting(
    prepared: Prepared, collectors: Callable[[Prepared], Sequence[Collector]]
) -> list[Any]:
    """Simulates prepared cells, and makes their results.

    Where the memory of a device ends, it begins again with half the lanes, with a warning once all
    is done.

    Args:
      prepared: the cells.
      collectors: makes a collector for each cell, before anything is computed.

    Raises:
      InputError: before anything is computed; or if lanes that were asked for do not fit a device.
      KeyboardInterrupt: as `run_prepared`.
    """
    settings, asked = prepared.settings, prepared.job.lanes
    while (results := _run_whole(prepared, collectors(prepared))) is None:
        gc.collect()  # the error's traceback and its frames, which hold arrays, refer to each other
        device, lanes = _devices(settings)[0], prepared.job.lanes
        if settings.lanes is not None or lanes == 1:
            raise InputError(
                f"lanes={lanes:,} does not fit the memory of {memory_text(device)}: give fewer "
                "lanes, cells or checkpoints."
            )
        job = _with_lanes(prepared.job, lanes // 2, device.platform)
        prepared = prepared._replace(job=job)
    if prepared.job.lanes < asked:
        warn_caller(
            f"blocks of {asked:,} seeds did not fit the memory of a device: results are those of "
            f"lanes={prepared.job.lanes}."
        )
    return results


def _run_whole(prepared: Prepared, collectors: Sequence[Collector]) -> list[Any] | None:
    """The results of prepared cells; None if a device has too little memory for a block."""
    stacked = prepared.job.program.stacked

    def keep(first: int, block: Recorded) -> None:
        block = block.fetched()
        for i, collector in enumerate(collectors):
            collector.keep(first, jax.tree.map(itemgetter(i), block) if stacked else block)

    try:
        done = run_prepared(prepared, prepared.settings, keep)
    except jax.errors.JaxRuntimeError as error:
        if is_out_of_memory(error):
            return None
        raise
    return [collector.result(done, prepared.job.lanes) for collector in collectors]


def _records(prepared: Prepared) -> list[Record]:
    """Collectors of regret and plays; warns where not all seeds have rows."""
    records, settings = _tables(prepared), prepared.settings
    fewest = min(record.rows for record in records)
    if fewest < settings.num_seeds:
        warn_caller(
            f"tables of {settings.num_seeds:,} seeds would exceed table_budget: regret and plays "
            f"are kept of the first {fewest:,}, mean, std and sem are of all."
        )
    return records


def _tables(prepared: Prepared) -> list[Record]:
    """Collectors of regret and plays.

    Raises:
      InputError: if a single seed's rows exceed the budget.
    """
    checked, settings = prepared.checked, prepared.settings
    batched = blocks.runner_for(checked[0].kind) is blocks.ROUNDS
    budget = settings.table_budget and settings.table_budget // len(checked)
    return [Record(cell, settings, batched, budget) for cell in checked]


def _progress(checked: Sequence[CheckedCell], settings: Settings) -> Simulating:
    """Progress of simulating cells, counted in comparisons or pulls of all seeds, those of quiet
    runs that are skipped included."""
    name = registry.name_of(checked[0].policy)
    where = f"on {checked[0].problem.name}" if len(checked) == 1 else f"in {len(checked)} cells"
    unit = "pulls" if checked[0].kind in (Pull, PullBatch) else "comparisons"
    unit = unit if settings.poll is None else "votes"
    total = settings.num_seeds * sum(c.amount for c in checked)
    return Simulating(f"{name} {where}", name, total, unit, settings.progress, settings.part)


def _stack(cells: Sequence[Cell], runner: blocks.Runner) -> Cell:
    """Stacks cells of one kind into one, with an axis for cells in front."""
    if len({_kind_of(cell) for cell in cells}) > 1:
        raise InputError(
            "identify_many: the policies must be of one class, with the same number of arms, the "
            "same switches and the same parameters given, and the instances of one kind."
        )
    grids = np.stack([c.checkpoints for c in cells])
    if runner is not blocks.ROUNDS and (grids != grids[0]).any():
        raise InputError(
            "identify_many: policies that make one comparison at a time must share the horizon."
        )
    return jax.tree.map(lambda *leaves: np.stack(leaves), *cells)


def _kind_of(cell: Cell) -> tuple[Any, ...]:
    """Class of the policy, structure and shapes of a cell."""
    leaves, structure = jax.tree.flatten(cell)
    return type(cell.policy), structure, tuple(leaf.shape for leaf in leaves)
