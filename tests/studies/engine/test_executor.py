"""The executor: blocks are written, and programs compiled, while the next block runs."""

import threading
import time
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import jax
import pytest

from jaxduel.studies.engine import executor

WAIT = 30.0
"""Seconds after which something that ought to happen does not."""


class Store:
    """A store of nothing, which notes what it is given, and claims until they are released."""

    def __init__(self):
        self.added, self.claimed = [], []

    def finished(self):
        return set()

    def claim(self, key):
        self.claimed.append(key)
        claim = ExitStack()
        claim.callback(self.claimed.remove, key)
        return claim

    def add(self, block, seconds):
        self.added.append(block)


def tasks(*programs) -> list[Any]:
    return [
        SimpleNamespace(key=f"{i} {program}", group=SimpleNamespace(key=program, program=program))
        for i, program in enumerate(programs)
    ]


def run(store, every, devices=1):
    some: Any = store
    with_stop = executor.run_tasks(some, every, jax.devices()[:devices], threading.Event())
    return [task.key for task, here in with_stop if here]


def test_a_block_is_stored_while_later_ones_run(monkeypatch):
    """The first block can only be made once the third task runs."""
    store, third, begun = Store(), threading.Event(), []

    def simulated(task, *_):
        begun.append(task.key)
        if len(begun) == 3:
            third.set()

        def block():
            assert third.wait(WAIT)
            assert task.key in store.claimed
            return task.key

        return block

    monkeypatch.setattr(executor, "simulated", simulated)
    every = tasks("a", "a", "a", "a", "a")
    assert run(store, every) == begun == store.added == [task.key for task in every]
    assert not store.claimed


def test_nobody_waits_for_another_process_beyond_the_end(monkeypatch):
    store: Any = Store()
    monkeypatch.setattr(store, "claim", lambda key: None)
    monkeypatch.setattr(store, "has_ended", lambda keys: False, raising=False)
    end, stop = time.monotonic() + 0.3, threading.Event()
    assert not list(executor.run_tasks(store, tasks("a"), jax.devices()[:1], stop, until=end))
    assert 0 <= time.monotonic() - end < WAIT


def test_no_more_blocks_wait_than_two(monkeypatch):
    store, running, waiting = Store(), threading.Event(), []

    def simulated(task, *_):
        waiting.append(task.key)
        if len(waiting) > executor._WAITING:
            running.set()

        def block():
            assert running.wait(WAIT)
            assert len(waiting) <= executor._WAITING + 1
            waiting.remove(task.key)
            return task.key

        return block

    monkeypatch.setattr(executor, "simulated", simulated)
    assert len(run(store, tasks(*"aaaaaaaa"))) == 8


def test_a_block_that_cannot_be_made_stops_the_rest(monkeypatch):
    store, begun = Store(), []

    def simulated(task, *_):
        def block():
            raise RuntimeError("no block")

        begun.append(task.key)
        return block

    monkeypatch.setattr(executor, "simulated", simulated)
    every = tasks(*1000 * "a")
    with pytest.raises(RuntimeError, match="no block"):
        run(store, every)
    assert len(begun) < len(every)
    assert not store.added
    assert not store.claimed


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_programs_compile_ahead_where_there_are_cores(monkeypatch, cores):
    """Each but the first; a task waits for its program."""
    store, compiled = Store(), []
    ahead = threading.Semaphore(0)

    def compile_task(task, device):
        compiled.append(task.group.program)
        ahead.release()

    def simulated(task, *_):
        if task.group.program == "a" and cores > 1:
            assert ahead.acquire(timeout=WAIT)
        elif cores > 1:
            assert task.group.program in compiled
        return lambda: task.key

    monkeypatch.setattr(executor, "simulated", simulated)
    monkeypatch.setattr(executor, "compile_task", compile_task)
    monkeypatch.setattr(executor, "cores", lambda: cores)
    assert len(run(store, tasks(*"aabbbcd"))) == 7
    assert sorted(compiled) == ([] if cores == 1 else ["b", "c", "d"])


def test_two_devices_compile_and_begin_different_programs():
    queue = executor._Queue(tasks(*"aabbc"))
    first, second = queue.take(0), queue.take(1)
    assert first is not None
    assert second is not None
    assert (first.group.program, second.group.program) == ("a", "b")
    ahead = queue.ahead(0)
    assert ahead is not None
    assert ahead.group.program == "c"
    assert queue.ahead(1) is None
    order = [(0, "a"), (0, "c"), (1, "b")]
    for worker, program in order:
        task = queue.take(worker)
        assert task is not None
        assert task.group.program == program
    assert queue.take(0) is None
