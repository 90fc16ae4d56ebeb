"""Arms with rewards in the simulator: the law of rewards, their sums, and what does not fit."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxduel as jd
from jaxduel.policies import Pull, PullBatch
from jaxduel.simulation.instances import instance_of
from tests.simulation.toys import PullCycle, PullRounds

pytestmark = pytest.mark.usefixtures("quick_compilation")

GAUSSIAN = jd.problems.gaussian([0.5, -2.0, 3.0], std=[1.0, 0.5, 4.0])
BERNOULLI = jd.problems.bernoulli([0.5, 0.01, 0.9])
ALL = np.ones(3, bool)
DRAWS = 40_000


def _sums(problem, counts):
    """(DRAWS, K) sums of rewards of rounds with the given pulls, arms in reverse order."""
    keys, plan = jax.random.split(jax.random.key(5), DRAWS), PullBatch(jnp.array(counts, jnp.int32))
    return np.asarray(_drawn(keys, instance_of(problem, 3), plan), np.float64)


@jax.jit
@partial(jax.vmap, in_axes=(0, None, None))
def _drawn(key, instance, plan):
    return instance.of_arms(jnp.array([2, 1, 0])).sample_batch(key, plan, jnp.int32(0))


@pytest.mark.thorough
@pytest.mark.parametrize("problem", [GAUSSIAN, BERNOULLI], ids=["gaussian", "bernoulli"])
@pytest.mark.parametrize("counts", [(3, 1, 40), (10**6, 0, 2**31 - 1)])
def test_sums_of_rewards_have_the_law_of_their_pulls(problem, counts):
    sums, n = _sums(problem, counts), np.array(counts, np.float64)
    means = np.asarray(problem.means)[::-1]
    std = np.sqrt(means * (1 - means)) if problem.std is None else np.asarray(problem.std)[::-1]
    assert (sums[:, n == 0] == 0).all()
    played = n > 0
    z = (sums - n * means)[:, played] / (std * np.sqrt(n))[played]
    assert (np.abs(z.mean(axis=0)) < 4 / np.sqrt(DRAWS)).all()
    fourth = (z**4).mean(axis=0)
    assert (np.abs((z**2).mean(axis=0) - 1) < 4 * np.sqrt((fourth - 1) / DRAWS)).all()
    correlation = np.corrcoef(z.T)[np.triu_indices(z.shape[1], 1)]
    assert (np.abs(correlation) < 4 / np.sqrt(DRAWS)).all()
    if problem is GAUSSIAN:
        for column in z.T:
            assert stats.kstest(column, "norm").pvalue > 1e-4


@pytest.mark.parametrize("problem", [GAUSSIAN, BERNOULLI], ids=["gaussian", "bernoulli"])
def test_a_pull_is_a_round_of_one(problem):
    instance, arms = instance_of(problem, 3), jnp.arange(3)
    keys = jax.random.split(jax.random.key(7), DRAWS)
    noise = instance.noise(keys, jnp.arange(1, DRAWS + 1))
    for arm in range(3):
        plan = Pull(jnp.int32(arm))
        single = np.asarray(jax.vmap(lambda u, plan=plan: instance.sample(arms, plan, u))(noise))
        rounds = _sums(problem, np.eye(3, dtype=int)[2 - arm])[:, 2 - arm]
        if problem is GAUSSIAN:
            assert stats.ks_2samp(single, rounds).pvalue > 1e-4
        else:
            assert set(np.unique(single)) <= {0.0, 1.0}
            error = np.sqrt(2 * problem.means[arm] * (1 - problem.means[arm]) / DRAWS)
            assert abs(single.mean() - rounds.mean()) < 4 * error


def test_plays_and_regret_follow_the_plan():
    policy = PullCycle(active_arms=ALL, arms=(0, 2, 2, 1))
    result = jd.simulate(policy, GAUSSIAN, 6, 2, checkpoints=[1, 2, 4, 6], shuffle_arms=False)
    assert result.definition == "pulls"
    assert result.plays[0].tolist() == [[1, 0, 0], [1, 0, 1], [1, 1, 2], [2, 1, 3]]
    assert result.regret[1].tolist() == [2.5, 2.5, 7.5, 10.0]
    data = result.to_xarray()
    assert data.checkpoint.attrs["units"] == "pulls"


def test_checkpoints_inside_a_round_follow_the_order_of_the_arms():
    counts = np.array([2, 0, 3], np.int32)
    policy = PullRounds(active_arms=ALL, horizon=12, counts=counts)
    times = np.arange(1, 13)
    plays = jd.simulate(policy, GAUSSIAN, 12, 2, checkpoints=times, shuffle_arms=False).plays
    sequence = ([0, 0, 2, 2, 2] * 3)[:12]
    assert (plays == np.cumsum(np.eye(3)[sequence], axis=0)).all()


@pytest.mark.thorough
def test_a_billion_pulls_cost_a_few_rounds():
    horizon = 2**31 - 1
    policy = jd.policies.make("base", num_arms=3, horizon=horizon, num_batches=5)
    result = jd.simulate(policy, GAUSSIAN, num_seeds=16)
    assert (result.plays[:, -1].sum(axis=-1) == horizon).all()
    assert result.batches.max() <= 5
    assert (result.plays[:, -1, 2] > 0.9 * horizon).all()


@pytest.mark.thorough
def test_stacked_batches_and_horizons_are_the_same_bits_as_one_by_one():
    cells = [(m, t) for m in (1, 3, 9) for t in (50, 10**6)]
    policies = [
        jd.policies.make("base", num_arms=3, horizon=t, num_batches=m, gamma=0.5) for m, t in cells
    ]
    settings = {"num_seeds": 8, "lanes": 8, "devices": jax.devices()[:1]}
    together = jd.simulate_many(policies, GAUSSIAN, **settings)
    for policy, stacked in zip(policies, together, strict=True):
        alone = jd.simulate(policy, GAUSSIAN, **settings)
        assert np.array_equal(alone.plays, stacked.plays)


UCB1 = jd.policies.make("ucb1", num_arms=3, horizon=9)
BASE = jd.policies.make("base", num_arms=3, horizon=9, num_batches=2)
RUCB = jd.policies.make("rucb", num_arms=3)


@pytest.mark.parametrize(
    ("policy", "problem", "settings", "sentence"),
    [
        (UCB1, jd.problems.arithmetic(3), {}, "ucb1 pulls arms that have rewards, and 'arithm"),
        (RUCB, GAUSSIAN, {}, "rucb compares arms in pairs, and 'gaussian' has arms with rewards"),
        (UCB1, GAUSSIAN, {"record_pairs": True}, "ucb1 pulls single arms: record_pairs must be"),
        (
            BASE,
            GAUSSIAN,
            {"delay": 2},
            "base cannot learn late: .* at its end anyway",
        ),
        (UCB1, GAUSSIAN, {"regret": "weak"}, "unknown regret of arms with rewards 'weak'"),
        (UCB1, GAUSSIAN, {"regret": "copeland"}, "unknown regret of arms with rewards"),
        (
            RUCB,
            jd.problems.arithmetic(3),
            {"regret": "pulls"},
            "unknown regret of comparisons 'pulls': known are average",
        ),
        (UCB1, jd.problems.gaussian([0, 1]), {}, "the policy has 3 arms and the problem"),
    ],
)
def test_what_does_not_fit_is_refused(policy, problem, settings, sentence):
    with pytest.raises(jd.InputError, match=sentence):
        jd.simulate(policy, problem, 9, 2, **settings)
