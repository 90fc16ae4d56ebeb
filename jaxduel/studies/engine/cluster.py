"""Studies on a cluster: workers of dask.distributed simulate blocks and store them.

The folder is the only shared state: no block passes through the scheduler or the client. A block is
the same on every worker, so dask runs a task again when its worker is lost or its file system
fails.
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
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import jaxduel
from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.studies.engine import cluster_worker
from jaxduel.studies.engine.compatibility import warn_of_environment
from jaxduel.studies.engine.groups import Task
from jaxduel.studies.engine.store import Store
from jaxduel.studies.engine.stores import Stores

_LOCAL = re.compile(r"local:([1-9]\d*)")
_LOGGERS = "distributed", "distributed.client", "tornado", "tornado.application"
"""Loggers, with their own levels, whose tracebacks repeat errors reported in a sentence."""
_PATIENCE_SECONDS = 1.0
"""Time for blocks in flight once a run is stopped, if the worker processes end with it."""
_LOOK_SECONDS = 1.0
"""Time between looks at the workers, and at tasks that other processes had claimed."""
_POLL_SECONDS = 0.01
_RETRIES = 2
"""Number of times that a task runs again after errors, such as errors of a file system."""


def patience_of(scheduler: str) -> float:
    """Seconds that blocks in flight may take once a study is stopped: infinite if the workers
    outlive it.

    Raises:
      InputError: for an invalid `scheduler`.
    """
    return _PATIENCE_SECONDS if _processes(scheduler) else math.inf


def _processes(scheduler: Any) -> int:
    """N for "local:N", 0 for an address; raises InputError for anything else."""
    local = _LOCAL.fullmatch(scheduler) if isinstance(scheduler, str) else None
    if not local and not (isinstance(scheduler, str) and "://" in scheduler):
        raise InputError(
            "the scheduler must be an address such as tcp://host:8786, or local:N for N processes "
            f"on this machine, not {shorten(repr(scheduler))}."
        )
    return int(local[1]) if local else 0


@contextmanager
def connect(scheduler: str) -> Iterator[Any]:
    """A client of a cluster.

    Args:
      scheduler: an address ("tcp://host:port"), or "local:N" for N processes on this machine. A
        script that starts processes must do so beneath `if __name__ == "__main__":`.

    Yields:
      The `distributed.Client`; at the end the processes of "local:N" are gone.

    Raises:
      InputError: for an invalid `scheduler`, if dask.distributed is not installed, or no scheduler
        answers.
    """
    processes = _processes(scheduler)
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "a cluster needs dask.distributed: pip install 'jaxduel[cluster]'."
        ) from None
    with ExitStack() as stack:
        for logger in map(logging.getLogger, _LOGGERS):
            stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        there = _local_cluster(processes, stack) if processes else scheduler
        try:
            client = Client(there, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"no scheduler answers at {scheduler}: {error}.") from None
        yield stack.enter_context(client)


def platform_of(client: Any, stop: threading.Event) -> dict[str, Any] | None:
    """Platform and device of the workers of a cluster, for planning a study.

    Args:
      client: a client from `connect`.
      stop: ends the waiting for the first worker.

    Returns:
      `cluster_worker.greet` of one of the workers; None if it was stopped.

    Raises:
      InputError: if a worker has another version of jaxduel, or cannot run it.
      ConnectionError: if the scheduler was lost.
    """
    call, content = _packed(cluster_worker.greet)
    while not stop.is_set():
        if _look(client, {}):
            for worker, answer in client.run(call, content, on_error="return").items():
                if not isinstance(answer, Exception):
                    return answer
                if not isinstance(answer, OSError):  # the worker has gone
                    raise _unable(worker, answer)
        stop.wait(_LOOK_SECONDS)
    return None


def run_on_cluster(
    store: Store | Stores,
    tasks: Sequence[Task],
    client: Any,
    stop: threading.Event,
    patience: float = math.inf,
    until: float = math.inf,
) -> Generator[tuple[Task, float | None]]:
    """Fills a store with the workers of a cluster, as `executor.run_tasks` does with local devices.

    Each worker has as many tasks at a time as it has threads, so that few are in flight when the
    run is stopped. Workers may come and go: the tasks of a lost one run again on another.

    Args:
      store: the store for blocks, in a folder that all workers see under the same path.
      tasks: the wanted tasks.
      client: a client from `connect`.
      stop: once it is set, blocks in flight are finished and no others begun.
      patience: seconds that blocks in flight may take then, see `patience_of`.
      until: time (`time.monotonic`) from which no blocks are begun.

    Yields:
      As `executor.run_tasks`; "here" are the workers of the cluster.

    Raises:
      InputError: if a worker has another version of jaxduel or does not see the folder, or a
        problem cannot be built there.
      StorageError: if a block cannot be stored.
      MemoryError: if a device is too small for a single seed, or a task's workers died one after
        the other.
      ConnectionError: if the scheduler was lost; the message is one sentence.
    """
    finished = store.finished()
    left = [task for task in tasks if task.key not in finished]
    elsewhere: list[Task] = []
    flights, threads = _Flights(client, store), {}
    end, next_look = math.inf, -math.inf
    try:
        while left or elsewhere or flights.sent:
            now = time.monotonic()
            if stop.is_set():
                left, elsewhere, end = [], [], min(end, now + patience)
            if now >= until:
                left, elsewhere = [], []
            if now >= next_look:
                threads, next_look = _look(client, threads), now + _LOOK_SECONDS
                finished = store.finished() if elsewhere else set()
                yield from ((task, None) for task in elsewhere if task.key in finished)
                left += (task for task in elsewhere if task.key not in finished)
                elsewhere = []
            if now >= end or (stop.is_set() and not threads):
                return
            flights.send(left, threads)
            for task, took in flights.landed():
                if took is not None:
                    yield task, took
                else:
                    elsewhere.append(task)
    finally:
        flights.cancel()


class _Flights:
    """The tasks that workers have in hand.

    Attributes:
      sent: task, worker and the time that it was sent, by future.
    """

    def __init__(self, client: Any, store: Store | Stores) -> None:
        from distributed import as_completed

        self._client, self._store = client, store
        self._answers = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self._begun: dict[Hashable, str] = {}
        self._places: dict[Store, tuple[str, str]] = {}
        self._known: list[dict[str, Any]] = []
        self.sent: dict[Any, tuple[Task, str, float]] = {}

    def send(self, left: list[Task], threads: Mapping[str, int]) -> None:
        """Sends one of the remaining tasks to each free thread. Workers compile separately, so that
        each prefers a program that it, or no worker, has begun."""
        busy = Counter(worker for _, worker, _ in self.sent.values())
        for worker, number in threads.items():
            for _ in range(min(number - busy[worker], len(left))):
                own = (t for t in left if self._begun.get(t.group.program, worker) == worker)
                task = next(own, left[0])
                left.remove(task)
                self._begun.setdefault(task.group.program, worker)
                places = [self._place(store) for store in self._store.of(task.key)]
                call, content = _packed(cluster_worker.perform, places, task)
                placed = {"workers": [worker], "allow_other_workers": True}
                future = self._client.submit(call, content, pure=False, retries=_RETRIES, **placed)
                self.sent[future] = task, worker, time.monotonic()
                self._answers.add(future)

    def _place(self, store: Store) -> tuple[str, str]:
        """Folder and digest of a store, for the workers."""
        if store not in self._places:
            digest = cluster_worker.digest_of(store.manifest)
            self._places[store] = os.path.abspath(store.folder), digest
        return self._places[store]

    def landed(self) -> Iterator[tuple[Task, float | None]]:
        """Tasks that have ended since the last call, and the seconds that they took, or None if
        their workers left them to other processes; waits briefly if there is none.

        Raises:
          The error of a task, or ConnectionError.
        """
        if not self._answers.has_ready():
            time.sleep(_POLL_SECONDS)
        for future, answer in self._answers.next_batch(block=False):
            task, worker, begun = self.sent.pop(future)
            if future.status == "cancelled":  # not by this client
                raise _lost(self._client)
            if future.status == "error":
                _require_version(self._client)  # a later worker may have taken the task
                raise _explained(answer[1], task, worker)
            if isinstance(answer, Exception):
                raise answer
            if answer and answer not in self._known:
                self._known.append(answer)
                for store in self._store.of(task.key):
                    there = store.manifest
                    here = replace(there, environment={**there.environment, **answer})
                    warn_of_environment(store.folder, there, here)
            yield task, None if answer is None else time.monotonic() - begun

    def cancel(self) -> None:
        """Cancels tasks that have not begun."""
        if self.sent and self._client.status == "running":
            self._client.cancel(list(self.sent))


def _look(client: Any, before: Mapping[str, int]) -> dict[str, int]:
    """The number of threads of each worker, by its address; warns if there are none.

    Workers that are not in `before` must have this version of jaxduel.
    """
    try:
        threads: dict[str, int] = client.nthreads()
        if threads.keys() - before.keys():
            _require_version(client)
    except OSError as error:
        raise _lost(client) from error
    if not threads:
        there = client.scheduler.address
        warn_caller(f"the scheduler at {there} has no workers yet: the study waits for them.")
    return threads


def _require_version(client: Any) -> None:
    for worker, found in client.get_versions(packages=["jaxduel"])["workers"].items():
        version = found["packages"]["jaxduel"]
        if version != jaxduel.__version__:
            raise InputError(
                f"the worker {worker} has {f'jaxduel {version}' if version else 'no jaxduel'}, and "
                f"the study is run by {jaxduel.__version__}: install the same version everywhere."
            )


def _packed(function: Callable[..., Any], *arguments: Any) -> tuple[Callable[[bytes], Any], bytes]:
    """A call, wrapped in a local function, which is pickled as code: the scheduler, which unpickles
    the messages it forwards, then needs no jaxduel."""

    def call(content: bytes) -> Any:
        import pickle

        try:
            function, arguments = pickle.loads(content)
        except AttributeError as error:  # the worker's version of the module differs
            raise ImportError(str(error)) from None
        return function(*arguments)

    return call, pickle.dumps((function, arguments))


def _explained(error: Exception, task: Task, worker: str) -> Exception:
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        return MemoryError(
            f"{error.allowed_failures + 1} workers in turn died while they had a block of cells "
            f"such as {task.group.cells[0]} in hand: it may be more than their memory can hold."
        )
    return _unable(worker, error) if isinstance(error, ImportError) else error


def _unable(worker: str, error: Exception) -> InputError:
    return InputError(
        f"the worker {worker} cannot run jaxduel ({type(error).__name__}: {error}): install what "
        "this process has on all workers."
    )


def _lost(client: Any) -> ConnectionError:
    return ConnectionError(
        f"the scheduler at {client.scheduler.address} is gone, or has dropped the study's tasks: "
        "what is stored is whole, and the study goes on from it when it is run again."
    )


def _local_cluster(num_workers: int, stack: ExitStack) -> Any:
    """A cluster of processes on this machine, which end with the stack."""
    from distributed import LocalCluster

    scratch = tempfile.TemporaryDirectory(prefix="jaxduel-", ignore_cleanup_errors=True)
    cluster: Any = LocalCluster(
        n_workers=num_workers,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        memory_limit=None,
        local_directory=stack.enter_context(scratch),
        silence_logs=logging.CRITICAL,
        preload=[cluster_worker.__name__],
    )
    stack.enter_context(cluster)
    stack.callback(_kill, cluster)
    return cluster


def _kill(cluster: Any) -> None:
    """Kills the worker processes at once: a close would wait until they finish their blocks."""
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
        if nanny.pid:
            os.kill(nanny.pid, signal.SIGKILL)
