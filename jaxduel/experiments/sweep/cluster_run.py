"""Hands the tasks of a sweep to the workers of a cluster, until all are stored."""

from __future__ import annotations

import dataclasses
import math
import os
import queue
import threading
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from jaxduel.errors import InputError, warn_caller
from jaxduel.experiments.engine.executor import _Queue as TaskQueue
from jaxduel.experiments.engine.groups import Task
from jaxduel.experiments.engine.progress import StudyProgress
from jaxduel.experiments.engine.same import warn_of_environment
from jaxduel.experiments.engine.store import Store
from jaxduel.experiments.sweep.cluster_calls import greetings, packed, unpacked
from jaxduel.experiments.sweep.cluster_worker import Answer, digest_of

LOOK_SECONDS = 1.0
"""Time between the client's checks of its workers and of blocks that other processes finished."""
_WAIT_SECONDS = 0.2
_GATHER_SECONDS = 5.0


class _Flight(NamedTuple):
    """A task sent to a worker."""

    task: Task
    worker: str
    future: Any


class ClusterRun:
    """A sweep on a cluster.

    Args:
      client: a `distributed.Client`.
      store: the store for blocks.
      tasks: all of the sweep.
      progress: counts every finished block.
      stop: once it is set, the blocks in flight are finished and no others begun.
      patience: seconds that they may take then.
    """

    def __init__(
        self,
        client: Any,
        store: Store,
        tasks: Sequence[Task],
        progress: StudyProgress,
        stop: threading.Event,
        patience: float,
    ) -> None:
        self._patience = patience
        self._client, self._store, self._progress, self._stop = client, store, progress, stop
        self._sweep = (os.path.abspath(store.folder), digest_of(store.manifest))
        finished = store.finished()
        self._queue = TaskQueue([task for task in tasks if task.key not in finished])
        self._left = {task.key for task in tasks} - finished
        self._elsewhere: list[Task] = []
        self._flights: dict[str, _Flight] = {}
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._name, self._sent = f"jaxduel-{uuid.uuid4().hex}", 0
        self._threads: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._kinds: set[tuple[Any, ...]] = set()
        self._waited = False
        self._failure: Exception | None = None

    def run(self) -> None:
        """Runs the sweep, or the rest of it; raises what `run_on_cluster` lists."""
        looked, until = -LOOK_SECONDS, math.inf
        try:
            while self._flights or (self._left and not self._ending):
                if self._stop.is_set():
                    until = min(until, time.monotonic() + self._patience)
                if time.monotonic() >= until:
                    break
                if time.monotonic() - looked >= LOOK_SECONDS:
                    self._look_at_workers()
                    self._look_elsewhere()
                    looked = time.monotonic()
                    if self._ending and not self._threads:
                        break  # no worker is left for the blocks in flight
                self._send_out()
                self._collect()
        finally:
            if self._flights and self._client.status == "running":
                self._client.cancel([flight.future for flight in self._flights.values()])
        if self._failure:
            raise self._failure

    @property
    def _ending(self) -> bool:
        return self._failure is not None or self._stop.is_set()

    def _look_at_workers(self) -> None:
        """Updates the known workers, and greets those that have joined."""
        found: dict[str, dict[str, str]] = {}
        try:
            threads: dict[str, int] = self._client.nthreads()
            if not self._ending:
                found = self._greeted([worker for worker in threads if worker not in self._threads])
        except OSError as error:
            raise self._lost() from error
        for greeting in found.values():
            self._compare(greeting)
        known = self._threads.keys() | found.keys()
        self._threads = {worker: num for worker, num in threads.items() if worker in known}
        if not threads and not self._waited and not self._ending:
            warn_of_waiting(self._client)
            self._waited = True

    def _greeted(self, workers: Sequence[str]) -> dict[str, dict[str, str]]:
        try:
            return greetings(self._client, workers)
        except InputError as error:
            self._failure = error
            return {}

    def _compare(self, greeting: Mapping[str, str]) -> None:
        """Warns, once for each kind of worker, where numbers may round differently."""
        kind = tuple(sorted(greeting.items()))
        if kind in self._kinds:
            return
        self._kinds.add(kind)
        there = self._store.manifest
        now = dataclasses.replace(there, environment={**there.environment, **greeting})
        warn_of_environment(self._store.folder, there, now)

    def _look_elsewhere(self) -> None:
        """Checks tasks that other processes had claimed: once one is finished or free, those that
        are finished are counted and the others queued again. A worker that was cut off from the
        scheduler is such a process too."""
        keys = [task.key for task in self._elsewhere]
        if self._ending or not keys or not self._store.wait_for_others(keys, timeout=0.0):
            return
        finished = self._store.finished()
        for task in self._elsewhere:
            if task.key in finished:
                self._done(task)
            else:
                self._queue.give_back(task)
        self._elsewhere = []

    def _send_out(self) -> None:
        """Gives each worker as many tasks as it has threads: none waits at a busy worker while
        another is idle, and few are in flight when the run is stopped."""
        busy = Counter(flight.worker for flight in self._flights.values())
        for worker, threads in self._threads.items():
            number = self._numbers.setdefault(worker, len(self._numbers))
            for _ in range(threads - busy[worker]):
                task = None if self._ending else self._queue.take(number)
                if task is None:
                    return
                self._send(task, worker)

    def _send(self, task: Task, worker: str) -> None:
        call, arguments = packed("perform", *self._sweep, task)
        self._sent += 1
        key = f"{self._name}-{self._sent}"
        future = self._client.submit(
            call, *arguments, key=key, pure=False, workers=[worker], allow_other_workers=True
        )
        self._flights[key] = _Flight(task, worker, future)
        future.add_done_callback(self._ended.put)

    def _collect(self) -> None:
        """Takes the tasks that have ended; waits a little if none has."""
        with suppress(queue.Empty):
            self._take(self._ended.get(timeout=_WAIT_SECONDS))
            while True:
                self._take(self._ended.get_nowait())

    def _take(self, future: Any) -> None:
        if future.status == "cancelled":  # not by this client
            raise self._lost()
        task = self._flights[future.key].task
        if future.status == "error":
            answer = Answer("failed", _error_of(future, task))
        else:
            try:
                answer = unpacked(future.result(timeout=_GATHER_SECONDS))
            except TimeoutError:  # its worker has died with the answer: the task runs again
                self._ended.put(future)
                return
            except InputError as error:
                answer = Answer("failed", error)
        del self._flights[future.key]
        if answer.state == "stored":
            self._done(task)
        elif answer.state == "elsewhere":
            self._elsewhere.append(task)
        elif self._failure is None:
            self._failure = answer.error

    def _done(self, task: Task) -> None:
        self._left.discard(task.key)
        self._progress.done(task.key)

    def _lost(self) -> ConnectionError:
        return ConnectionError(
            f"the scheduler at {address_of(self._client)} is gone, or has dropped the sweep's "
            "tasks: what is stored is whole, and the sweep goes on from it when it is run again."
        )


def address_of(client: Any) -> str:
    """The address of a client's scheduler."""
    return client.scheduler.address


def warn_of_waiting(client: Any) -> None:
    """Warns that there is no worker yet."""
    warn_caller(
        f"the scheduler at {address_of(client)} has no workers yet: the sweep waits for them."
    )


def _error_of(future: Any, task: Task) -> Exception:
    """The error of a task that ended without an answer."""
    from distributed.scheduler import KilledWorker

    error = future.exception()
    if not isinstance(error, KilledWorker):
        return error
    return MemoryError(
        f"{error.allowed_failures + 1} workers in turn died while they had a block of cells such "
        f"as {task.group.cells[0]} in hand: it may be more than their memory can hold."
    )
