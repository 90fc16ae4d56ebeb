"""`run_sweep`: a grid, stored in a folder as it runs."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import jax

import jaxduel
from jaxduel import interrupts
from jaxduel.errors import AssumptionWarning, InputError, warn_caller
from jaxduel.files import as_path
from jaxduel.problems import DuelingProblem
from jaxduel.progress import Progress
from jaxduel.simulation.checking import Settings, broken_by
from jaxduel.simulation.devices import MEMORY_BYTES, Device
from jaxduel.studies.engine import cluster
from jaxduel.studies.engine.cells import StudyCell, policy_of, problem_of
from jaxduel.studies.engine.groups import Group, Task, tasks_of
from jaxduel.studies.engine.identity import environment
from jaxduel.studies.engine.machines import connected
from jaxduel.studies.engine.manifest import Manifest, read_manifest
from jaxduel.studies.engine.planning import plan
from jaxduel.studies.engine.profile import Seconds
from jaxduel.studies.engine.progress import StudyProgress
from jaxduel.studies.engine.store import Store
from jaxduel.studies.sweep.describing.cells import expand
from jaxduel.studies.sweep.describing.grid import Grid
from jaxduel.studies.sweep.describing.grid_file import read_grid


@dataclass(frozen=True)
class Outcome:
    """Outcome of a sweep.

    Attributes:
      folder: its folder.
      finished: number of blocks that are stored.
      blocks: number of blocks of the whole sweep.
      interrupted: whether a signal ended it.
      seconds: seconds that each part of the work took in this process, added up over its threads
        (`jaxduel.studies.engine.profile.PARTS`).

    Example:
      >>> from pathlib import Path
      >>> from jaxduel.studies.sweep import Outcome
      >>> Outcome(folder=Path("results"), finished=3, blocks=12).complete
      False
    """

    folder: Path
    finished: int
    blocks: int
    interrupted: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def complete(self) -> bool:
        """True if all blocks are stored."""
        return self.finished == self.blocks


def run_sweep(
    grid: Grid | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    extend_seeds: bool = False,
    devices: Sequence[Device] | None = None,
    scheduler: str | None = None,
    shard: tuple[int, int] | None = None,
    until: datetime | None = None,
    progress: bool | None = None,
) -> Outcome:
    """Runs a grid, or resumes it, and stores each block as soon as it is finished.

    A sweep may be killed at any moment and run again: stored blocks are kept, and the data set
    (`jaxduel.open_sweep`) is the same, bit for bit, as after an undisturbed run. Any number of
    processes may work on one folder. After the first SIGINT or SIGTERM no more blocks are begun;
    blocks in flight are finished, in a command or on `local:N` only if it takes no longer than two
    seconds.

    Args:
      grid: the grid, or the TOML file that describes it.
      folder: folder for the results; new, or the folder of the same grid.
      extend_seeds: whether a folder with fewer seeds of the same grid is extended.
      devices: devices that run blocks, one at a time on each; all local ones by default.
      scheduler: scheduler of a dask cluster that runs the blocks instead
        (`jaxduel.studies.engine.cluster`).
      shard: (i, n) for the i-th of n processes, from 1, that each run every n-th block. Nothing is
        locked, for file systems without locks: no two processes may have the same i.
      until: time by which to end (local time if it has no zone): no block is begun that would end
        later.
      progress: as in `jaxduel.simulate`.

    Returns:
      The outcome; not complete if a signal or `until` stopped the run early, or other shards are
      not complete.

    Raises:
      InputError: for a grid that cannot be run, or a folder that holds something else.
      StorageError: if a block cannot be stored; stored blocks are kept.
      ConnectionError: if the scheduler was lost; stored blocks are kept.
      MemoryError: if one seed of a cell does not fit the device.

    Example:
      >>> from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, run_sweep
      >>> rucb, cyclic = PolicyEntry("rucb"), ProblemEntry(name="cyclic")
      >>> grid = Grid(policies=rucb, problems=cyclic, horizons=1000, num_seeds=4)
      >>> outcome = run_sweep(grid, "results")
      >>> outcome.complete, outcome.finished, outcome.blocks
      (True, 1, 1)
    """
    Settings(devices=devices).checked()
    grid = grid if isinstance(grid, Grid) else read_grid(grid)
    folder = as_path(folder, "run_sweep")
    stop, seconds = threading.Event(), Seconds()
    planning = None if progress else progress  # shown only if it takes long
    where = list(devices) if devices is not None else jax.local_devices()
    patient = scheduler is not None and cluster.patience_of(scheduler) == math.inf
    with (
        interrupts.stops(stop, terminate=True, patient=patient),
        connected(where, stop=stop, scheduler=scheduler, shard=shard, until=until) as machines,
    ):
        with seconds.of("plan"):
            store, every = _opened(
                grid, folder, extend_seeds, machines.kind, machines.shard is None, planning
            )
            own = machines.share(every)
            shown = StudyProgress("sweep", own, store.finished(), progress)
        with closing(store), shown, seconds.compilations():
            for task, took in machines.run(store, own, stop, seconds=seconds):
                shown.done(task.key, here=scheduler is None and took is not None)
    return Outcome(folder, len(store.finished()), len(every), stop.is_set(), seconds.spent)


def _opened(
    grid: Grid,
    folder: Path,
    extend_seeds: bool,
    kind: Mapping[str, Any],
    locks: bool = True,
    progress: bool | None = False,
) -> tuple[Store, tuple[Task, ...]]:
    """The store, and all tasks; `kind` has the platform, device and memory for a block, and
    environment fields that differ from this process's."""
    there = {name: value for name, value in kind.items() if name != "platform"}
    with suppress(InputError):  # a new folder, or a folder that is refused below
        begun = read_manifest(folder).environment
        memory = begun.get("memory")
        there["memory"] = memory if isinstance(memory, int) else there["memory"]
    groups = groups_of(grid, kind["platform"], there["memory"], progress)
    warn_of_assumptions(groups, progress)
    manifest = Manifest(
        grid=grid.to_json(),
        groups=tuple(group.record() for group in groups),
        version=jaxduel.__version__,
        environment={
            **environment(kind["device"], grid.prng, identifies=grid.identify),
            **there,
        },
    )
    store = Store.create_or_open(folder, manifest, extend=extend_seeds, locks=locks)
    return store, tasks_of(groups)


MOST_BLOCKS = 1_000_000
"""Most blocks of a sweep: each is a file."""


def groups_of(
    grid: Grid, platform: str, memory: int = MEMORY_BYTES, progress: bool | None = False
) -> tuple[Group, ...]:
    """The grid's cells in groups that run together; platform and memory as in `plan`, progress as
    in `jaxduel.simulate`.

    Raises:
      InputError: for too many cells or blocks; from `expand` and `plan`.
    """
    chosen = {"keep": grid.keep, "lanes": grid.lanes, "platform": platform, "memory": memory}
    groups = plan(expand(grid, progress), grid.num_seeds, **chosen, progress=progress)
    blocks = sum(math.ceil(group.num_seeds / group.block_seeds) for group in groups)
    if blocks > MOST_BLOCKS:
        raise InputError(
            f"the grid takes {blocks:,} blocks of seeds, and at most {MOST_BLOCKS:,} are planned: "
            f"fewer seeds than {grid.num_seeds:,} are needed, or several grids, each with a folder "
            "of its own."
        )
    return groups


def warn_of_assumptions(groups: Sequence[Group], progress: bool | None = False) -> None:
    """Warns if an instance breaks assumptions behind the guarantees of policies: once for each
    assumption and problem, with the policies that make it."""
    cells = [cell for group in groups for cell in group.cells]
    with Progress("assumptions", len(cells), "cells", progress) as shown:
        makers = _makers(cells, shown)
    for sentence, policies in sorted(makers.items()):
        warn_caller(f"{', '.join(policies)}: {sentence}", AssumptionWarning)


def _makers(cells: Sequence[StudyCell], shown: Progress) -> dict[str, dict[str, None]]:
    """The policies that make broken assumptions, by the sentence on the assumption."""
    makers: dict[str, dict[str, None]] = {}
    seen: set[tuple[Any, ...]] = set()
    for cell in cells:
        shown.tick()
        problem = problem_of(cell)
        assumed = getattr(policy_of(cell), "assumes", ())
        asked = cell.policy, assumed, cell.problem
        if asked in seen or not isinstance(problem, DuelingProblem):
            continue
        seen.add(asked)
        for sentence in broken_by(problem, assumed, cell.ties):
            makers.setdefault(sentence, {})[cell.policy] = None
    return makers
