"""SW-UCB: the oracle by hand, UCB1 where the window is long, the default window, a jump, sums that
do not drift; oracle replay."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.arms.sw_ucb import SWUCB
from jaxduel.policies.base import Pull, RewardFeedback
from jaxduel.policies.registry import to_32_bits
from tests.choice import some
from tests.oracles.arms.sw_ucb import SWUCB as Oracle
from tests.policies.arms.histories import (
    judge_late,
    late_pull_histories,
    pull_histories,
    random_arms,
    stacked,
)
from tests.policies.arms.oracle_runs import the_plan
from tests.policies.arms.replays import PADDED, against, check_pulls, mask, run_keys, sizes

KEY = jax.random.key(0)

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_sw_ucb_by_hand():
    oracle = Oracle(2, tau=3, xi=0.5)
    for arm, reward in enumerate([0.0, 1.0]):
        assert the_plan(oracle) == arm
        oracle.play(arm, reward)
    assert the_plan(oracle) == 1  # log 2: 0 + .589, 1 + .589
    oracle.play(1, 0.25)
    assert the_plan(oracle) == 1  # log 3: 0 + .741, .625 + .524
    oracle.play(1, 0.5)  # the window is arm 1 three times
    assert the_plan(oracle) == 0
    oracle.play(0, 0.0)
    assert the_plan(oracle) == 1  # 0 + .741, .375 + .524
    oracle.play(1, -1.5)  # .5 and -1.5: -.5 + .524
    assert the_plan(oracle) == 0


# ---- the policy ---------------------------------------------------------------------------------


def make(num_arms, active=None, **parameters):
    """A policy, its leaves of 32 bits, the first `active` arms of which exist."""
    policy = SWUCB(num_arms=num_arms, active_arms=mask(active or num_arms, num_arms), **parameters)
    policy.validate()
    return to_32_bits(policy)


@jax.jit
def told(policy, state, arms, rewards):
    """The state after these pulls, and the arms that it would have pulled."""

    def step(state, pull):
        wanted = policy.act(state, KEY).arm
        return policy.update(state, Pull(pull[0]), pull[1], KEY), wanted

    return jax.lax.scan(step, state, (arms, rewards))


@pytest.mark.parametrize("window", [500, 10_000])
def test_a_window_of_all_pulls_is_ucb1(window):
    std, xi = 0.7, 0.8
    ucb1 = jd.policies.make("ucb1", num_arms=4, index="anytime", scale=4 * xi * std**2)
    rewards = np.random.default_rng(0).normal([0.3, 0.5, 0.2, 0.45], 0.5, (500, 4))
    rewards = rewards.astype(np.float32)
    np.testing.assert_array_equal(
        against(make(4, window=window, std=std, xi=xi), rewards), against(ucb1, rewards)
    )


def test_the_default_window_is_the_one_of_the_paper():
    made = jd.policies.make("sw-ucb", num_arms=3, horizon=10_000, changes=2, std=0.5)
    assert made.window == math.ceil(2 * math.sqrt(1e4 * math.log(1e4) / 2))
    assert jd.policies.make("sw-ucb", num_arms=3, horizon=1).window == 3  # at least K
    assert jd.policies.make("sw-ucb", num_arms=3, horizon=10**6, window=77).window == 77
    few = jd.policies.make("sw-ucb", num_arms=9, horizon=1, active_arms=np.arange(9) < 4)
    assert few.window == 4  # whatever the padding


def test_the_best_arm_after_a_jump_is_found_within_a_window_or_so():
    """The best arm becomes the worse: UCB1 needs as many pulls as there were before."""
    means = np.repeat(np.float32([[0.5, 0.9], [0.5, 0.1]]), [5_000, 2_000], axis=0)
    arms = np.asarray(against(make(2, window=300, std=0.5), means))
    assert arms[600:5_000].mean() > 0.9
    assert arms[5_300:].mean() < 0.1
    ucb1 = jd.policies.make("ucb1", num_arms=2, index="anytime", scale=0.5)
    assert np.mean(np.asarray(against(ucb1, means))[5_000:]) > 0.9


def check_sums(state, arms, rewards, window, error):
    """The state's sums are those of the last pulls, up to `error`."""
    arms, rewards = arms[-window:], rewards[-window:].astype(np.float64)
    for arm in range(len(state.pulls)):
        here = rewards[arms == arm]
        assert int(state.pulls[arm]) == len(here)
        sums = float(state.total[arm]) + float(state.carry[arm])
        assert abs(sums - here.sum()) <= error
        if len(here) > 0:
            assert float(state.mean[arm]) == pytest.approx(here.mean(), rel=1e-6, abs=error)
            assert float(state.width[arm]) == pytest.approx(len(here) ** -0.5, rel=2e-7)
        else:
            assert (float(state.mean[arm]), float(state.width[arm])) == (2.0**127, 0)


@pytest.mark.parametrize("number", [200_000, pytest.param(10_000_000, marks=pytest.mark.thorough)])
def test_sums_do_not_drift(number):
    """A plain float32 sum is off by 0.1 after 1e7 pulls."""
    rng = np.random.default_rng(1)
    arms = rng.choice([0, 1, 2], number, p=[0.9, 0.0999, 0.0001]).astype(np.int32)
    rewards = rng.normal([1.0, 3.0, 0.0], 1.0, (number, 3))[np.arange(number), arms]
    rewards = rewards.astype(np.float32)
    policy = make(4, window=1_000)
    check_sums(told(policy, policy.init(KEY), arms, rewards)[0], arms, rewards, 1_000, 1e-7)


def test_whole_rewards_are_summed_exactly():
    rng = np.random.default_rng(2)
    arms, rewards = rng.integers(0, 3, 50_000), rng.integers(0, 2, 50_000)
    policy = make(3, window=777)
    state, _ = told(policy, policy.init(KEY), arms.astype(np.int32), rewards.astype(np.float32))
    check_sums(state, arms, rewards, 777, 0.0)


@pytest.mark.parametrize(("window", "delay"), [(1_000, 7), (100, 400)])
def test_sums_of_late_rewards_do_not_drift(window, delay):
    """Each of the late rewards leaves the sum as what it was told as."""
    policy, blocks = make(4, window=window), 20_000 // delay
    rng = np.random.default_rng(1)
    arms = rng.choice([0, 1, 2], (blocks, delay), p=[0.9, 0.0999, 0.0001]).astype(np.int32)
    rewards = rng.normal(1.0, 1.0, (blocks, delay)).astype(np.float32)

    @jax.jit
    def told_late(state, arms, rewards):
        def withheld(state, arm):
            return policy.update(state, Pull(arm), jnp.float32(jnp.nan), KEY), None

        def block(state, pulls):
            state, _ = jax.lax.scan(withheld, state, pulls[0])
            each = jax.nn.one_hot(pulls[0], 4)
            totals = (each * pulls[1][:, None]).sum(axis=0)
            return policy.learn(state, RewardFeedback(each.sum(0).astype(jnp.int32), totals)), None

        return jax.lax.scan(block, state, (arms, rewards))[0]

    state = told_late(policy.init(KEY), arms, rewards)
    rows = np.asarray(state.recent, np.float64)
    assert (rows[:, 0] >= 0).all()
    assert (np.asarray(state.late) == 0).all()
    for arm in range(4):
        here = rows[rows[:, 0] == arm, 1]
        assert int(state.pulls[arm]) == len(here) == (arms.ravel()[-window:] == arm).sum()
        assert float(state.total[arm]) + float(state.carry[arm]) == pytest.approx(
            here.sum(), abs=1e-8
        )
    last = arms.ravel()[-window:] == 0
    if window > delay:  # whole blocks, but for the first
        exact = rewards.ravel()[-window:][last].mean()
        assert float(state.mean[0]) == pytest.approx(exact, abs=0.01)


def test_the_window_goes_on_at_the_end_of_time():
    policy, last = make(2, window=1_000), 2**31 - 1
    state = policy.init(KEY)._replace(t=jnp.int32(last - 3))
    state, _ = told(policy, state, np.zeros(3, np.int32), np.float32([1, 2, 3]))
    assert int(state.t) == last
    assert float(state.mean[0]) == 2.0
    assert int(state.pulls[0]) == 3


# ---- oracle replay ------------------------------------------------------------------------------

quickly = pytest.mark.usefixtures("quick_compilation")
"""For the last tests of the file: it lasts until its end."""


def cases(num_arms, num, window, seed):
    """Policies and their oracles."""
    rng = np.random.default_rng(seed)
    active = sizes(num, num_arms, seed)
    policies, oracles = [], []
    for k in active.tolist():
        std, xi = float(rng.choice([0.5, 1.0, 0.05])), float(rng.choice([0.5, 0.6, 0.1]))
        policies.append(
            SWUCB(num_arms=num_arms, active_arms=mask(k, num_arms), window=window, std=std, xi=xi)
        )
        oracles.append(Oracle(k, window, 2 * std, xi))
    return policies, oracles


def replayed(num_arms, num, steps, window, seed):
    policies, oracles = cases(num_arms, num, window, seed)
    arms, keys = random_arms(num_arms, num, seed), run_keys(num, seed)
    check_pulls(oracles, *pull_histories(stacked(policies), arms, keys, steps))


@quickly
@pytest.mark.parametrize(("num_arms", "window"), [(PADDED, 20), (2, 7)])
def test_sw_ucb_follows_the_paper(num_arms, window):
    replayed(num_arms, 100, 80, window, seed=num_arms)


@pytest.mark.thorough
@quickly
@pytest.mark.parametrize(("num_arms", "window"), [(PADDED, 6), (PADDED, 50), (2, 2), (2, 30)])
def test_sw_ucb_follows_the_paper_often(num_arms, window):
    replayed(num_arms, 300, 150, window, seed=10 + window)


@pytest.mark.thorough
@quickly
def test_sw_ucb_follows_the_paper_for_long():
    replayed(PADDED, 4, 5_000, 300, seed=11)


@quickly
@pytest.mark.parametrize(
    ("window", "delay"), some([(20, 3), (20, 50), (7, 2), (60, 10), (50, 50)], [(20, 3), (20, 50)])
)
def test_sw_ucb_follows_the_paper_where_rewards_come_late(window, delay):
    num, steps = 100, 150
    policies, oracles = cases(PADDED, num, window, seed=30)
    arms, keys = random_arms(PADDED, num, 30), run_keys(num, 30)
    pulled, rewards = late_pull_histories(stacked(policies), arms, keys, steps, delay)
    for run, oracle in enumerate(oracles):
        judge_late(oracle, pulled[run], rewards[run], delay)
