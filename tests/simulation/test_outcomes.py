"""Outcomes, where they are asked for: wins of pairs, rewards of arms."""

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation import skip_heuristic
from tests.simulation.toys import Copycat, Cycle, Rounds

ALL = np.ones(3, bool)
SURE = jd.problems.from_matrix([[0.5, 1, 1], [0, 0.5, 1], [0, 0, 0.5]])
PROBLEM = jd.problems.from_matrix([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]])
PLACE = {"num_seeds": 4, "lanes": 3, "devices": jax.devices()[:1]}
SETTINGS = {**PLACE, "record_outcomes": True}

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


def test_wins_are_counted_at_each_checkpoint_in_the_order_of_the_problem():
    policy = Cycle(active_arms=ALL, pairs=((1, 0), (1, 0), (2, 2), (0, 1)))
    result = jd.simulate(policy, SURE, 6, checkpoints=[2, 6], shuffle_arms=False, **SETTINGS)
    assert result.outcomes.dtype == np.int32
    assert (result.outcomes[:, 0] == [[0, 2, 0], [0, 0, 0], [0, 0, 0]]).all()
    assert (result.outcomes[:, 1] == [[0, 5, 0], [0, 0, 0], [0, 0, 0]]).all()
    policy = Cycle(active_arms=ALL, pairs=((1, 0), (2, 1), (0, 2)))
    shuffled = jd.simulate(policy, SURE, 6, checkpoints=[6], **SETTINGS)
    assert (shuffled.outcomes[:, 0] == [[0, 2, 2], [0, 0, 2], [0, 0, 0]]).all()


@pytest.mark.parametrize("delay", [1, 4])
def test_wins_and_losses_are_the_comparisons_of_different_arms(delay):
    policy = Cycle(active_arms=ALL, pairs=((1, 0), (2, 1), (2, 2)))
    settings = {**SETTINGS, "record_pairs": True, "delay": delay}
    result = jd.simulate(policy, PROBLEM, 600, checkpoints=[7, 600], **settings)
    either = result.outcomes + result.outcomes.swapaxes(-1, -2)
    pairs = result.pairs + result.pairs.swapaxes(-1, -2)
    np.testing.assert_array_equal(either, pairs * (1 - np.eye(3, dtype=int)))
    assert len(np.unique(result.outcomes[:, 1], axis=0)) > 1


def test_of_a_batched_policy_those_of_earlier_rounds():
    counts = np.array([[0, 2, 1], [0, 0, 3], [0, 0, 1]], np.int32)
    policy = Rounds(active_arms=ALL, horizon=21, counts=counts)
    settings = {**SETTINGS, "shuffle_arms": False, "checkpoints": [3, 7, 8, 21]}
    result = jd.simulate(policy, SURE, **settings)
    wins = counts * (1 - np.eye(3, dtype=int))
    for at, rounds in enumerate((0, 0, 1, 2)):
        assert (result.outcomes[:, at] == rounds * wins).all()


def test_outcomes_change_no_other_number_and_quiet_runs_have_none(monkeypatch):
    monkeypatch.setattr(skip_heuristic, "TRIAL", 50)
    monkeypatch.setattr(skip_heuristic, "WORTH", 0)
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 0.0)
    policy = jd.policies.make("rmed1", num_arms=3, scale=0.1)
    problem = jd.problems.from_matrix([[0.5, 0.9, 0.9], [0.1, 0.5, 0.9], [0.1, 0.1, 0.5]])
    with_outcomes = jd.simulate(policy, problem, 2_000, **SETTINGS)
    plain = jd.simulate(policy, problem, 2_000, **SETTINGS, skip_quiet=False)
    without = jd.simulate(policy, problem, 2_000, **PLACE)
    assert without.outcomes is None
    assert with_outcomes.outcomes[:, -1].sum() < 0.2 * 4 * 2_000
    np.testing.assert_array_equal(with_outcomes.plays, without.plays)
    np.testing.assert_array_equal(with_outcomes.outcomes, plain.outcomes)
    two = Cycle(active_arms=ALL, pairs=((1, 0), (2, 1), (2, 2)))
    alone = jd.simulate(two, PROBLEM, 6, checkpoints=[6], **SETTINGS)
    together = jd.simulate_many([two, two], PROBLEM, 6, checkpoints=[6], **SETTINGS)
    np.testing.assert_array_equal(together[1].outcomes, alone.outcomes)


def test_withheld_outcomes_are_counted_when_they_come_about():
    policy = Copycat(active_arms=np.ones(2, bool))
    result = jd.simulate(
        policy, jd.problems.from_matrix([[0.5, 0.7], [0.3, 0.5]]), 10, checkpoints=[3, 10],
        delay=5, **SETTINGS,
    )  # fmt: skip
    assert (result.outcomes.sum(axis=(2, 3)) == [3, 5]).all()


@pytest.mark.parametrize("rewards", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("name", ["ucb1", "base"])
def test_rewards_are_counted_from_their_means(name, rewards):
    make = getattr(jd.problems, rewards)
    problem = make([0.6, 0.5, 0.1])
    horizon, seeds = 600, 2_000
    batches = {"num_batches": 3} if name == "base" else {}
    policy = jd.policies.make(name, num_arms=3, horizon=horizon, **batches)
    times = np.arange(1, horizon + 1) if name == "base" else [horizon]
    settings = {"record_outcomes": True, "devices": jax.devices()[:1], "checkpoints": times}
    result = jd.simulate(policy, problem, horizon, seeds, **settings)
    assert result.outcomes.shape == (seeds, len(times), 3)
    assert result.outcomes.dtype == np.float64
    variance = 1.0 if rewards == "gaussian" else problem.means * (1 - problem.means)
    last, drawn = result.outcomes[:, -1], result.plays[:, -1]
    if name == "base":
        assert (result.outcomes[:, 0] == 0).all()
        same = (result.outcomes == last[:, None]).all(axis=-1)
        drawn = result.plays[np.arange(seeds), same.argmax(axis=1) - 1]  # before the last round
    if rewards == "bernoulli":
        ones = last + drawn * problem.means.astype(np.float32).astype(np.float64)
        np.testing.assert_allclose(ones, ones.round(), rtol=0, atol=1e-9)  # counted, not added up
    error = last.std(axis=0) / np.sqrt(seeds)
    assert (np.abs(last.mean(axis=0)) < 4 * error).all()  # a martingale
    squares = last**2 - variance * drawn  # and its quadratic variation
    error = squares.std(axis=0) / np.sqrt(seeds)
    assert (np.abs(squares.mean(axis=0)) < 4 * error).all()


def test_outcomes_open_in_xarray():
    policy = Cycle(active_arms=ALL, pairs=((1, 0), (2, 2)))
    data = jd.simulate(policy, PROBLEM, 6, checkpoints=[6], **SETTINGS).to_xarray()
    assert data["outcomes"].dims == ("seed", "checkpoint", "winner", "loser")
