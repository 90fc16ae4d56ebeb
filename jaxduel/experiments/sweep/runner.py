"""Runs the tasks that a store lacks, on local devices, beside other processes, until stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import jax

from jaxduel.experiments.sweep.planning import Task
from jaxduel.experiments.sweep.progress import SweepProgress
from jaxduel.experiments.sweep.queue import TaskQueue
from jaxduel.experiments.sweep.store import Store
from jaxduel.experiments.sweep.work import carry_out
from jaxduel.interrupts import Workers
from jaxduel.simulation.devices import Device

_POLL_SECONDS = 0.2


def run_tasks(
    store: Store,
    tasks: Sequence[Task],
    devices: Sequence[Device],
    progress: SweepProgress,
    stop: threading.Event,
) -> None:
    """Fills the store: claims a task, simulates it, stores its block, until all are there.

    Each device has a thread. Tasks that other processes have claimed are left to them; if they die
    their tasks are taken over.

    Args:
      store: the store for blocks.
      tasks: all of the sweep.
      devices: devices that simulate blocks, one at a time on each.
      progress: counts every finished block.
      stop: once it is set, the blocks in flight are finished and no others begun.

    Raises:
      StorageError: if a block cannot be stored.
      MemoryError: if a device is too small for a single seed.
    """
    grid = store.manifest.grid
    finished = store.finished()
    queue = TaskQueue([task for task in tasks if task.key not in finished])
    lock, failures = threading.Lock(), []

    def one(task: Task, device: Device) -> bool:
        with lock:
            claim = store.claim(task.key)
        if claim is None:
            return False
        with claim:
            block = carry_out(task, store.manifest.seeds, grid["keep"], device)
            with lock:
                store.add(block)
        progress.done(task.key, here=True)
        return True

    def work(number: int) -> None:
        elsewhere: list[Task] = []
        try:
            with jax.default_device(devices[number]):
                while not stop.is_set():
                    task = queue.take(number)
                    if task is None and not elsewhere:
                        return
                    if task is None:
                        elsewhere = _await(store, lock, elsewhere, queue, progress)
                    elif not one(task, devices[number]):
                        elsewhere.append(task)
        except BaseException as failure:
            failures.append(failure)
            stop.set()

    Workers(len(devices), work, stop).wait(patience=float("inf"))
    if failures:
        raise failures[0]


def _await(
    store: Store,
    lock: threading.Lock,
    elsewhere: list[Task],
    queue: TaskQueue,
    progress: SweepProgress,
) -> list[Task]:
    """Checks tasks that other processes have: once one is finished or free, those that are finished
    are counted and the others queued again.

    Returns:
      The tasks that others still have.
    """
    with lock:
        changed = store.wait_for_others([task.key for task in elsewhere], timeout=0.0)
        finished = store.finished()
    if not changed:
        time.sleep(_POLL_SECONDS)
        return elsewhere
    for task in elsewhere:
        if task.key in finished:
            progress.done(task.key)
        else:
            queue.give_back(task)
    return []
