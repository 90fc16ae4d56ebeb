"""Thompson sampling with Gaussian rewards: its posterior, how often it pulls what, its sums."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from jaxduel.errors import InputError
from jaxduel.policies.arms.thompson_gaussian import ThompsonGaussian
from jaxduel.policies.base import Pull
from jaxduel.policies.registry import to_32_bits

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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"std": 0.0}, "thompson-gaussian: std must be positive, not 0.0"),
        ({"prior_std": -1.0}, "prior_std must be positive, not -1.0"),
        ({"prior_std": np.inf}, "prior_std must be positive"),
        ({"prior_mean": np.nan}, "prior_mean must be finite, not nan"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        make(3, **parameters)
