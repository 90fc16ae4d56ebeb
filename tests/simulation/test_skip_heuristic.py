"""Skipping pays for a block although its slowest seeds, which have fewer slots, hardly skip."""

import threading
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from jaxduel.simulation.jobs import Job
from jaxduel.simulation.skip_heuristic import SkipHeuristic


def _settling(lanes, slots):
    cell = SimpleNamespace(
        checkpoints=np.array([10**6]),
        points=np.array(1),
        poll=None,
        policy=SimpleNamespace(num_arms=5),
    )
    program = SimpleNamespace(delayed=False)
    rest = {"tick": int, "compiles": int, "stop": threading.Event()}
    root = jax.random.key(0)
    return SkipHeuristic(Job(cell, program, root, 0, lanes=lanes, slots=slots, **rest))


@pytest.mark.parametrize(("slow", "pays"), [(0, True), (8, True), (9, False)])
def test_as_many_seeds_as_move_to_few_slots_may_be_slow(slow, pays):
    turns = np.full(128, 0.01)
    turns[:slow] = 1.0
    assert _settling(lanes=128, slots=64)._pays(turns) == pays


def test_the_mean_counts_where_all_seeds_are_alike():
    settling = _settling(lanes=128, slots=64)
    assert settling._pays(np.full(128, 0.3))
    assert not settling._pays(np.full(128, 0.4))


def test_one_slow_seed_counts_where_no_slots_are_fewer():
    assert not _settling(lanes=8, slots=8)._pays(np.array([0.01] * 7 + [0.5]))
