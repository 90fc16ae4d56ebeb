"""The store of a paper's runs: a reproduction that is started again resumes where it ended.

Runs are taken from a store only if everything that determines their numbers is the same: the
store's folder stands for code, versions and device, the keys of its blocks for the rest.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Generator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import jaxduel
from jaxduel import interrupts
from jaxduel.runs import Runs
from jaxduel.simulation.keys import GENERATORS
from jaxduel.studies.engine.groups import Task, tasks_of
from jaxduel.studies.engine.identity import environment, identity
from jaxduel.studies.engine.machines import Machines, local
from jaxduel.studies.engine.manifest import Manifest
from jaxduel.studies.engine.progress import StudyProgress
from jaxduel.studies.engine.store import Store
from jaxduel.studies.engine.stores import Stores
from jaxduel.studies.planned import Planned
from jaxduel.studies.wanted import Wanted

_READ = 32
"""Blocks that are kept in memory: runs of one group share them."""


class Blocks(NamedTuple):
    """Numbers of blocks: stored before a call, stored now, and wanted."""

    before: int = 0
    stored: int = 0
    wanted: int = 0


class StoredRuns:
    """Wanted runs, and their store.

    Args:
      folder: folder for stores, one for each code, version and device; it need not exist.
      wanted: the wanted runs, in the order of simulation.
      machines: where the missing runs are simulated; the CPU devices by default.

    Attributes:
      machines: where they are simulated.
      store: the store.
      tasks: all wanted tasks.
      before: number of wanted blocks that were stored before.

    Raises:
      InputError: if the folder cannot be written.
    """

    def __init__(
        self, folder: Path, wanted: Sequence[Wanted], machines: Machines | None = None
    ) -> None:
        self.machines = machines or local()
        kind = dict(self.machines.kind)
        self._planned = Planned(wanted, kind.pop("platform"))
        del kind["memory"]  # blocks have the size of the wanted runs
        here = {**environment(kind["device"], GENERATORS[0]), **kind}
        groups = tuple(group.record() for group in self._planned.groups)
        manifest = Manifest({}, groups, jaxduel.__version__, here)
        self.store = Store.create_or_open(
            folder / identity(here), manifest, join=True, locks=self.machines.shard is None
        )
        self.tasks = tasks_of(self._planned.groups)
        finished = self._finished()
        self.before = len(finished)
        self._lacks = {one.key: self._planned.tasks(one) - finished for one in wanted}
        self._read = lru_cache(_READ)(self.store.read)

    def __str__(self) -> str:
        return str(self.store.folder)

    @property
    def made_by(self) -> dict[str, Any]:
        """Versions, code and machine of the runs when the store was begun."""
        manifest = self.store.manifest
        return {"jaxduel": manifest.version, **manifest.environment}

    def blocks(self) -> Blocks:
        """Numbers of the wanted blocks."""
        return Blocks(self.before, len(self._finished()), len(self.tasks))

    def is_complete(self) -> bool:
        """True if no wanted runs are missing."""
        return not any(self._lacks.values())

    def has_some(self) -> bool:
        """True if some wanted runs are complete."""
        return not all(self._lacks.values())

    def arrived(self, task: Task) -> None:
        """Records that the block of a task is stored now."""
        for lacks in self._lacks.values():
            lacks.discard(task.key)

    def stored(self) -> dict[tuple[str, str], Runs]:
        """The runs that are complete, by key."""
        complete = [one for one in self._planned.wanted if not self._lacks[one.key]]
        complete.sort(key=lambda one: self._planned.places(one)[0].group.key)
        return {one.key: self._runs(one) for one in complete}

    def progress(self, shown: bool | None) -> StudyProgress:
        """The progress of the missing runs; `shown` as in `jaxduel.simulate`."""
        return StudyProgress("figures", self.tasks, self._finished(), shown)

    def missing(
        self, progress: StudyProgress, until: float = math.inf
    ) -> Generator[tuple[tuple[str, str], Runs]]:
        """Simulates the missing runs that can be finished by `until` (`time.monotonic`).

        Yields:
          A key whose runs are now complete, and the runs.

        Raises:
          KeyboardInterrupt: after Ctrl-C.
        """
        left = [one for one in self._planned.wanted if self._lacks[one.key]]
        if not left or time.monotonic() >= min(until, self.machines.end):
            return
        for _ in simulated([self], self.machines, progress, self.tasks, until):
            for one in [one for one in left if not self._lacks[one.key]]:
                left.remove(one)
                yield one.key, self._runs(one)

    def _finished(self) -> set[str]:
        return self.store.finished() & {task.key for task in self.tasks}

    def _runs(self, one: Wanted) -> Runs:
        return self._planned.runs(one, self._read)


def end_of(core_hours: float, machines: Machines) -> float:
    """The time (`time.monotonic`) at which machines have worked for so many hours in all."""
    return time.monotonic() + 3600 * core_hours / machines.number


def simulated(
    all_runs: Sequence[StoredRuns],
    machines: Machines,
    progress: StudyProgress,
    tasks: Sequence[Task],
    until: float = math.inf,
) -> Generator[tuple[Task, float | None]]:
    """Simulates what is missing in several stores, as one queue of tasks.

    Args:
      tasks: all tasks, in the order in which they begin.
      until: time (`time.monotonic`) by which blocks must be finished.

    Yields:
      A task as soon as its block is stored, and the seconds that it took here, if it did.

    Raises:
      KeyboardInterrupt: after Ctrl-C, if some are missing.
    """
    store = Stores((one.store, one.tasks) for one in all_runs)
    stop, here = threading.Event(), machines.client is None
    with interrupts.stops(stop):
        own = machines.share(tasks)
        for task, took in machines.run(store, own, stop, finish=False, until=until):
            progress.done(task.key, here=here and took is not None)
            for one in all_runs:
                one.arrived(task)
            yield task, took
        if stop.is_set() and not all(one.is_complete() for one in all_runs):
            raise KeyboardInterrupt
