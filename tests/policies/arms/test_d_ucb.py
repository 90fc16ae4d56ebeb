"""D-UCB: the oracle by hand, UCB1 without discount, the default discount, a jump, sums that do not
drift; oracle replay."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.arms.d_ucb import DUCB
from jaxduel.policies.base import Pull
from jaxduel.policies.registry import to_32_bits
from tests.choice import some
from tests.oracles.arms.d_ucb import DUCB as Oracle
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


def test_d_ucb_by_hand():
    oracle = Oracle(2, gamma=0.5, xi=0.5)
    for arm, reward in enumerate([0.0, 1.0]):
        assert the_plan(oracle) == arm
        oracle.play(arm, reward)
    # N = 1/2, 1; n = 3/2: 0 + 2 sqrt(.5 .405 / .5) = 1.27, 1 + .900
    assert the_plan(oracle) == 1
    oracle.play(1, 0.0)
    # N = 1/4, 3/2; n = 7/4; Xbar = 0, (1/2) / (3/2): 2.12, .333 + .864
    assert the_plan(oracle) == 0


# ---- the policy ---------------------------------------------------------------------------------


def make(num_arms, active=None, **parameters):
    """A policy, its leaves of 32 bits, the first `active` arms of which exist."""
    policy = DUCB(num_arms=num_arms, active_arms=mask(active or num_arms, num_arms), **parameters)
    policy.validate()
    return to_32_bits(policy)


@jax.jit
def told(policy, state, arms, rewards):
    """The state after these pulls."""

    def step(state, pull):
        return policy.update(state, Pull(pull[0]), pull[1], KEY), None

    return jax.lax.scan(step, state, (arms, rewards))[0]


def test_without_discount_it_is_ucb1():
    std, xi = 0.7, 0.8
    ucb1 = jd.policies.make("ucb1", num_arms=4, index="anytime", scale=16 * xi * std**2)
    rewards = np.random.default_rng(0).normal([0.3, 0.5, 0.2, 0.45], 0.5, (500, 4))
    rewards = rewards.astype(np.float32)
    np.testing.assert_array_equal(
        against(make(4, gamma=1.0, std=std, xi=xi), rewards), against(ucb1, rewards)
    )


def test_the_default_discount_is_the_one_of_the_paper():
    usual = jd.policies.make("d-ucb", num_arms=3, horizon=10_000, changes=4, std=0.5)
    given = jd.policies.make("d-ucb", num_arms=3, gamma=1 - np.sqrt(4 / 1e4) / 4, std=0.5)
    rewards = np.random.default_rng(3).normal([0.3, 0.5, 0.2], 0.5, (2_000, 3)).astype(np.float32)
    np.testing.assert_array_equal(against(usual, rewards), against(given, rewards))


def test_the_best_arm_after_a_jump_is_found():
    """The best arm becomes the worse: UCB1 needs as many pulls as there were before."""
    means = np.repeat(np.float32([[0.5, 0.9], [0.5, 0.1]]), [5_000, 2_000], axis=0)
    arms = np.asarray(against(make(2, gamma=0.99, std=0.25), means))
    assert arms[600:5_000].mean() > 0.9
    assert arms[5_300:].mean() < 0.1
    ucb1 = jd.policies.make("ucb1", num_arms=2, index="anytime", scale=0.5)
    assert np.mean(np.asarray(against(ucb1, means))[5_000:]) > 0.9


def check_sums(policy, state, arms, rewards, gamma):
    """The averages and numbers are those of the definition."""
    per_unit = float(np.exp(float(policy._rate()) * int(state.age)))
    discount = gamma ** np.arange(len(arms) - 1.0, -1.0, -1.0)
    for arm in range(len(state.mean)):
        here = arms == arm
        if not here.any():
            assert (float(state.mean[arm]), float(state.width[arm])) == (2.0**127, 0)
            continue
        number = discount[here].sum()
        mean = (discount * rewards.astype(np.float64))[here].sum() / number
        assert float(state.mean[arm]) == pytest.approx(mean, rel=2e-5)
        assert (float(state.width[arm]) ** 2 * per_unit) == pytest.approx(1 / number, rel=2e-5)


@pytest.mark.parametrize(
    ("forget", "number"),
    [
        *((forget, 100_000) for forget in (0.0, 1e-6, 1e-4, 0.1, 0.9)),
        *(pytest.param(f, 20_000_000, marks=pytest.mark.thorough) for f in (0.0, 1e-6, 1e-4)),
    ],
)
def test_sums_do_not_drift(forget, number):
    """Sums of float32 that shrink at each pull are off by a thirtieth where gamma is 1 - 1e-6, and
    by a sixth where it is 1 and there are 2e7 pulls."""
    rng = np.random.default_rng(1)
    arms = rng.choice([0, 1], number, p=[0.9, 0.1]).astype(np.int32)
    rewards = rng.normal([1.0, 3.0], 1.0, (number, 2))[np.arange(number), arms]
    gamma = float(np.float32(1 - forget))
    policy = make(3, gamma=gamma)
    state = told(policy, policy.init(KEY), arms, rewards.astype(np.float32))
    check_sums(policy, state, arms, rewards, gamma)


def test_an_arm_that_is_long_gone_is_pulled_before_its_weight_is_none():
    """Gaps that are large next to std: the width of an arm grows up to float32's largest number."""
    policy = make(2, gamma=0.5, std=1e-6)
    arms = np.zeros(5_000, np.int32)
    arms[0] = 1
    state = told(policy, policy.init(KEY), arms, np.float32(arms == 0))
    assert np.isfinite(np.asarray(state.width)).all()
    assert float(state.mean[1]) == 0.0
    assert int(policy.act(state, KEY).arm) == 1


def test_the_clock_goes_on_at_the_end_of_time():
    policy, last = make(2, gamma=0.999), 2**31 - 1
    state = policy.init(KEY)._replace(t=jnp.int32(last - 3))
    state = told(policy, state, np.zeros(3, np.int32), np.float32([1, 2, 3]))
    assert int(state.t) == last
    assert float(state.mean[0]) == pytest.approx(2.0, rel=1e-3)


# ---- oracle replay ------------------------------------------------------------------------------

quickly = pytest.mark.usefixtures("quick_compilation")
"""For the last tests of the file: it lasts until its end."""


def cases(num_arms, num, seed):
    """Policies and their oracles."""
    rng = np.random.default_rng(seed)
    active = sizes(num, num_arms, seed)
    policies, oracles = [], []
    for k in active.tolist():
        std, xi = float(rng.choice([0.5, 1.0, 0.05])), float(rng.choice([0.5, 0.6, 0.1]))
        gamma = float(np.float32(rng.choice([1.0, 0.99, 0.9, 0.5, 0.999])))
        policies.append(
            DUCB(num_arms=num_arms, active_arms=mask(k, num_arms), gamma=gamma, std=std, xi=xi)
        )
        oracles.append(Oracle(k, gamma, 2 * std, xi))
    return policies, oracles


def replayed(num_arms, num, steps, seed):
    policies, oracles = cases(num_arms, num, seed)
    arms, keys = random_arms(num_arms, num, seed), run_keys(num, seed)
    check_pulls(oracles, *pull_histories(stacked(policies), arms, keys, steps))


@quickly
@pytest.mark.parametrize("num_arms", [PADDED, 2])
def test_d_ucb_follows_the_paper(num_arms):
    replayed(num_arms, 100, 80, seed=num_arms)


@pytest.mark.thorough
@quickly
@pytest.mark.parametrize("num_arms", [PADDED, 2])
def test_d_ucb_follows_the_paper_often(num_arms):
    replayed(num_arms, 300, 150, seed=20 + num_arms)


@pytest.mark.thorough
@quickly
def test_d_ucb_follows_the_paper_for_long():
    replayed(PADDED, 4, 5_000, seed=11)


@quickly
@pytest.mark.parametrize("delay", some([2, 3, 10, 50], [3]))
def test_d_ucb_follows_the_paper_where_rewards_come_late(delay):
    num, steps = 100, 150
    policies, oracles = cases(PADDED, num, seed=30)
    arms, keys = random_arms(PADDED, num, 30), run_keys(num, 30)
    pulled, rewards = late_pull_histories(stacked(policies), arms, keys, steps, delay)
    for run, oracle in enumerate(oracles):
        judge_late(oracle, pulled[run], rewards[run], delay)
