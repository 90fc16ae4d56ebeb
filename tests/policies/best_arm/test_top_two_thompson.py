"""Top-two Thompson sampling: the oracle by hand, the law of the challenger, shares of pulls; oracle
replay."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxduel as jd
from jaxduel.numerics.normal import normal_from_bits
from jaxduel.numerics.threefry import random_words, uniform, words_of
from jaxduel.policies.arms.estimates import with_rewards
from jaxduel.policies.best_arm.top_two_thompson import COIN, DRAWS, TopTwoThompson
from jaxduel.policies.registry import to_32_bits
from tests.oracles.best_arm.top_two_thompson import TopTwoThompson as Oracle
from tests.policies.arms.histories import (
    judge_late,
    late_pull_histories,
    pull_histories,
    random_arms,
    stacked,
    step_keys,
)
from tests.policies.arms.replays import PADDED, mask, run_keys, sizes

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def started(num_arms, rewards, **fields):
    oracle = Oracle(num_arms, **fields)
    for arm, reward in rewards:
        assert oracle.used >= num_arms or oracle.allowed() == {arm}
        oracle._allowed = [(arm, None)]
        oracle.play(arm, reward)
    return oracle


def test_top_two_by_hand():
    oracle = started(3, [(0, 0.5), (1, 0.2), (2, 0.1), (1, 0.4)])  # means .5, .3, .1
    draws = [[0.0, 1.0, 0.5], [0.1, 1.0, 0.0], [0.8, 0.5, 0.5]]  # .3 + 1 / sqrt(2) = 1.007
    assert oracle.allowed_given(0.4, draws) == {1}
    assert oracle.allowed_given(0.6, draws) == {0}  # 1.3, .65, .6


def test_t3c_by_hand():
    rewards = [(0, 0.5), (1, 0.2), (2, 0.1), (1, 0.4)]
    oracle = started(3, rewards, challenger="transport", std=0.5)
    # W(0, 1) = .04 / 1.5 / .5, W(0, 2) = .16 / 2 / .5
    assert oracle.allowed_given(0.6, [[0.0, 0.0, 0.0]]) == {1}
    # the leader is 2: both others have a larger mean
    assert oracle.allowed_given(0.6, [[0.0, 0.0, 9.0]]) == {0}


def test_a_sure_leader_leaves_the_challenger_open():
    oracle = started(3, [(0, 5.0), (1, 0.2), (2, 0.1)])
    assert oracle.allowed_given(0.6, [[0.0] * 3] * 2) == {1, 2}
    assert oracle.allowed_given(0.4, [[0.0] * 3] * 2) == {0}


# ---- the policy ---------------------------------------------------------------------------------


def make(num_arms, active=None, **fields):
    """A policy, its leaves of 32 bits, the first `active` arms of which exist."""
    there = mask(active or num_arms, num_arms)
    policy = TopTwoThompson(num_arms=num_arms, active_arms=there, **fields)
    policy.validate()
    return to_32_bits(policy)


NUM, SIZE = 200_000, 6


@jax.jit
def _arms(policy, state):
    keys = jax.random.split(jax.random.key(0), NUM)
    return jax.vmap(lambda key: policy.act(state, key).arm)(keys)


def challengers(means, pulls):
    """Shares of the arms, SIZE with padding, among challengers after these means of so many
    rewards."""
    policy, more = make(SIZE, len(means), beta=0.0), SIZE - len(means)
    n, mean = np.array([*pulls, *[1] * more]), np.array([*means, *[9.0] * more])
    start = policy.init(jax.random.key(0))
    known = with_rewards(start.estimates, jnp.int32(n), jnp.float32(n * mean))
    state = start._replace(estimates=known)
    return np.bincount(np.asarray(_arms(policy, state)), minlength=SIZE) / NUM


def best_chances(means, pulls):
    """The chance of each arm to be the best a posteriori, by a sum over a grid."""
    width = 1 / np.sqrt(np.array(pulls))
    x = np.linspace(min(means - 9 * width), max(means + 9 * width), 40_001)
    below = np.array([stats.norm.cdf(x, m, s) for m, s in zip(means, width, strict=True)])
    chances = [
        np.sum(stats.norm.pdf(x, means[i], width[i]) * np.prod(np.delete(below, i, 0), axis=0))
        for i in range(len(means))
    ]
    return np.array(chances) * (x[1] - x[0])


STATES = [
    ([1.0, 0.0], [5, 5]),
    ([1.0, 0.2, 0.0], [20, 10, 5]),
    ([1.0, 1.2, 0.0, 0.5], [3, 2, 1, 4]),
    ([0.0, -0.8, -0.8, -0.9, -0.7], [60, 30, 20, 10, 40]),  # the leader errs once in 180
    ([1.0, 0.5, 0.45, 0.4], [100, 90, 80, 70]),  # once in 2,000
]


@pytest.mark.thorough
@pytest.mark.parametrize(("means", "pulls"), STATES)
def test_the_challenger_has_the_law_of_resampling(means, pulls):
    """P(challenger j) = sum over leaders i of a_i a_j / (1 - a_i), a_i the chance to be best."""
    found, size = challengers(means, pulls), len(means)
    assert found[size:].sum() == 0
    a = best_chances(np.array(means), pulls)
    rest = np.array([np.delete(a, i).sum() for i in range(size)])  # 1 - a_i without cancellation
    chance = np.array([np.delete(a / rest * a[j], j).sum() for j in range(size)])
    assert chance.sum() == pytest.approx(1, rel=1e-6)
    error = np.sqrt(chance * (1 - chance) / NUM)
    assert (np.abs(found[:size] - chance) <= 4 * error).all()


def test_a_leader_that_is_nearly_certain_has_a_challenger():
    """d = 30 and 30.2: phi(d) / d is below float32's least number; the shares are as 1 to e^-6.02
    30 / 30.2."""
    means, pulls = [3.0, 0.0, -0.02], [200, 200, 200]
    found = challengers(means, pulls)
    second = 1 / (1 + np.exp((30.2**2 - 30**2) / 2) * 30.2 / 30)
    assert found[0] == 0
    assert abs(found[2] - second) <= 4 * np.sqrt(second / NUM) + 1e-4


@pytest.mark.thorough
@pytest.mark.parametrize("challenger", ["resampled", "transport"])
def test_the_share_of_the_leader_is_beta(challenger):
    problem = jd.problems.gaussian([1.0, 0.0, 0.3])
    policy = jd.policies.make("top-two-thompson", num_arms=3, beta=0.7, challenger=challenger)
    result = jd.simulate(policy, problem, 4_000, 64)
    plays = result.plays[:, -1] / 4_000
    assert abs(plays[:, 0].mean() - 0.7) < 0.02
    # the costs of both others are equal: 1 / (1/.7 + 1/w) = .49 / (1/.7 + 1/(.3 - w)) at w = .0895
    assert abs(plays[:, 1].mean() - 0.0895) < 0.01


# ---- oracle replay ------------------------------------------------------------------------------

_DRAWN = 25
"""Draws of all arms that the oracle is given for a step; few steps need more."""


@partial(jax.jit, static_argnames=("steps", "num_arms"))
def _randomness(keys, steps, num_arms):
    """Coins (num, steps) and normals (num, steps, draws, K) of the runs."""

    def of_step(key):
        seed = words_of(key)
        arms, draws = jnp.arange(num_arms), jnp.arange(_DRAWN)[:, None]
        z = normal_from_bits(*random_words(seed, arms, DRAWS + draws))
        return uniform(random_words(seed, 0, COIN)[0]), z

    return jax.vmap(lambda key: jax.vmap(of_step)(step_keys(key, steps)))(keys)


def random_policies(challenger, num_arms, num, steps):
    """Policies, stacked, a function from (run, step) to the allowed arms of each oracle, and the
    oracles."""
    draw, active = np.random.default_rng(14), sizes(num, num_arms, 14)
    policies, oracles = [], []
    for k in active.tolist():
        fields = {
            "std": float(draw.choice([1.0, 0.3, 4.0])),
            "beta": float(draw.choice([0.5, 0.5, 0.1])),
            "challenger": challenger,
        }
        policies.append(TopTwoThompson(num_arms=num_arms, active_arms=mask(k, num_arms), **fields))
        oracles.append(Oracle(k, **fields))
    coins, normals = map(np.asarray, _randomness(run_keys(num, 14), steps, num_arms))

    def allowed(run, t):
        given = normals[run, t, :, : active[run]].astype(float).tolist()
        return oracles[run].allowed_given(float(coins[run, t]), given)

    return stacked(policies), allowed, oracles


@pytest.mark.parametrize(
    ("challenger", "num_arms", "num"),
    [("resampled", PADDED, 100), ("resampled", 2, 50), ("transport", PADDED, 100)],
)
def test_top_two_follows_the_paper_given_the_random_numbers(challenger, num_arms, num):
    steps, one = 60, 0
    policies, allowed_at, oracles = random_policies(challenger, num_arms, num, steps)
    arms = random_arms(num_arms, num, 14)
    pulled, rewards = pull_histories(policies, arms, run_keys(num, 14), steps)
    for run, oracle in enumerate(oracles):
        for t in range(steps):
            allowed, arm = allowed_at(run, t), int(pulled[run, t])
            assert arm in allowed, f"run {run}, pull {t + 1}: {arm} not in {allowed}"
            oracle.play(arm, float(rewards[run, t]))
            one += len(allowed) == 1
    assert one > (0.75 if challenger == "resampled" else 0.98) * num * steps


def test_top_two_follows_the_paper_where_rewards_come_late():
    num, steps, delay = 50, 60, 10
    policies, allowed_at, oracles = random_policies("resampled", PADDED, num, steps)
    arms = random_arms(PADDED, num, 14)
    pulled, rewards = late_pull_histories(policies, arms, run_keys(num, 14), steps, delay)
    for run, oracle in enumerate(oracles):
        judge_late(oracle, pulled[run], rewards[run], delay, allowed_at=partial(allowed_at, run))
