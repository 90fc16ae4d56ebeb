"""Sweeps on a cluster: workers of dask.distributed simulate blocks and store them.

The folder is the only state that they share: no block passes through the scheduler or the client.
A block is the same whoever simulates it, so dask runs a task again when its worker is lost or its
file system fails.
"""

from __future__ import annotations

import logging
import math
import os
import pickle
import re
import signal
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import jaxduel
from jaxduel.errors import InputError, warn_caller
from jaxduel.experiments.sweep import cluster_worker
from jaxduel.experiments.sweep.planning import Task
from jaxduel.experiments.sweep.progress import SweepProgress
from jaxduel.experiments.sweep.same import warn_of_environment
from jaxduel.experiments.sweep.store import Store

_LOCAL = re.compile(r"local:([1-9]\d*)")
_PATIENCE_SECONDS = 1.0
"""Time for blocks in flight once a run is stopped, where the worker processes end with it."""
_LOOK_SECONDS = 1.0
"""Time between looks at the workers, and at blocks that other processes had claimed."""
_POLL_SECONDS = 0.01
_RETRIES = 2
"""Times that a task runs again after errors such as those of a file system."""


def patience_of(scheduler: str) -> float:
    """Seconds that blocks in flight may take once a sweep is stopped: infinite where workers
    outlive it, and compile and simulate for others."""
    return _PATIENCE_SECONDS if _LOCAL.fullmatch(scheduler) else math.inf


@contextmanager
def connect(scheduler: str) -> Iterator[Any]:
    """A client of a cluster.

    Args:
      scheduler: an address ("tcp://host:port"), or "local:N" for N processes on this machine. A
        script that starts them must do so beneath `if __name__ == "__main__":`.

    Yields:
      The `distributed.Client`; at the end the processes of "local:N" are gone.

    Raises:
      InputError: if dask.distributed is not installed, or no scheduler answers.
    """
    local = _LOCAL.fullmatch(scheduler)
    if not local and "://" not in scheduler:
        raise InputError(
            f"the scheduler must be an address such as tcp://host:8786, or local:N for N processes "
            f"on this machine, not '{scheduler}'."
        )
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "a cluster needs dask.distributed: pip install 'jaxduel[cluster]'."
        ) from None
    with ExitStack() as stack:
        there = stack.enter_context(_local_cluster(int(local[1]))) if local else scheduler
        try:
            client = Client(there, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"no scheduler answers at {scheduler}: {error}.") from None
        yield stack.enter_context(client)


def platform_of(client: Any, stop: threading.Event) -> dict[str, str] | None:
    """Platform and device of the workers of a cluster, so that a sweep can be planned for them.

    Args:
      client: a client from `connect`.
      stop: ends the waiting where no worker has joined yet.

    Returns:
      "platform" and "device" (its kind) of one of the workers, and its versions of "jax" and
      "jaxlib"; None if it was stopped.

    Raises:
      InputError: if a worker has another version of jaxduel.
    """
    workers = _Workers(client)
    while not stop.is_set():
        for greeting in workers.greet():
            return greeting
        stop.wait(_LOOK_SECONDS)
    return None


def run_on_cluster(
    store: Store,
    tasks: Sequence[Task],
    client: Any,
    progress: SweepProgress,
    stop: threading.Event,
    patience: float = math.inf,
) -> None:
    """Fills a store by the workers of a cluster, as `runner.run_tasks` does with local devices.

    Each worker has as many tasks at a time as it has threads, preferably of programs that it has
    compiled. Workers may come and go: the tasks of a lost one run again on another.

    Args:
      store: the store for blocks, in a folder that all workers see under the same path.
      tasks: all of the sweep.
      client: a client from `connect`.
      progress: counts every finished block.
      stop: once it is set, the blocks in flight are finished and no others begun.
      patience: seconds that they may take then, see `patience_of`.

    Raises:
      InputError: if a worker has another version of jaxduel or does not see the folder, or a
        problem cannot be built there.
      StorageError: if a block cannot be stored.
      MemoryError: if a device is too small for a single seed, or a task's workers died one after
        the other.
      ConnectionError: if the scheduler was lost; the message is one sentence.
    """
    left = [task for task in tasks if task.key not in store.finished()]
    elsewhere: list[Task] = []
    workers, flights = _Workers(client), _Flights(client, store)
    until, look = math.inf, -math.inf
    try:
        while left or elsewhere or flights.sent:
            if stop.is_set():
                left, elsewhere = [], []
                until = min(until, time.monotonic() + patience)
                if time.monotonic() >= until or not workers.threads:
                    return
            if time.monotonic() >= look:
                for greeting in workers.greet():
                    _compare(store, greeting)
                finished = store.finished() if elsewhere else set()
                for task in elsewhere:
                    progress.done(task.key) if task.key in finished else left.append(task)
                elsewhere = []
                look = time.monotonic() + _LOOK_SECONDS
            flights.send(left, workers.threads)
            for task, is_stored in flights.landed():
                progress.done(task.key) if is_stored else elsewhere.append(task)
    finally:
        flights.cancel()


class _Workers:
    """The workers of a cluster, as they come and go.

    Attributes:
      threads: number of threads of each that has been greeted, by its address.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.threads: dict[str, int] = {}

    def greet(self) -> Collection[dict[str, str]]:
        """Greets those that have joined since the last time; warns if there are none at all.

        Returns:
          What `cluster_worker.greet` says of each.

        Raises:
          InputError: if one has another version of jaxduel, or cannot run it.
          ConnectionError: if the scheduler was lost.
        """
        try:
            threads: dict[str, int] = self._client.nthreads()
            joined = [worker for worker in threads if worker not in self.threads]
            found = _greetings(self._client, joined) if joined else {}
        except OSError as error:
            raise _lost(self._client) from error
        known = self.threads.keys() | found.keys()
        self.threads = {worker: num for worker, num in threads.items() if worker in known}
        if not threads:
            there = self._client.scheduler.address
            warn_caller(f"the scheduler at {there} has no workers yet: the sweep waits for them.")
        return found.values()


def _greetings(client: Any, workers: Sequence[str]) -> dict[str, dict[str, str]]:
    """The greetings of workers, without those that have gone meanwhile."""
    _require_version(client)
    call, content = _packed(cluster_worker.greet)
    answers = client.run(call, content, workers=workers, on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, Exception) and not isinstance(answer, OSError):
            raise InputError(
                f"the worker {worker} cannot run jaxduel ({type(answer).__name__}: {answer}): "
                "install what this process has on all workers."
            )
    return {worker: found for worker, found in answers.items() if isinstance(found, dict)}


def _require_version(client: Any) -> None:
    for worker, found in client.get_versions(packages=["jaxduel"])["workers"].items():
        version = found["packages"]["jaxduel"]
        if version != jaxduel.__version__:
            raise InputError(
                f"the worker {worker} has {f'jaxduel {version}' if version else 'no jaxduel'}, and "
                f"the sweep is run by {jaxduel.__version__}: install the same version everywhere."
            )


def _compare(store: Store, greeting: dict[str, str]) -> None:
    """Warns where numbers of a worker may round differently."""
    there = store.manifest
    now = replace(there, environment={**there.environment, **greeting})
    warn_of_environment(store.folder, there, now)


class _Flights:
    """The tasks that workers have in hand.

    Attributes:
      sent: each one's task and worker, by its future.
    """

    def __init__(self, client: Any, store: Store) -> None:
        from distributed import as_completed

        self._client = client
        self._sweep = os.path.abspath(store.folder), cluster_worker.digest_of(store.manifest)
        self._answers = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self._begun: defaultdict[str, set[Hashable]] = defaultdict(set)
        self.sent: dict[Any, tuple[Task, str]] = {}

    def send(self, left: list[Task], threads: dict[str, int]) -> None:
        """Takes from the tasks that are left one for each free thread, so that none waits at a busy
        worker while another is idle, and few are in flight when the run is stopped."""
        busy = Counter(worker for _, worker in self.sent.values())
        for worker, number in threads.items():
            for _ in range(min(number - busy[worker], len(left))):
                task = min(left, key=lambda task: self._cost(task, worker))
                left.remove(task)
                self._begun[worker].add(task.group.program)
                call, content = _packed(cluster_worker.perform, *self._sweep, task)
                placed = {"workers": [worker], "allow_other_workers": True}
                future = self._client.submit(call, content, pure=False, retries=_RETRIES, **placed)
                self.sent[future] = task, worker
                self._answers.add(future)

    def _cost(self, task: Task, worker: str) -> int:
        """A worker compiles for itself: it goes on with a program that it has compiled, else begins
        one that no other has."""
        if task.group.program in self._begun[worker]:
            return 0
        return 1 + any(task.group.program in begun for begun in self._begun.values())

    def landed(self) -> Iterator[tuple[Task, bool]]:
        """Tasks that have ended since the last time, and the answers of `cluster_worker.perform`;
        waits a little if there is none.

        Raises:
          The error of a task, or ConnectionError.
        """
        if not self._answers.has_ready():
            time.sleep(_POLL_SECONDS)
        for future, answer in self._answers.next_batch(block=False):
            task, _ = self.sent.pop(future)
            if future.status == "cancelled":  # not by this client
                raise _lost(self._client)
            if future.status == "error":
                _require_version(self._client)  # of one that has not been greeted yet
                raise _explained(answer[1], task)
            if isinstance(answer, Exception):
                raise answer
            yield task, answer

    def cancel(self) -> None:
        """Takes back what has not begun."""
        if self._client.status == "running":
            self._client.cancel(list(self.sent))


def _packed(function: Callable[..., Any], *arguments: Any) -> tuple[Callable[[bytes], Any], bytes]:
    """A call as another one that the scheduler, which unpickles what it passes on, can read without
    jaxduel: its function is local, so that it is pickled as code."""

    def call(content: bytes) -> Any:
        import pickle

        function, arguments = pickle.loads(content)
        return function(*arguments)

    return call, pickle.dumps((function, arguments))


def _explained(error: Exception, task: Task) -> Exception:
    from distributed.scheduler import KilledWorker

    if not isinstance(error, KilledWorker):
        return error
    return MemoryError(
        f"{error.allowed_failures + 1} workers in turn died while they had a block of cells such "
        f"as {task.group.cells[0]} in hand: it may be more than their memory can hold."
    )


def _lost(client: Any) -> ConnectionError:
    return ConnectionError(
        f"the scheduler at {client.scheduler.address} is gone, or has dropped the sweep's tasks: "
        "what is stored is whole, and the sweep goes on from it when it is run again."
    )


@contextmanager
def _local_cluster(num_workers: int) -> Iterator[Any]:
    from distributed import LocalCluster

    with (
        _silent(logging.getLogger("tornado")),  # it reports that workers are gone
        tempfile.TemporaryDirectory(prefix="jaxduel-", ignore_cleanup_errors=True) as scratch,
        LocalCluster(
            n_workers=num_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            memory_limit=None,
            local_directory=scratch,
            silence_logs=logging.CRITICAL,
            preload=[cluster_worker.__name__],
        ) as cluster,
    ):
        try:
            yield cluster
        finally:  # at once: a close would wait until they finish their blocks
            for nanny in cluster.workers.values():
                nanny.auto_restart = False
                if nanny.pid:
                    os.kill(nanny.pid, signal.SIGKILL)


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
