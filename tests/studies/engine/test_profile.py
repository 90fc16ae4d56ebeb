"""Seconds of the parts of a study's work."""

import threading
from types import SimpleNamespace

import jax
import pytest

from jaxduel.interrupts import Workers
from jaxduel.studies.engine import profile as module
from jaxduel.studies.engine.profile import COMPILE, PARTS, Seconds


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is put forward."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now.seconds))
    return now


def test_parts_add_up_and_compilation_counts_once(clock):
    spent = Seconds()
    with spent.compilations(), spent.of("device loops"):
        clock.seconds += 10.0
        jax.monitoring.record_event_duration_secs("/jax/core/compile/jaxpr_trace_duration", 2.0)
        clock.seconds += 1.0  # the first trace lies inside this one, and the other event counts not
        jax.monitoring.record_event_duration_secs("/jax/core/compile/jaxpr_trace_duration", 5.0)
        jax.monitoring.record_event_duration_secs("/jax/other", 3.0)
    with spent.of("device loops"):
        clock.seconds += 7.0
    jax.monitoring.record_event_duration_secs("/jax/core/compile/jaxpr_trace_duration", 9.0)
    expected = {COMPILE: 5.0, "device loops": 11.0 - 5.0 + 7.0}
    assert spent.spent == {part: expected.get(part, 0.0) for part in PARTS}


def test_another_thread_that_compiles_is_not_taken_from_a_part(clock):
    spent = Seconds()
    with spent.compilations(), spent.of("device loops"):
        clock.seconds += 4.0
        name = "/jax/core/compile/backend_compile_duration"
        other = threading.Thread(target=jax.monitoring.record_event_duration_secs, args=(name, 3.0))
        other.start()
        other.join()
    assert (spent.spent["device loops"], spent.spent[COMPILE]) == (4.0, 3.0)


def test_workers_that_compile_are_taken_from_the_part_that_starts_them(clock):
    spent = Seconds()
    name = "/jax/core/compile/backend_compile_duration"
    with spent.compilations(), spent.of("device loops"):
        clock.seconds += 4.0
        Workers(
            1, lambda _: jax.monitoring.record_event_duration_secs(name, 3.0), threading.Event()
        ).wait()
    assert (spent.spent["device loops"], spent.spent[COMPILE]) == (1.0, 3.0)


def test_a_real_compilation_is_seen():
    spent = Seconds()
    with spent.compilations():
        jax.block_until_ready(jax.jit(lambda x: x * 3 + 1)(1.5))
    assert spent.spent[COMPILE] > 0.0
