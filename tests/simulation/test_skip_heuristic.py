"""The rule that skipping pays for a block, by its seeds' turns; times of looks and trials."""

import itertools
import threading
from collections import defaultdict
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from jaxduel.simulation import skip_heuristic
from jaxduel.simulation.jobs import Job
from jaxduel.simulation.skip_heuristic import SkipHeuristic


@pytest.fixture(autouse=True)
def of_three_steps(monkeypatch):
    """A turn costs three steps."""
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 3.0)


def _settling(lanes, slots):
    cell = SimpleNamespace(
        checkpoints=np.array([10**6]),
        points=np.array(1),
        poll=None,
        policy=SimpleNamespace(num_arms=5),
    )
    program = SimpleNamespace(delayed=False, policy_class=object)
    rest = {"tick": int, "compiles": int, "stop": threading.Event()}
    root = jax.random.key(0)
    return SkipHeuristic(Job(cell, program, root, 0, lanes, lanes, lanes, slots, **rest))


@pytest.mark.parametrize(("slow", "pays"), [(0, True), (8, True), (16, True), (34, False)])
def test_few_seeds_may_be_slow(slow, pays):
    """A slot-turn a comparison: 16 of 128 seeds in as many slots at the end, not 34 in 64."""
    turns = np.full(128, 0.01)
    turns[:slow] = 1.0
    assert _settling(lanes=128, slots=64)._pays(turns, 2e6) == pays


@pytest.mark.parametrize(("left", "pays"), [(1.6e6, False), (1.7e6, True)])
def test_all_slots_wait_for_one_slow_seed_where_little_is_left(left, pays):
    """Of 128 seeds on 5 arms: 2^30 is 1,677,722 comparisons of each, times arms."""
    turns = np.full(128, 0.01)
    turns[0] = 1.0
    settling = _settling(lanes=128, slots=64)
    assert settling._pays(turns, left, t=1.0) == pays
    assert settling._pays(turns, left)


@pytest.mark.parametrize(
    ("slow", "tried", "pays"),
    [(0, [1.0] + [0.0] * 127, True), (1, [0.01] * 128, False), (0, [1.0] * 128, False)],
    ids=["one seed in a burst", "one seed goes on", "by chance with itself"],
)
def test_a_trial_tells_the_mean_and_the_steps_before_it_the_slowest(monkeypatch, slow, tried, pays):
    settling = _settling(lanes=128, slots=64)
    monkeypatch.setattr(settling, "_tried", lambda *_: np.array(tried))
    selves = np.full(128, 2**18)
    selves[0] *= 1 - slow
    lanes = SimpleNamespace(selves=selves, ballots=None)
    assert settling.is_over(None, lanes, 2**18) == pays


@pytest.mark.parametrize(("rate", "pays"), [(0.29, True), (0.31, False)])
def test_the_mean_counts_where_all_seeds_are_alike(rate, pays):
    """Two turns of 64 + 16 slots at 3 steps each, beside steps of 128 + 16 lanes."""
    assert _settling(lanes=128, slots=64)._pays(np.full(128, rate), 1e7) == pays


@pytest.mark.parametrize(("rate", "pays"), [(0.32, True), (0.34, False)])
def test_one_slow_seed_counts_where_no_slots_are_fewer(rate, pays):
    settling = _settling(lanes=8, slots=8)
    assert settling._pays(np.array([0.01] * 7 + [rate]), 1e8) == pays


@pytest.mark.parametrize(("rate", "pays"), [(0.47, True), (0.49, False), (1.0, False)])
def test_the_rate_of_a_slow_seed_falls_with_time(rate, pays):
    """As 1 / t, from t = 500,000 to a million: by log 2 in place of 1, to a third of the steps."""
    settling = _settling(lanes=8, slots=8)
    assert settling._pays(np.array([0.01] * 7 + [rate]), 5e5, t=5e5) == pays


@pytest.mark.parametrize(("left", "pays"), [(1_300, False), (1_310, True)])
def test_entering_the_loop_must_pay_too(left, pays):
    """2^18 / 5 turns of a slot, and twice 64 turns of 64 + 16 slots, at 3 steps each: as much as
    1,306 steps of 128 + 16 lanes."""
    assert _settling(lanes=128, slots=64)._pays(np.zeros(128), left) == pays


@pytest.mark.parametrize(("selves", "look"), [(0, 20_480), (1, 18_432)])
def test_no_look_soon_after_one_that_saw_no_comparison_of_an_arm_with_itself(selves, look):
    settling = _settling(lanes=8, slots=8)
    lanes = SimpleNamespace(selves=np.array([0] * 7 + [selves]), ballots=None)
    assert not settling.is_over(None, lanes, 16_384)
    assert settling.following(16_384) == look


def test_looks_become_rarer_and_do_not_depend_on_when_they_are_asked_for():
    settling, t, looks = _settling(lanes=8, slots=8), 0, [0]
    while t < 100_000:
        looks.append(t := settling.following(t))
    assert looks[:10] == [1024 * i for i in range(10)]
    assert max(np.diff(looks) / np.maximum(looks[1:], 8192)) <= 1 / 8
    for before, after in itertools.pairwise(looks):
        assert settling.following(after - 1) == settling.following(before) == after


def test_no_look_where_a_trial_costs_too_much_of_what_is_left():
    """32 trials of 8 lanes cost 160,352 steps: 32 turns and 2^16 / 8 / 5, at 3 each."""
    settling = _settling(lanes=8, slots=8)
    assert settling.following(786_431) == 786_432
    assert settling.following(786_432) == 10**6


def test_seeds_that_are_done_soon_may_cost_a_turn_for_each_comparison():
    """Where votes are the clock, seeds have comparisons of their own left: those that are never
    quiet have few, and the block goes on for the others."""
    settling, turns = _settling(lanes=8, slots=8), np.array([1.0] * 7 + [0.01])
    assert not settling._pays(turns, 1e6)
    assert settling._pays(turns, np.array([1e3] * 7 + [1e6]))


def test_the_last_seeds_step_in_fewer_lanes():
    """In 8 of 128 where votes are the clock, as in as many slots: a third of turns cost as much."""
    settling, left = _settling(lanes=128, slots=128), np.array([1e3] * 120 + [1e9] * 8)
    settling._job.cell.poll = object()
    for rate, pays in ((0.33, True), (0.34, False)):
        assert settling._pays(np.full(128, rate), left) == pays


def test_a_loop_that_is_not_at_hand_is_worth_what_is_seen_to_be_left(monkeypatch):
    """Most in a block so far, in which more may come to be seen; then that of further blocks."""
    absent = SimpleNamespace(is_at_hand=lambda *_, **__: False)
    monkeypatch.setattr(skip_heuristic.events, "begin", absent)
    monkeypatch.setattr(skip_heuristic, "is_drawn", lambda _: False)
    monkeypatch.setattr(skip_heuristic, "_missed", defaultdict(float))
    most, first, second = skip_heuristic.WORTH, *(_settling(lanes=8, slots=8) for _ in range(2))
    first._job = second._job = first._job._replace(program="of both")
    asked = [(first, 0.5, False), (first, 0.4, False), (first, 0.9, False), (second, 0.2, True)]
    for block, part, is_worth in asked:
        assert block._is_worth_its_compilation(None, None, part * most) == is_worth
