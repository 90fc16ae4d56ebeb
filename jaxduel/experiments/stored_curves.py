"""The store of a paper's runs: a reproduction that is started again goes on where it ended.

Runs are taken from a store only if all that determines their numbers is the same: code, versions
and device by its folder, the rest by the keys of its blocks.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax

import jaxduel
from jaxduel import interrupts
from jaxduel.experiments.curves import Curve, PlannedCurves
from jaxduel.experiments.engine.executor import run_tasks
from jaxduel.experiments.engine.groups import tasks_of
from jaxduel.experiments.engine.identity import environment, identity
from jaxduel.experiments.engine.manifest import Manifest
from jaxduel.experiments.engine.progress import StudyProgress
from jaxduel.experiments.engine.store import Store
from jaxduel.experiments.samples import Sample
from jaxduel.simulation.keys import GENERATORS

_READ = 32
"""Blocks that are kept in memory: curves that run together share them."""


class StoredCurves:
    """Curves and the store of their runs.

    Args:
      folder: folder for stores, one for each code, version and device; it need not exist.
      curves: the curves, in the order in which they are to be simulated.

    Raises:
      InputError: if the folder cannot be written.
    """

    def __init__(self, folder: Path, curves: Sequence[Curve]) -> None:
        self._devices = _devices()
        self._planned = PlannedCurves(curves, self._devices[0].platform)
        here = environment(self._devices[0].device_kind, GENERATORS[0])
        groups = tuple(group.record() for group in self._planned.groups)
        manifest = Manifest({}, groups, jaxduel.__version__, here)
        self._store = Store.create_or_open(folder / identity(here), manifest, join=True)
        self._tasks = tasks_of(self._planned.groups)
        wanted = {task.key for task in self._tasks}
        self._finished = self._store.finished() & wanted
        self._lacks = {curve.key: self._planned.tasks(curve) - self._finished for curve in curves}
        self._read = lru_cache(_READ)(self._store.read)

    def __str__(self) -> str:
        return str(self._store.folder)

    @property
    def made_by(self) -> dict[str, Any]:
        """Versions, code and machine of the runs, as the store was begun."""
        manifest = self._store.manifest
        return {"jaxduel": manifest.version, **manifest.environment}

    def num_blocks(self) -> int:
        """Number of blocks of the curves that are stored."""
        return len(self._store.finished() & {task.key for task in self._tasks})

    def stored(self) -> dict[tuple[str, str], Sample]:
        """The samples of the curves that are complete, by key."""
        complete = [curve for curve in self._planned.curves if not self._lacks[curve.key]]
        complete.sort(key=lambda curve: self._planned.places(curve)[0].group.key)
        return {curve.key: self._sample(curve) for curve in complete}

    def progress(self, shown: bool | None) -> StudyProgress:
        """The progress of the missing runs; `shown` as in `jaxduel.simulate`."""
        return StudyProgress("figures", self._tasks, self._finished, shown)

    def missing(self, progress: StudyProgress) -> Generator[tuple[tuple[str, str], Sample]]:
        """Simulates the missing runs.

        Yields:
          The key of a curve that is complete now, and its sample.

        Raises:
          KeyboardInterrupt: after Ctrl-C.
        """
        left = [curve for curve in self._planned.curves if self._lacks[curve.key]]
        stop = threading.Event()
        with interrupts.stops(stop):
            for task, here in run_tasks(
                self._store, self._tasks, self._devices, stop, finish=False
            ):
                progress.done(task.key, here=here)
                for curve in left:
                    self._lacks[curve.key].discard(task.key)
                for curve in [curve for curve in left if not self._lacks[curve.key]]:
                    left.remove(curve)
                    yield curve.key, self._sample(curve)
            if left:
                raise KeyboardInterrupt

    def _sample(self, curve: Curve) -> Sample:
        return self._planned.sample(curve, self._read)


def _devices() -> list[Any]:
    """The devices of the CPU, even if there is a GPU: steps with few lanes are faster on it."""
    try:
        return jax.local_devices(backend="cpu")
    except RuntimeError:  # the CPU is not among the platforms the user chose
        return jax.local_devices()
