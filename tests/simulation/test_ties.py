"""Ties: as fair coins they change nothing, dropped they cost comparisons and teach nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.policies.base import Batch, Duel
from jaxduel.simulation.instances import Noise, instance_of

P = np.array([[0.5, 0.7, 0.6], [0.3, 0.5, 0.8], [0.4, 0.2, 0.5]])
Q = np.array([[0, 0.5, 0.2], [0.5, 0, 0.3], [0.2, 0.3, 0]])
TIED, PLAIN = jd.problems.from_matrix(P, ties=Q), jd.problems.from_matrix(P)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["rucb", "pcomp"])
def test_coins_are_the_law_of_the_preferences(name):
    more = {"num_batches": 3} if name == "pcomp" else {}
    policy = jd.policies.make(name, num_arms=3, horizon=500, **more)
    plain, tied = (jd.simulate(policy, problem, 500, 20) for problem in (PLAIN, TIED))
    assert np.array_equal(plain.plays, tied.plays)
    same = jd.simulate(policy, PLAIN, 500, 20, ties="drop")  # no ties to drop
    assert np.array_equal(plain.plays, same.plays)


def test_dropped_ties_leave_decisive_comparisons_of_their_law():
    policy = jd.policies.make("uniform", num_arms=3)
    result = jd.simulate(
        policy, TIED, 30_000, 8, ties="drop", checkpoints=[30_000], record_pairs=True,
        record_outcomes=True,
    )  # fmt: skip
    compared = result.pairs[:, 0].sum(axis=0)
    _require_law(compared + compared.T, result.outcomes[:, 0].sum(axis=0))


@pytest.mark.thorough
def test_rounds_drop_ties_in_one_draw():
    instance = jax.tree.map(jnp.asarray, instance_of(TIED, 3, with_ties=True))
    counts = jnp.triu(jnp.full((3, 3), 1_000, jnp.int32), 1)
    keys = jax.random.split(jax.random.key(0), 100)
    arms, plan, made = jnp.arange(3), Batch(counts), jnp.int32(0)
    draw = jax.jit(jax.vmap(lambda key: instance.of_arms(arms).sample_batch(key, plan, made)))
    wins = np.asarray(draw(keys))
    assert (np.diagonal(wins, axis1=1, axis2=2) == 0).all()
    _require_law(100 * np.asarray(counts + counts.T), wins.sum(axis=0))
    # Var(wins) of one round: a trial is a win with probability p - q / 2
    each = P - Q / 2
    expected = 1_000 * each * (1 - each)
    ratio = wins.var(axis=0, ddof=1)[~np.eye(3, dtype=bool)] / expected[~np.eye(3, dtype=bool)]
    assert (np.abs(ratio - 1) < 4 * np.sqrt(2 / 99)).all()


def _require_law(compared, wins):
    """Wins of i over j are Binomial(compared, p - q / 2)."""
    others = ~np.eye(3, dtype=bool)
    share, expected = wins[others] / compared[others], (P - Q / 2)[others]
    sigma = np.sqrt(expected * (1 - expected) / compared[others])
    assert (np.abs(share - expected) < 4 * sigma).all()


def test_an_outcome_is_a_win_a_loss_or_nothing():
    instance = jax.tree.map(jnp.asarray, instance_of(TIED, 3, with_ties=True))
    plan = Duel(jnp.int32(0), jnp.int32(1))
    noise = jnp.array([0.0, 0.44, 0.46, 0.49, 0.51, 0.999])  # p - q / 2 = .45, q = .5
    outcomes = jax.vmap(lambda x: instance.sample(jnp.arange(3), plan, Noise(x)))(noise)
    assert outcomes.tolist() == [1, 1, -1, -1, 0, 0]
    alone = Duel(jnp.int32(1), jnp.int32(1))
    assert int(instance.sample(jnp.arange(3), alone, Noise(jnp.float32(0.999)))) == -1  # never tied


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
def test_what_all_ties_teaches_is_nothing():
    q = 1.0 - np.eye(3)
    problem = jd.problems.from_matrix(np.full((3, 3), 0.5), ties=q)
    policy = jd.policies.make("dts", num_arms=3)
    result = jd.simulate(policy, problem, 200, 4, ties="drop", record_outcomes=True)
    assert not result.outcomes.any()
    later = jd.simulate(policy, problem, 200, 4, ties="drop", delay=9)
    assert result.plays[:, -1].sum() == later.plays[:, -1].sum() == 4 * 400


def test_ties_must_be_named_rightly():
    policy = jd.policies.make("rucb", num_arms=3)
    with pytest.raises(InputError, match="value of ties 'skip'"):
        jd.simulate(policy, TIED, 10, ties="skip")


@pytest.mark.thorough
def test_told_ties_are_outcomes_of_their_own():
    policy = jd.policies.make("pocowista", num_arms=3, delta=0.001)
    even = jd.problems.from_matrix(np.full((3, 3), 0.5), ties=0.9 * (1 - np.eye(3)))
    settings = {"num_seeds": 200, "stop": "policy"}
    found = jd.identify(policy, even, 5_000, ties="tell", **settings)
    assert (found.stops.named >= 0).all()
    assert found.stops.at.max() < 300  # three indifferences, not coins that never end
    told = jd.identify(policy, PLAIN, 20_000, ties="tell", **settings)  # no ties to tell
    plain = jd.identify(policy, PLAIN, 20_000, **settings)
    assert np.array_equal(told.stops.at, plain.stops.at)
    with pytest.raises(InputError, match="ties can be told at once alone: delay must be 1"):
        jd.simulate(policy, even, 10, ties="tell", delay=2)
    with pytest.raises(InputError, match="rucb does not learn from ties: they can be 'coin' or 'd"):
        jd.simulate(jd.policies.make("rucb", num_arms=3), even, 10, ties="tell")
