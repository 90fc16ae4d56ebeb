"""Instances that change: outcomes of each stretch, the same plays skipped or not, regret."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Batch
from jaxduel.simulation import blocks, events, skip_heuristic
from jaxduel.simulation.instances import instance_of
from tests.choice import some
from tests.simulation.toys import Cycle, Rounds

pytestmark = pytest.mark.usefixtures("quick_compilation")

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


def _wins_in_turn(counts, arms, made):
    """Wins of i over j of the policy's arms: the comparisons of a round one by one, on TURNED."""
    wins, t = np.zeros((3, 3), int), made
    for i, j in zip(*np.triu_indices(3), strict=True):
        for _ in range(counts[i, j]):
            t += 1
            if i == j:
                continue
            best = 2 if 7 < t <= 60 else 0
            left_wins = abs(arms[i] - best) < abs(arms[j] - best)
            wins[(i, j) if left_wins else (j, i)] += 1
    return wins


@pytest.mark.parametrize("selves", [(0, 0, 0), (5, 20, 9)])
def test_comparisons_of_a_round_are_of_their_stretch(selves):
    instance = jax.tree.map(jnp.asarray, instance_of(TURNED, 3))
    counts, arms = np.array([[0, 31, 1], [0, 0, 51], [0, 0, 0]]) + np.diag(selves), [1, 2, 0]
    plan, key = Batch(jnp.asarray(counts, jnp.int32)), jax.random.key(0)
    draw = jax.jit(lambda made: instance.of_arms(jnp.array(arms)).sample_batch(key, plan, made))
    for made in (0, 3, 7, 20, 55, 60, 61):
        wins = draw(jnp.int32(made))
        np.testing.assert_array_equal(wins, _wins_in_turn(counts, arms, made))


def test_rounds_count_on_from_those_before():
    counts = np.array([[0, 5, 3], [0, 0, 4], [0, 0, 0]], np.int32)
    policy = Rounds(active_arms=ALL, horizon=108, counts=counts)
    ends = np.arange(12, 109, 12)
    result = jd.simulate(
        policy, TURNED, 108, 2, checkpoints=np.union1d(ends, [7, 60]), shuffle_arms=False,
        record_outcomes=True,
    )  # fmt: skip
    each = [_wins_in_turn(counts, [0, 1, 2], end - 12) for end in ends]
    there = np.isin(result.checkpoints, ends)  # where the outcomes of rounds before are known
    np.testing.assert_array_equal(result.outcomes[0, there][1:], np.cumsum(each, axis=0)[:-1])


def test_rounds_draw_each_stretch_by_its_law():
    soft = np.array([[0.5, 0.8], [0.2, 0.5]])
    problem = jd.problems.piecewise([soft, soft.T], [1_000])
    instance = jax.tree.map(jnp.asarray, instance_of(problem, 2))
    plan = Batch(jnp.array([[0, 4_000], [0, 0]], jnp.int32))
    draw = jax.vmap(
        lambda key: instance.of_arms(jnp.arange(2)).sample_batch(key, plan, jnp.int32(0))
    )
    wins = np.asarray(jax.jit(draw)(jax.random.split(jax.random.key(0), 400)))[:, 0, 1]
    mean, variance = 1_000 * 0.8 + 3_000 * 0.2, 4_000 * 0.16
    assert abs(wins.mean() - mean) < 4 * np.sqrt(variance / 400)
    assert abs(wins.var(ddof=1) / variance - 1) < 4 * np.sqrt(2 / 399)


def test_regret_is_against_the_best_arm_of_each_stretch():
    policy = Cycle(active_arms=ALL)
    result = jd.simulate(policy, TURNED, 80, 1, regret="average", shuffle_arms=False)
    assert {7, 60} <= set(result.checkpoints.tolist())
    each = np.where((result.checkpoints > 7) & (result.checkpoints <= 60), 0.5, 0.25)
    steps = np.diff(result.checkpoints, prepend=0)
    np.testing.assert_allclose(result.regret[0], np.cumsum(each * steps))
    votes = jd.simulate(policy, TURNED, 80, 1, regret="votes")
    np.testing.assert_array_equal(votes.regret[0], votes.checkpoints)


@pytest.mark.parametrize("name", some(("rmed1", "rucb"), (), slow=("rucb",)))
def test_skipping_changes_no_play(name, monkeypatch):
    monkeypatch.setattr(skip_heuristic, "TRIAL", 50)
    monkeypatch.setattr(skip_heuristic, "WORTH", 0)
    monkeypatch.setattr(skip_heuristic, "turn_cost", lambda *_: 0.0)
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
    with pytest.raises(jd.InputError, match="identify: 'piecewise' changes with time"):
        jd.identify(policy, TURNED, 100, 2)
    arms = jd.policies.make("ucb1", num_arms=3, index="anytime")
    with pytest.raises(jd.InputError, match="pulls arms that have rewards"):
        jd.simulate(arms, TURNED, 100, 2)
