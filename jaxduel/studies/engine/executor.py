"""Executor: carries out the tasks that a store lacks, on local devices, beside other processes."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Generator, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any

import jax

from jaxduel.interrupts import Workers
from jaxduel.simulation.devices import Device, cores
from jaxduel.studies.engine.blocks import Block
from jaxduel.studies.engine.groups import Task
from jaxduel.studies.engine.profile import Seconds
from jaxduel.studies.engine.store import Store
from jaxduel.studies.engine.stores import Stores
from jaxduel.studies.engine.work import Stopped, compile_task, simulated

_POLL_SECONDS = 0.2
_PATIENCE_SECONDS = 1.0
_WAITING = 2
"""Most blocks of a device that are being reduced and written while it runs the next one."""


def run_tasks(
    store: Store | Stores,
    tasks: Sequence[Task],
    devices: Sequence[Device],
    stop: threading.Event,
    *,
    finish: bool = True,
    until: float = math.inf,
    seconds: Seconds | None = None,
) -> Generator[tuple[Task, float | None]]:
    """Fills the store: claims a task, simulates it, stores its block, until all are there.

    Each device has a thread that simulates, one that reduces and stores its blocks meanwhile, and,
    if cores are free, others that compile its next programs. Tasks claimed by other processes are
    left to these; if a process dies, its tasks are taken over.

    Args:
      store: the store for blocks.
      tasks: the wanted tasks, in the order in which they begin.
      devices: devices that simulate blocks, one at a time on each.
      stop: once it is set, no more blocks are begun, and the iterator ends.
      finish: whether blocks in flight are then finished; if not, they end with their chunk.
      until: time (`time.monotonic`) by which blocks must be finished: no block is begun that would
        take longer, judged by the blocks that have run here.
      seconds: records the time of each part of the work.

    Yields:
      A task as soon as its block is stored, in the caller's thread, and the seconds that it took;
      None: another process carried it out. Tasks stored earlier are left out. Closing the iterator
      stops the work.

    Raises:
      StorageError: if a block cannot be stored.
      MemoryError: if a device is too small for a single seed.
    """
    finished = store.finished()
    waiting = _Queue([task for task in tasks if task.key not in finished], until)
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()
    told, spent = None if finish else stop, seconds or Seconds()
    compilers = cores() // len(devices) - 1

    def store_block(task: Task, begun: float, claim: ExitStack, block: Callable[[], Block]) -> None:
        with claim:
            store.add(block(), spent)
        took = time.monotonic() - begun
        waiting.took(task, took)
        events.put((task, took))

    def one(task: Task, device: Device, writer: _Writer) -> bool:
        with spent.of("write"):
            claim = store.claim(task.key)
        if claim is None:
            return False
        begun = time.monotonic()
        with claim:
            block = simulated(task, device, told, spent)
            waiting.took(task, time.monotonic() - begun)
            with spent.of("wait"):
                writer.do(store_block, task, begun, claim.pop_all(), block)
        return True

    def fill(number: int) -> None:
        elsewhere: list[Task] = []
        device = devices[number]
        with (
            _Writer(events.put) as writer,
            _Compiler(waiting, number, device, compilers, stop) as compiler,
        ):
            while not stop.is_set():
                task = waiting.take(number)
                if task is None and (not elsewhere or time.monotonic() >= waiting.until):
                    return
                if task is None:
                    with spent.of("wait"):
                        elsewhere = _await(store, elsewhere, waiting, events)
                    continue
                with spent.of("wait"):
                    compiler.await_program(task)
                if not one(task, device, writer):
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
    except BaseException:  # the caller closed the iterator, or was interrupted
        stop.set()
        raise
    finally:
        workers.wait(patience)
    if failure:
        raise failure


def _await(
    store: Store | Stores, elsewhere: list[Task], waiting: _Queue, events: queue.SimpleQueue[Any]
) -> list[Task]:
    """Checks the tasks of other processes: once one is finished or free, finished tasks are
    reported and the others queued again.

    Returns:
      The tasks that other processes still have.
    """
    if not store.has_ended([task.key for task in elsewhere]):
        time.sleep(_POLL_SECONDS)
        return elsewhere
    finished = store.finished()
    for task in elsewhere:
        if task.key in finished:
            events.put((task, None))
        else:
            waiting.give_back(task)
    return []


class _Writer:
    """Context with a thread that carries out calls one after the other, while its owner continues.

    Args:
      fail: called in that thread with the error of a call.
    """

    def __init__(self, fail: Callable[[BaseException], None]) -> None:
        self._fail = fail
        self._room = threading.Semaphore(_WAITING)
        self._thread = ThreadPoolExecutor(1, "writer")

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        """Waits for all calls."""
        self._thread.shutdown()

    def do(self, call: Callable[..., None], *args: Any) -> None:
        """Queues a call, once fewer than `_WAITING` calls are queued or running."""
        self._room.acquire()
        self._thread.submit(self._do, call, args)

    def _do(self, call: Callable[..., None], args: tuple[Any, ...]) -> None:
        try:
            call(*args)
        except BaseException as failure:
            self._fail(failure)
        finally:
            self._room.release()


class _Compiler:
    """Context with threads that compile the next programs of a worker, while it runs the first.

    Args:
      waiting: the queue.
      worker: the worker's number.
      device: its device.
      number: number of threads; below 1 there are none.
      stop: once it is set, no more compilations are begun.
    """

    def __init__(
        self, waiting: _Queue, worker: int, device: Device, number: int, stop: threading.Event
    ) -> None:
        self._waiting, self._worker, self._device = waiting, worker, device
        self._number, self._stop = max(number, 0), stop
        self._threads = ThreadPoolExecutor(max(number, 1), "compiler")
        self._begun: dict[Hashable, Future[None]] = {}

    def __enter__(self) -> _Compiler:
        return self

    def __exit__(self, *_: object) -> None:
        """Begins no more compilations; a running one ends by itself, before the process does."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def await_program(self, task: Task) -> None:
        """Waits for the task's program if it is being compiled, and queues the next programs.

        A compilation that fails here fails again, and raises, where the program is needed.
        """
        while sum(not future.done() for future in self._begun.values()) < self._number:
            following = self._waiting.ahead(self._worker)
            if following is None:
                break
            begun = self._threads.submit(compile_task, following, self._device)
            self._begun[following.group.program] = begun
        future = self._begun.get(task.group.program)
        while future is not None and not future.done() and not self._stop.is_set():
            with suppress(Exception):
                future.exception(timeout=_POLL_SECONDS)


class _Queue:
    """Tasks that no worker has taken. A worker prefers a program that it, or no worker, has begun:
    two workers with one program would both wait while it compiles.

    Args:
      tasks: in the order in which they are to begin.
      until: time by which tasks must be finished.
    """

    def __init__(self, tasks: Sequence[Task], until: float = math.inf) -> None:
        self._lock = threading.Lock()
        self._left = list(tasks)
        self.until = until
        self._begun: dict[Hashable, int] = {}
        self._slowest: dict[Hashable, float] = {}

    def take(self, worker: int) -> Task | None:
        """The next task for a worker, by its number; None if all are taken, or none can finish."""
        with self._lock:
            there = self._left
            if self.until < math.inf:
                there = [task for task in self._left if self._can_finish(task)]
            own = (t for t in there if self._begun.get(t.group.program, worker) == worker)
            task = next(own, there[0] if there else None)
            if task is not None:
                self._left.remove(task)
                self._begun.setdefault(task.group.program, worker)
            return task

    def ahead(self, worker: int) -> Task | None:
        """A task of a program that no worker has begun; the program is this worker's from now on,
        and the task stays queued. None if all programs are begun."""
        with self._lock:
            task = next((t for t in self._left if t.group.program not in self._begun), None)
            if task is not None:
                self._begun[task.group.program] = worker
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
        """True if a task that takes as long as the slowest one of its group, else of its program,
        else of all, ends in time; the first task is assumed to."""
        known = (task.group.key, task.group.program, None)
        expected = next((self._slowest[w] for w in known if w in self._slowest), 0.0)
        return time.monotonic() + expected < self.until
