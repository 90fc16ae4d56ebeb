"""Machines: what carries out the tasks of a study, local devices or the workers of a cluster."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import jax

from jaxduel import interrupts
from jaxduel.errors import InputError
from jaxduel.simulation.devices import Device, block_memory
from jaxduel.studies.engine import cluster
from jaxduel.studies.engine.executor import run_tasks
from jaxduel.studies.engine.groups import Task
from jaxduel.studies.engine.profile import Seconds
from jaxduel.studies.engine.store import Store
from jaxduel.studies.engine.stores import Stores


@dataclass(frozen=True)
class Machines:
    """Local devices, or the workers of a cluster.

    Attributes:
      kind: platform, device and memory for a block, and environment fields that differ from this
        process's.
      devices: the local devices, which run one block at a time each.
      client: a client of the cluster (`cluster.connect`), which is used instead; None: none.
      patience: seconds that blocks in flight on the cluster may take after an interrupt.
      shard: (i, n) for every n-th task from the i-th on, without locks; None: all tasks.
      end: time (`time.monotonic`) by which blocks must be finished.
    """

    kind: Mapping[str, Any]
    devices: Sequence[Device] = ()
    client: Any = None
    patience: float = 0.0
    shard: tuple[int, int] | None = None
    end: float = math.inf

    @property
    def number(self) -> int:
        """Number of blocks that are simulated at a time."""
        return len(self.devices) or max(1, sum(self.client.nthreads().values()))

    def share(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """The tasks that are carried out here, of all tasks of a study."""
        return tasks if self.shard is None else tasks[self.shard[0] - 1 :: self.shard[1]]

    def run(
        self,
        store: Store | Stores,
        tasks: Sequence[Task],
        stop: threading.Event,
        *,
        finish: bool = True,
        until: float = math.inf,
        seconds: Seconds | None = None,
    ) -> Generator[tuple[Task, float | None]]:
        """Carries out tasks, as `executor.run_tasks`."""
        until = min(until, self.end)
        if self.client is None:
            return run_tasks(
                store, tasks, self.devices, stop, finish=finish, until=until, seconds=seconds
            )
        patience = self.patience if finish else 0.0
        return cluster.run_on_cluster(store, tasks, self.client, stop, patience, until)


def local(devices: Sequence[Device] | None = None, **more: Any) -> Machines:
    """Machines that are local devices, by default the CPU's; `more` as in `Machines`."""
    devices = devices or cpu_devices()
    first, memory = devices[0], block_memory(devices)
    kind = {"platform": first.platform, "device": first.device_kind, "memory": memory}
    return Machines(kind, devices, **more)


def cpu_devices() -> list[Device]:
    """The CPU devices, even if there is a GPU: steps with few lanes are faster on a CPU."""
    try:
        return jax.local_devices(backend="cpu")
    except RuntimeError:  # the CPU is not among the platforms the user chose
        return jax.local_devices()


@contextmanager
def connected(
    devices: Sequence[Device] | None = None,
    *,
    stop: threading.Event | None = None,
    scheduler: str | None = None,
    shard: tuple[int, int] | None = None,
    until: datetime | None = None,
) -> Iterator[Machines]:
    """Context with the machines of a study.

    Args:
      devices: the local devices, if there is no scheduler; by default the CPU's.
      stop: ends the waiting for the first worker of a cluster, as Ctrl-C does.
      scheduler: scheduler of a dask cluster (`jaxduel.studies.engine.cluster`).
      shard: (i, n) for the i-th of n processes, from 1, that each run every n-th task. Nothing is
        locked, for file systems without locks: no two processes may have the same i.
      until: time by which to end (local time if it has no zone): no block is begun that would end
        later.

    Raises:
      InputError: for a share or a time that is none, or beside a scheduler; from `cluster.connect`.
      KeyboardInterrupt: if it was stopped before a worker came.
    """
    if scheduler is not None and (shard is not None or until is not None):
        raise InputError("shard and until are for local devices: give them without a scheduler.")
    if shard is not None and not _is_share(shard):
        raise InputError(f"shard must be (i, n), whole numbers with i from 1 to n, not {shard!r}.")
    end = _end(until)
    if scheduler is None:
        yield local(devices, shard=shard, end=end)
        return
    patience, stop = cluster.patience_of(scheduler), stop or threading.Event()
    with interrupts.stops(stop), cluster.connect(scheduler) as client:
        kind = cluster.platform_of(client, stop)
        if kind is None:
            raise KeyboardInterrupt
        yield Machines(kind, client=client, patience=patience)


def _is_share(shard: Any) -> bool:
    numbers = isinstance(shard, tuple) and [isinstance(number, int) for number in shard]
    return numbers == [True, True] and 1 <= shard[0] <= shard[1]


def _end(until: datetime | None) -> float:
    """The time by which to end on the clock of `time.monotonic`; inf if None.

    Raises:
      InputError: for a value that is no time, or a time before the first year of some time zone.
    """
    try:
        return math.inf if until is None else time.monotonic() + until.timestamp() - time.time()
    except (AttributeError, ValueError, OverflowError):
        raise InputError(
            "until must be a time such as datetime(2026, 11, 25, 7, 45), in the years 2 to 9998, "
            f"not {until!r}."
        ) from None
