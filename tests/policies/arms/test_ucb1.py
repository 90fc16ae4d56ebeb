"""UCB1: the oracle by hand, ties, sums, the figure's regret, what it refuses; oracle replay."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics import normal
from jaxduel.policies.arms.ucb1 import UCB1
from jaxduel.policies.base import Pull, RewardFeedback
from jaxduel.policies.registry import to_32_bits
from tests.choice import some
from tests.oracles.arms.ucb1 import UCB1 as Oracle
from tests.policies.arms.histories import (
    judge_late,
    late_pull_histories,
    pull_histories,
    random_arms,
    stacked,
)
from tests.policies.arms.oracle_runs import the_plan
from tests.policies.arms.replays import PADDED, check_pulls, horizons, mask, run_keys, sizes

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_ucb1_by_hand():
    oracle = Oracle(3, horizon=100)
    for arm, reward in enumerate([0.0, 1.0, 0.5]):
        assert the_plan(oracle) == arm
        oracle.play(arm, reward)
    oracle.play(1, -1.0)  # radius 3.03 of one pull, 2.146 of two
    assert the_plan(oracle) == 2
    oracle.play(2, 2.6)  # 0 + 3.03, 0 + 2.15, 1.55 + 2.15
    assert the_plan(oracle) == 2


def test_ucb1_with_the_pulls_so_far():
    oracle = Oracle(2)
    oracle.play(0, 0.0)
    oracle.play(1, 1.0)
    assert the_plan(oracle) == 1
    oracle.play(1, -0.5)  # t = 3: 0 + 1.482, .25 + 1.048
    assert the_plan(oracle) == 0


def test_ucb1_ties_go_to_the_first_arm():
    oracle = Oracle(2, horizon=10, rng=np.random.default_rng(0))
    oracle.play(0, 0.5)
    oracle.play(1, 0.5)
    assert oracle.allowed() == {0}


# ---- the policy ---------------------------------------------------------------------------------


def make(num_arms, active=None, **parameters):
    """A policy, its leaves of 32 bits, the first `active` arms of which exist."""
    mask = np.arange(num_arms) < (active or num_arms)
    policy = UCB1(num_arms=num_arms, active_arms=mask, **parameters)
    policy.validate()
    return to_32_bits(policy)


@partial(jax.jit, static_argnames="steps")
def played(policy, means, std, key, steps):
    """The state after so many pulls of Gaussian arms, and which they were."""

    def step(state, t):
        plan = policy.act(state, key)
        reward = means[plan.arm] + std * normal(jax.random.fold_in(key, t))
        return policy.update(state, plan, reward, key), plan.arm

    return jax.lax.scan(step, policy.init(key), jnp.arange(steps, dtype=jnp.int32))


def constant(policy, means, steps):
    """The arms pulled where every reward is its arm's mean."""
    means, key = jnp.asarray(means, jnp.float32), jax.random.key(0)
    return np.asarray(played(policy, means, jnp.float32(0), key, steps)[1])


@pytest.mark.parametrize("index", ["horizon", "anytime"])
def test_equal_arms_take_turns_and_padded_ones_wait_for_ever(index):
    policy = make(6, active=4, horizon=1000, index=index)
    arms = constant(policy, np.full(6, 0.3), 400)
    assert np.array_equal(arms, np.arange(400) % 4)


@pytest.mark.parametrize(("index", "scale"), [("horizon", 2.0), ("anytime", 0.5)])
def test_the_largest_index_is_pulled(index, scale):
    """Up to float32's rounding, with rewards that are known."""
    means = np.array([0.5, 0.8, -0.2, 0.61], np.float32).astype(float)
    arms = constant(make(4, horizon=3000, index=index, scale=scale), means, 3000)
    assert arms[:4].tolist() == [0, 1, 2, 3]
    n = np.ones(4)
    for t in range(4, 3000):
        upper = means + np.sqrt(scale * np.log(3000 if index == "horizon" else t) / n)
        assert upper[arms[t]] >= upper.max() - 1e-6
        n[arms[t]] += 1


def test_a_horizon_of_one_is_the_first_arm():
    assert constant(make(3, horizon=1), [0.0, 1.0, 2.0], 1) == [0]


def test_the_mean_follows_the_rewards_after_a_billion_pulls():
    policy = make(2, horizon=2**31 - 1)
    n, total, key = 10**9, np.float32(5e8), jax.random.key(0)
    state = policy.init(key)._replace(
        pulls=jnp.int32([n, 1]), total=jnp.float32([total, 0]), t=jnp.int32(n + 1)
    )
    rewards = np.random.default_rng(0).normal(0.25, 1.0, 100_000).astype(np.float32)

    @jax.jit
    def told(state):
        def step(state, reward):
            return policy.update(state, Pull(jnp.int32(0)), reward, key), None

        return jax.lax.scan(step, state, rewards)[0]

    after = told(state)
    exact = float(total) + rewards.astype(np.float64).sum()
    assert abs(float(after.total[0]) + float(after.carry[0]) - exact) < 0.01
    assert int(after.pulls[0]) == n + len(rewards)
    assert float(after.mean[0]) == pytest.approx(exact / (n + len(rewards)), rel=2e-7)
    assert float(after.width[0]) == pytest.approx((n + len(rewards)) ** -0.5, rel=2e-7)
    assert (int(after.pulls[1]), float(after.total[1])) == (1, 0)


def test_the_regret_in_the_figure():
    """Figure 1 (a) of "Batched multi-armed bandits problem": K = 3, T = 5e4, regret / T = 0.0057.

    The reference has 1,000 runs and four decimals.
    """
    horizon, runs = 50_000, 128
    policy = make(3, horizon=horizon)
    means, std = jnp.float32([0.6, 0.5, 0.5]), jnp.float32(1)
    keys = jax.random.split(jax.random.key(5), runs)
    run = jax.vmap(lambda key: played(policy, means, std, key, horizon)[0].pulls)
    regret = 0.1 * np.asarray(run(keys))[:, 1:].sum(axis=1) / horizon
    error = np.std(regret) * np.sqrt(1 / runs + 1 / 1000)
    assert error < 0.0002
    assert abs(np.mean(regret) - 0.0057) <= 4 * error + 0.00005


def test_arms_whose_rewards_are_withheld_are_pulled_in_turn():
    policy, key = make(5, active=4, horizon=1000), jax.random.key(0)
    withheld = jax.jit(lambda state: policy.update(state, policy.act(state, key), jnp.nan, key))
    state, arms = policy.init(key), []
    for _ in range(10):
        arms.append(int(policy.act(state, key).arm))
        state = withheld(state)
    assert arms == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
    pulls, totals = jnp.int32([3, 0, 2, 2, 0]), jnp.float32([3.0, 0, 1.0, 9.0, 0])
    state = policy.learn(state, RewardFeedback(pulls, totals))
    assert int(policy.act(state, key).arm) == 1  # still without a known reward
    assert state.mean[jnp.array([0, 2, 3])].tolist() == [1.0, 0.5, 4.5]
    assert int(state.t) == 10


def test_the_anytime_index_needs_no_horizon():
    assert make(3, index="anytime").horizon is None


# ---- oracle replay ------------------------------------------------------------------------------

quickly = pytest.mark.usefixtures("quick_compilation")
"""For the last tests of the file: it lasts until its end."""


def ucb1_cases(index, num_arms, num, seed, rng=None):
    draw = np.random.default_rng(seed)
    active = sizes(num, num_arms, seed)
    policies, oracles = [], []
    for k, T in zip(active.tolist(), horizons(num, seed, active, 10**5).tolist(), strict=True):
        horizon = T if index == "horizon" else None
        scale = float(draw.choice([2.0, 2.0, 0.5, 0.02]))
        policies.append(
            UCB1(
                num_arms=num_arms,
                active_arms=mask(k, num_arms),
                horizon=horizon,
                index=index,
                scale=scale,
            )
        )
        oracles.append(Oracle(k, horizon, scale, rng=rng))
    return policies, oracles, active


@pytest.mark.thorough
@quickly
@pytest.mark.parametrize(("num_arms", "num", "steps"), [(PADDED, 300, 100), (2, 150, 100)])
@pytest.mark.parametrize("index", ["horizon", "anytime"])
def test_ucb1_follows_the_paper(index, num_arms, num, steps):
    policies, oracles, _ = ucb1_cases(index, num_arms, num, seed=num_arms)
    arms = random_arms(num_arms, num, 10)
    histories = pull_histories(stacked(policies), arms, run_keys(num, 10), steps)
    check_pulls(oracles, *histories)


@quickly
@pytest.mark.parametrize("delay", some([2, 7, 25], [7]))
@pytest.mark.parametrize("index", ["horizon", "anytime"])
def test_ucb1_follows_the_paper_where_rewards_come_late(index, delay):
    num, steps = 100, 100 // delay * delay
    policies, oracles, _ = ucb1_cases(index, PADDED, num, seed=14)
    arms, keys = random_arms(PADDED, num, 14), run_keys(num, 14)
    pulled, rewards = late_pull_histories(stacked(policies), arms, keys, steps, delay)
    for run in range(num):
        judge_late(oracles[run], pulled[run], rewards[run], delay)


@pytest.mark.thorough
@quickly
@pytest.mark.parametrize("index", ["horizon", "anytime"])
def test_ucb1_follows_the_paper_for_long(index):
    policies, oracles, _ = ucb1_cases(index, PADDED, 4, seed=11)
    histories = pull_histories(stacked(policies), random_arms(PADDED, 4, 11), run_keys(4, 11), 5000)
    check_pulls(oracles, *histories)


@pytest.mark.thorough
@quickly
@pytest.mark.parametrize("index", ["horizon", "anytime"])
def test_ucb1_gives_ties_to_the_first_arm(index):
    """Equal arms whose rewards are all 0: the first of the least pulled arms."""
    num, steps = 300, 100
    policies, _, active = ucb1_cases(index, PADDED, num, seed=12)
    arms = random_arms(PADDED, num, 12, grain=1.0)
    arms = arms._replace(means=np.zeros_like(arms.means), std=np.zeros_like(arms.std))
    pulled, _ = pull_histories(stacked(policies), arms, run_keys(num, 12), steps)
    expected = np.arange(steps) % active[:, None]
    np.testing.assert_array_equal(pulled, expected)
