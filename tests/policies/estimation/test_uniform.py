"""Uniform sampling and round robin: laws of pairs, regret in closed form, starts from counts."""

import itertools

import jax
import numpy as np
import pytest

import jaxduel as jd
from tests.policies.histories import KEY, played

NAMES = ("uniform", "round-robin")


def test_uniform_pairs_have_the_law_of_ordered_pairs():
    """With two arms of padding."""
    policy = jd.policies.make("uniform", num_arms=6, active_arms=[1, 1, 1, 1, 0, 0])
    num = 60_000
    keys = jax.random.split(jax.random.key(1), num)
    left, right = jax.jit(jax.vmap(policy.act, (None, 0)))(policy.init(KEY), keys)
    share = np.histogram2d(left, right, bins=np.arange(-0.5, 6))[0] / num
    expected = np.zeros((6, 6))
    expected[:4, :4] = (1 - np.eye(4)) / 12
    assert (np.abs(share - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / num)).all()


def test_round_robin_goes_through_all_pairs_in_turn():
    policy = jd.policies.make("round-robin", num_arms=5, active_arms=[1, 1, 1, 1, 0])
    duels, _ = played(policy, lambda left, right: 1, 14)
    turn = list(itertools.combinations(range(4), 2))
    assert duels == [*turn, *turn, *turn[:2]]
    policy = jd.policies.make("round-robin", num_arms=2)
    assert set(played(policy, lambda left, right: -1, 3)[0]) == {(0, 1)}


@pytest.mark.parametrize("num_arms", [2, 3, 6])
def test_round_robin_goes_on_where_the_number_of_comparisons_says(num_arms):
    policy = jd.policies.make("round-robin", num_arms=num_arms)
    duels, _ = played(policy, lambda left, right: 1, 40)
    for t, duel in enumerate(duels):
        wins = np.zeros((num_arms, num_arms), int)
        wins[1, 0] = t
        assert policy.act(jd.policies.state_from_wins(policy, wins), KEY) == duel


@pytest.mark.parametrize("name", NAMES)
def test_average_regret_is_t_times_the_mean_gap_of_all_arms(name):
    """Exactly so for round robin at the ends of rounds."""
    problem = jd.problems.load("arxiv")
    num, times = problem.num_arms, [15, 150, 1500]
    policy = jd.policies.make(name, num_arms=num)
    result = jd.simulate(
        policy, problem, times[-1], 2000, checkpoints=times, regret="average", lanes=2000
    )
    gaps = problem.preferences[problem.condorcet_winner] - 0.5
    expected = np.array(times) * gaps.mean()
    if name == "round-robin":
        np.testing.assert_allclose(result.regret, np.broadcast_to(expected, (2000, 3)), rtol=1e-12)
    else:
        assert (np.abs(result.mean - expected) <= 4 * result.sem).all()
        assert (result.sem < 0.05 * expected).all()
