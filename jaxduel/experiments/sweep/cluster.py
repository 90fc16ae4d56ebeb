"""Sweeps on a cluster: workers of dask.distributed simulate and store, the client hands out tasks.

The folder is the only state that they share: no block passes through the scheduler or the client.
"""

from __future__ import annotations

import logging
import math
import os
import re
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from jaxduel.errors import InputError
from jaxduel.experiments.engine.groups import Task
from jaxduel.experiments.engine.progress import StudyProgress
from jaxduel.experiments.engine.store import Store
from jaxduel.experiments.sweep.cluster_calls import WORKER, greetings
from jaxduel.experiments.sweep.cluster_run import LOOK_SECONDS, ClusterRun, warn_of_waiting

_LOCAL = re.compile(r"local:([1-9]\d*)")
_PATIENCE_SECONDS = 1.0
"""Time for blocks in flight once a run is stopped, where the worker processes end with it."""


def run_on_cluster(
    store: Store,
    tasks: Sequence[Task],
    scheduler: str | Any,
    progress: StudyProgress,
    stop: threading.Event,
    patience: float = math.inf,
) -> None:
    """Fills a store by the workers of a cluster, as `runner.run_tasks` does with local devices.

    Each worker has as many tasks at a time as it has threads, preferably of programs that it has
    compiled. Workers may come and go: the tasks of a lost one run again on another.

    Args:
      store: the store for blocks, in a folder that all workers see under the same path.
      tasks: all of the sweep.
      scheduler: an address ("tcp://host:port"), "local:N" for N processes on this machine that end
        with the run, or a client from `connect`. A script that starts local processes must do so
        beneath `if __name__ == "__main__":`.
      progress: counts every finished block.
      stop: once it is set, the blocks in flight are finished and no others begun.
      patience: seconds that they may take then, see `patience_of`.

    Raises:
      InputError: if dask.distributed is not installed, no scheduler answers, a worker has another
        version of jaxduel or does not see the folder, or a problem cannot be built there.
      StorageError: if a block cannot be stored.
      MemoryError: if a device is too small for a single seed, or a task's workers died one after
        the other.
      ConnectionError: if the scheduler was lost; the message is one sentence.
    """
    if not isinstance(scheduler, str):
        ClusterRun(scheduler, store, tasks, progress, stop, patience).run()
        return
    with connect(scheduler) as client:
        ClusterRun(client, store, tasks, progress, stop, patience).run()


def patience_of(scheduler: str | Any) -> float:
    """Seconds that blocks in flight may take once a sweep is stopped: infinite where workers
    outlive it, and compile and simulate for others."""
    is_local = isinstance(scheduler, str) and _LOCAL.fullmatch(scheduler)
    return _PATIENCE_SECONDS if is_local else math.inf


@contextmanager
def connect(scheduler: str) -> Iterator[Any]:
    """A client of a cluster.

    Args:
      scheduler: an address, or "local:N".

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
    if local:
        with _local_cluster(int(local[1])) as cluster, Client(cluster, set_as_default=False) as c:
            yield c
        return
    try:
        client = Client(scheduler, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"no scheduler answers at {scheduler}: {error}.") from None
    with client:
        yield client


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
    waiting = False
    while not stop.is_set():
        for found in greetings(client, list(client.nthreads())).values():
            return found
        if not waiting:
            warn_of_waiting(client)
            waiting = True
        stop.wait(LOOK_SECONDS)
    return None


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
            preload=[WORKER],
        ) as cluster,
    ):
        try:
            yield cluster
        finally:
            _kill(cluster)


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _kill(cluster: Any) -> None:
    """Kills the worker processes at once: a close would wait until they finish their blocks."""
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
        if nanny.pid:
            os.kill(nanny.pid, signal.SIGKILL)
