"""Thompson sampling with Gaussian rewards: the oracle by hand, its posterior, how often it pulls
what, its sums; oracle replay."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from jaxduel.numerics import normal
from jaxduel.policies.arms.thompson_gaussian import ThompsonGaussian
from jaxduel.policies.base import Pull, RewardFeedback
from jaxduel.policies.registry import to_32_bits
from tests.choice import some
from tests.oracles.arms.thompson_gaussian import ThompsonGaussian as Oracle
from tests.policies.arms.histories import (
    judge_late,
    late_pull_histories,
    pull_histories,
    random_arms,
    stacked,
    step_keys,
)
from tests.policies.arms.replays import PADDED, mask, run_keys, sizes

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_thompson_gaussian_by_hand():
    oracle = Oracle(2)
    assert oracle.posterior(0) == (0.0, 1.0)
    assert oracle.allowed_given([0.1, 0.2]) == {1}
    oracle.play(1, 3.0)
    assert oracle.posterior(1) == pytest.approx((1.5, math.sqrt(0.5)))  # S / (n + 1), 1 / (n + 1)
    assert oracle.allowed_given([0.8, -0.9]) == {1}  # .8 and .864
    assert oracle.allowed_given([0.9, -0.9]) == {0}
    assert oracle.allowed_given([0.9, (0.9 - 1.5) * math.sqrt(2)]) == {0, 1}


def test_thompson_gaussian_with_another_prior():
    oracle = Oracle(2, std=2.0, prior_mean=1.0, prior_std=0.5)
    oracle.allowed_given([1.0, 0.0])
    oracle.play(0, 9.0)  # precisions 4 and 1/4
    mean, std = oracle.posterior(0)
    assert mean == pytest.approx((4 * 1.0 + 9.0 / 4) / 4.25)
    assert std == pytest.approx(1 / math.sqrt(4.25))


# ---- the policy ---------------------------------------------------------------------------------

KEY = jax.random.key(0)


def make(num_arms, active=None, **parameters):
    """A policy, its leaves of 32 bits, the first `active` arms of which exist."""
    mask = np.arange(num_arms) < (active or num_arms)
    policy = ThompsonGaussian(num_arms=num_arms, active_arms=mask, **parameters)
    policy.validate()
    return to_32_bits(policy)


@jax.jit
def told(policy, state, arms, rewards):
    """The state after these pulls."""

    def step(state, pull):
        return policy.update(state, Pull(pull[0]), pull[1], KEY), None

    return jax.lax.scan(step, state, (arms, rewards))[0]


@pytest.mark.parametrize(
    "prior", [{}, {"std": 0.3, "prior_mean": -2.0, "prior_std": 5.0}, {"std": 4.0}]
)
def test_the_posterior_is_the_conjugate_one(prior):
    rng = np.random.default_rng(0)
    policy = make(3, **prior)
    arms = rng.integers(0, 2, 500).astype(np.int32)
    rewards = rng.normal(0.7, 2.0, 500).astype(np.float32)
    state = told(policy, policy.init(KEY), arms, rewards)
    std, centre, spread = (
        prior.get(name, default)
        for name, default in (("std", 1.0), ("prior_mean", 0.0), ("prior_std", 1.0))
    )
    for arm in range(3):
        here = rewards[arms == arm].astype(float)
        precision = 1 / spread**2 + len(here) / std**2
        mean = (centre / spread**2 + here.sum() / std**2) / precision
        assert int(state.pulls[arm]) == len(here)
        assert float(state.centre[arm]) == pytest.approx(mean, rel=1e-6, abs=1e-7)
        assert float(state.width[arm]) == pytest.approx(precision**-0.5, rel=1e-6)


def test_the_defaults_are_those_of_the_paper():
    """Normal(S / (n + 1), 1 / (n + 1)), and Normal(0, 1) before."""
    policy = make(2)
    state = told(policy, policy.init(KEY), np.zeros(3, np.int32), np.float32([1, 2, 5]))
    assert state.centre.tolist() == [2.0, 0.0]
    assert state.width.tolist() == [0.5, 1.0]


def test_late_rewards_give_the_posterior_of_the_same_rewards_at_once():
    policy = make(3, prior_mean=0.5, prior_std=1e18)  # (std / prior_std)^2 is 0 in float32
    state = policy.init(KEY)
    waited = policy.update(state, Pull(jnp.int32(1)), jnp.float32(jnp.nan), KEY)
    for leaf, before in zip(waited, state, strict=True):
        np.testing.assert_array_equal(leaf, before)
    feedback = RewardFeedback(jnp.int32([0, 2, 1]), jnp.float32([0.0, 3.0, -1.0]))
    late = policy.learn(waited, feedback)
    at_once = told(policy, state, np.int32([1, 2, 1]), np.float32([1.0, -1.0, 2.0]))
    for one, other in zip(late, at_once, strict=True):
        np.testing.assert_array_equal(one, other)
    assert late.centre.tolist() == [0.5, 1.5, -1.0]


@pytest.mark.parametrize("active", [3, 4])
def test_arms_are_pulled_as_often_as_they_are_best_a_posteriori(active):
    policy, num = make(4, active=active), 200_000
    centre, width = np.array([0.2, 0.5, 0.0, 0.45]), np.array([0.5, 0.2, 1.0, 0.3])
    state = policy.init(KEY)._replace(centre=jnp.float32(centre), width=jnp.float32(width))
    keys = jax.random.split(jax.random.key(1), num)
    arms = np.asarray(jax.jit(jax.vmap(lambda key: policy.act(state, key).arm))(keys))
    found = np.bincount(arms, minlength=4) / num
    for arm in range(4):
        others = [j for j in range(active) if j != arm]

        def density(x, arm=arm, others=others):
            below = np.prod([stats.norm.cdf(x, centre[j], width[j]) for j in others])
            return stats.norm.pdf(x, centre[arm], width[arm]) * below

        chance = integrate.quad(density, -6, 6, limit=200)[0] if arm < active else 0.0
        assert abs(found[arm] - chance) <= 4 * np.sqrt(chance * (1 - chance) / num)


def test_the_mean_follows_the_rewards_after_a_billion_pulls():
    policy, n, total = make(2), 10**9, np.float32(5e8)
    state = policy.init(KEY)._replace(pulls=jnp.int32([n, 0]), total=jnp.float32([total, 0]))
    rewards = np.random.default_rng(0).normal(0.25, 1.0, 100_000).astype(np.float32)
    state = told(policy, state, np.zeros(100_000, np.int32), rewards)
    exact = float(total) + rewards.astype(np.float64).sum()
    assert abs(float(state.total[0]) + float(state.carry[0]) - exact) < 0.01
    assert float(state.centre[0]) == pytest.approx(exact / (n + 100_001), rel=2e-7)
    assert float(state.width[0]) == pytest.approx((n + 100_001) ** -0.5, rel=2e-7)
    assert (float(state.centre[1]), float(state.width[1])) == (0, 1)


# ---- oracle replay ------------------------------------------------------------------------------

quickly = pytest.mark.usefixtures("quick_compilation")
"""For the last tests of the file: it lasts until its end."""


@partial(jax.jit, static_argnames=("steps", "num_arms"))
def _normals(keys, steps, num_arms):
    """The normals of (num,) runs, (num, steps, K)."""

    def of_run(key):
        return jax.vmap(lambda k: normal(k, (num_arms,)))(step_keys(key, steps))

    return jax.vmap(of_run)(keys)


def random_priors(num, num_arms, seed):
    """Policies, their oracles and their numbers of arms."""
    rng = np.random.default_rng(seed)
    active = sizes(num, num_arms, seed)
    policies, oracles = [], []
    for k in active.tolist():
        prior: dict[str, float] = {
            "std": float(rng.choice([1.0, 1.0, 0.3, 4.0])),
            "prior_mean": float(rng.choice([0.0, 0.0, 2.0, -1.0])),
            "prior_std": float(rng.choice([1.0, 1.0, 0.2, 10.0])),
        }
        policies.append(ThompsonGaussian(num_arms=num_arms, active_arms=mask(k, num_arms), **prior))
        oracles.append(Oracle(k, rng=None, **prior))
    return policies, oracles, active


@quickly
@pytest.mark.parametrize("delay", some([2, 7, 25], [7]))
def test_thompson_gaussian_follows_the_paper_where_rewards_come_late(delay):
    num, steps = 100, 100 // delay * delay
    policies, oracles, active = random_priors(num, PADDED, 15)
    arms, keys = random_arms(PADDED, num, 15), run_keys(num, 15)
    pulled, rewards = late_pull_histories(stacked(policies), arms, keys, steps, delay)
    normals = np.asarray(_normals(keys, steps, PADDED), np.float64)
    for run, oracle in enumerate(oracles):
        z = normals[run, :, : active[run]].tolist()
        given = lambda t, oracle=oracle, z=z: oracle.allowed_given(z[t])  # noqa: E731
        judge_late(oracle, pulled[run], rewards[run], delay, allowed_at=given)


@pytest.mark.thorough
@quickly
@pytest.mark.parametrize(("num_arms", "num", "steps"), [(PADDED, 400, 100), (2, 200, 100)])
def test_thompson_gaussian_follows_the_paper_given_the_normals(num_arms, num, steps):
    policies, oracles, active = random_priors(num, num_arms, 13)
    keys = run_keys(num, 13)
    arms, rewards = pull_histories(stacked(policies), random_arms(num_arms, num, 13), keys, steps)
    normals = np.asarray(_normals(keys, steps, num_arms), np.float64)
    one = total = 0
    for run, oracle in enumerate(oracles):
        for t, z in enumerate(normals[run, :, : active[run]].tolist()):
            allowed = oracle.allowed_given(z)
            arm = int(arms[run, t])
            assert arm in allowed, f"run {run}, pull {t + 1}: {arm} not in {allowed}"
            oracle.play(arm, float(rewards[run, t]))
            one, total = one + (len(allowed) == 1), total + 1
    assert one > 0.99 * total
