"""Executor: carries out the tasks that a store lacks, on local devices, beside other processes."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Generator, Hashable, Sequence
from typing import Any

import jax

from jaxduel.experiments.engine.groups import Task
from jaxduel.experiments.engine.store import Store
from jaxduel.experiments.engine.work import Stopped, carry_out
from jaxduel.interrupts import Workers
from jaxduel.simulation.devices import Device

_POLL_SECONDS = 0.2
_PATIENCE_SECONDS = 1.0


def run_tasks(
    store: Store,
    tasks: Sequence[Task],
    devices: Sequence[Device],
    stop: threading.Event,
    *,
    finish: bool = True,
    until: float = math.inf,
) -> Generator[tuple[Task, bool]]:
    """Fills the store: claims a task, simulates it, stores its block, until all are there.

    Each device has a thread. Tasks that other processes have claimed are left to them; if they die
    their tasks are taken over.

    Args:
      store: the store for blocks.
      tasks: those wanted, in the order in which they begin.
      devices: devices that simulate blocks, one at a time on each.
      stop: once it is set, no more blocks are begun, and the iterator ends.
      finish: whether the blocks in flight are finished then; if not, they end with their chunk.
      until: time (`time.monotonic`) by which blocks must be finished: none is begun that would take
        longer, by the blocks that have run here.

    Yields:
      A task as soon as its block is stored, in the caller's thread, and whether it was carried out
      here. Tasks stored before are not among them. When the caller closes the iterator, it is
      stopped.

    Raises:
      StorageError: if a block cannot be stored.
      MemoryError: if a device is too small for a single seed.
    """
    finished = store.finished()
    waiting = _Queue([task for task in tasks if task.key not in finished], until)
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()
    told = None if finish else stop

    def one(task: Task, device: Device) -> bool:
        claim = store.claim(task.key)
        if claim is None:
            return False
        begun = time.monotonic()
        with claim:
            store.add(carry_out(task, device, told))
        waiting.took(task, time.monotonic() - begun)
        events.put((task, True))
        return True

    def fill(number: int) -> None:
        elsewhere: list[Task] = []
        while not stop.is_set():
            task = waiting.take(number)
            if task is None and not elsewhere:
                return
            if task is None:
                elsewhere = _await(store, elsewhere, waiting, events)
            elif not one(task, devices[number]):
                elsewhere.append(task)

    def work(number: int) -> None:
        try:
            with jax.default_device(devices[number]):
                fill(number)
        except Stopped:
            pass
        except BaseException as failure:
            events.put(failure)
        events.put(None)

    patience = math.inf if finish else _PATIENCE_SECONDS
    workers = Workers(len(devices), work, stop)
    failure, left, until = None, len(devices), math.inf
    try:
        while left and time.monotonic() < until:
            try:
                event = events.get(timeout=0.1)
            except queue.Empty:
                if stop.is_set():
                    until = min(until, time.monotonic() + patience)
                continue
            if event is None:
                left -= 1
            elif isinstance(event, BaseException):
                failure = failure or event
                stop.set()
            else:
                yield event
    except BaseException:  # the caller has closed the iterator, or was interrupted
        stop.set()
        raise
    finally:
        workers.wait(patience)
    if failure:
        raise failure


def _await(
    store: Store, elsewhere: list[Task], waiting: _Queue, events: queue.SimpleQueue[Any]
) -> list[Task]:
    """Checks tasks that other processes have: once one is finished or free, those that are finished
    are told of and the others queued again.

    Returns:
      The tasks that others still have.
    """
    if not store.wait_for_others([task.key for task in elsewhere], timeout=0.0):
        time.sleep(_POLL_SECONDS)
        return elsewhere
    finished = store.finished()
    for task in elsewhere:
        if task.key in finished:
            events.put((task, False))
        else:
            waiting.give_back(task)
    return []


class _Queue:
    """Tasks that nobody has taken. A worker prefers those whose program it has begun, or nobody:
    two that want the same one wait while it compiles.

    Args:
      tasks: in the order in which they are to begin.
      until: time by which they must be finished.
    """

    def __init__(self, tasks: Sequence[Task], until: float) -> None:
        self._lock = threading.Lock()
        self._left = list(tasks)
        self._until = until
        self._begun: dict[Hashable, int] = {}
        self._slowest: dict[Hashable, float] = {}

    def take(self, worker: int) -> Task | None:
        """The next task for a worker, by its number; None if all are taken, or none can finish."""
        with self._lock:
            there = self._left
            if self._until < math.inf:
                there = [task for task in self._left if self._can_finish(task)]
            own = (t for t in there if self._begun.get(t.group.program, worker) == worker)
            task = next(own, there[0] if there else None)
            if task is not None:
                self._left.remove(task)
                self._begun.setdefault(task.group.program, worker)
            return task

    def give_back(self, task: Task) -> None:
        """Puts a task back, behind the others."""
        with self._lock:
            self._left.append(task)

    def took(self, task: Task, seconds: float) -> None:
        """Records the time that a task took."""
        with self._lock:
            for what in (task.group.key, task.group.program, None):
                self._slowest[what] = max(self._slowest.get(what, 0.0), seconds)

    def _can_finish(self, task: Task) -> bool:
        """True if a task ends in time if it takes as long as the slowest of its group, else of its
        program, else of all; nothing is known of the first one."""
        known = (task.group.key, task.group.program, None)
        expected = next((self._slowest[w] for w in known if w in self._slowest), 0.0)
        return time.monotonic() + expected < self._until
