"""Instances that change: outcomes of each stretch, the same plays skipped or not, regret."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.simulation import blocks, events, skip_heuristic
from tests.simulation.toys import Cycle

SURE = np.array([[0.5, 1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]])
ALL = np.ones(3, bool)
TURNED = jd.problems.piecewise([SURE, SURE.T, SURE], [7, 60])


@pytest.mark.parametrize("delay", [1, 5])
def test_each_comparison_is_of_its_stretch(delay, monkeypatch):
    monkeypatch.setattr(blocks, "STEPS_PER_CALL", 13)
    policy = Cycle(active_arms=ALL)
    times = np.arange(1, 101)
    result = jd.simulate(
        policy, TURNED, 100, 4, checkpoints=times, record_outcomes=True, shuffle_arms=True,
        delay=delay,
    )  # fmt: skip
    wins = np.diff(result.outcomes, axis=1, prepend=0)
    played = np.diff(result.plays, axis=1, prepend=0)
    for t in times:
        best = 2 if 7 < t <= 60 else 0
        for seed in range(4):
            (pair,) = np.nonzero(played[seed, t - 1])
            winner = min(pair, key=lambda arm: abs(arm - best))
            assert wins[seed, t - 1, winner].sum() == 1


def test_regret_is_against_the_best_arm_of_each_stretch():
    policy = Cycle(active_arms=ALL)
    result = jd.simulate(policy, TURNED, 80, 1, regret="average", shuffle_arms=False)
    assert {7, 60} <= set(result.checkpoints.tolist())
    each = np.where((result.checkpoints > 7) & (result.checkpoints <= 60), 0.5, 0.25)
    steps = np.diff(result.checkpoints, prepend=0)
    np.testing.assert_allclose(result.regret[0], np.cumsum(each * steps))
    votes = jd.simulate(policy, TURNED, 80, 1, regret="votes")
    np.testing.assert_array_equal(votes.regret[0], votes.checkpoints)


@pytest.mark.parametrize("name", ["rmed1", pytest.param("rucb", marks=pytest.mark.slow)])
def test_skipping_changes_no_play(name, monkeypatch):
    monkeypatch.setattr(skip_heuristic, "TRIAL", 50)
    monkeypatch.setattr(skip_heuristic, "WORTH", 0)
    monkeypatch.setattr(skip_heuristic, "TURN_COST", 0.0)
    monkeypatch.setattr(skip_heuristic, "NARROW", 0)
    monkeypatch.setattr(events, "MOST_SLOTS", 4)
    soft = np.array([[0.5, 0.8, 0.9], [0.2, 0.5, 0.8], [0.1, 0.2, 0.5]])
    problem = jd.problems.piecewise([soft, soft.T], [400])
    policy = jd.policies.make(name, num_arms=3)
    skipped, plain = (
        jd.simulate(policy, problem, 3_000, 16, skip_quiet=skip) for skip in (True, False)
    )
    assert np.array_equal(skipped.plays, plain.plays)
    assert np.array_equal(skipped.regret, plain.regret)
    assert plain.plays[:, -1].argmax(axis=1).tolist().count(2) > 8  # they find the new winner


def test_a_change_to_the_same_matrix_changes_nothing():
    problem = jd.problems.load("cyclic")
    same = jd.problems.piecewise([problem, problem], [100], problem.name)
    policy = jd.policies.make("rucb", num_arms=4)
    settings = {"num_seeds": 8, "checkpoints": [10, 100, 500], "regret": "weak"}
    plain, changing = (jd.simulate(policy, x, 500, **settings) for x in (problem, same))
    assert np.array_equal(plain.plays, changing.plays)
    np.testing.assert_allclose(plain.regret, changing.regret)


def test_what_cannot_be_played_is_refused():
    policy = jd.policies.make("rucb", num_arms=3)
    with pytest.raises(
        jd.InputError, match="must include the changes of 'piecewise': 60 is missing"
    ):
        jd.simulate(policy, TURNED, 100, 2, checkpoints=[7, 100])
    jd.simulate(policy, TURNED, 60, 2, checkpoints=[7, 60])  # the end of a stretch
    batched = jd.policies.make("pcomp", num_arms=3, horizon=100, num_batches=3)
    with pytest.raises(jd.InputError, match="pcomp plans batches, and 'piecewise' changes"):
        jd.simulate(batched, TURNED, 100, 2)
    with pytest.raises(jd.InputError, match="must have arms that are compared"):
        jd.identify(policy, TURNED, 100, 2)
    arms = jd.policies.make("ucb1", num_arms=3, index="anytime")
    with pytest.raises(jd.InputError, match="pulls arms that have rewards"):
        jd.simulate(arms, TURNED, 100, 2)
