"""RUCB's random choices, and its shortcut for the candidates."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxduel as jd
from jaxduel.policies.base import Duel
from jaxduel.policies.condorcet.rucb import RUCBState


def _state(wins, best, t):
    wins = np.array(wins, np.int32)
    n = np.maximum(wins + wins.T, 1)
    doubt = (np.maximum(wins.T - wins, 0) ** 2 / (4 * n)).max(axis=1)
    return RUCBState(jnp.array(wins), jnp.float32(doubt), jnp.int32(best), jnp.int32(t))


def _frequencies(policy, state, num=40_000):
    keys = jax.random.split(jax.random.key(0), num)
    duels = jax.jit(jax.vmap(policy.act, in_axes=(None, 0)))(state, keys)
    return np.histogram2d(duels.left, duels.right, bins=np.arange(-0.5, 5))[0] / num


def test_candidates_have_the_papers_probabilities():
    policy = jd.policies.make("rucb", num_arms=5)
    wins = np.full((5, 5), 30)
    wins[4], wins[:, 4] = 0, 60
    np.fill_diagonal(wins, 0)
    for best, expected in ((-1, [0.25] * 4 + [0]), (1, [1 / 6, 0.5, 1 / 6, 1 / 6, 0])):
        frequency = _frequencies(policy, _state(wins, best, 700)).sum(axis=1)
        error = np.sqrt(np.array(expected) * (1 - np.array(expected)) / 40_000)
        assert (np.abs(frequency - expected) <= 4.5 * error).all()


def test_no_candidate_means_any_arm_and_a_single_one_is_the_best():
    policy = jd.policies.make("rucb", num_arms=5)
    cycle = np.zeros((5, 5))
    for i in range(5):
        cycle[i, (i + 1) % 5] = 200
    frequency = _frequencies(policy, _state(cycle, 2, 1000)).sum(axis=1)
    assert (np.abs(frequency - 0.2) < 4.5 * np.sqrt(0.16 / 40_000)).all()
    wins = np.triu(np.full((5, 5), 300), 1)
    state = _state(wins, -1, 3000)
    assert _frequencies(policy, state)[0, 0] == 1
    after = policy.update(state, Duel(jnp.int32(0), jnp.int32(0)), jnp.int32(1), jax.random.key(0))
    assert int(after.best) == 0


def test_tied_opponents_are_uniform_and_not_the_candidate():
    policy = jd.policies.make("rucb", num_arms=5)
    frequency = _frequencies(policy, _state(np.zeros((5, 5)), -1, 0))
    assert (np.diag(frequency) == 0).all()
    off = frequency[~np.eye(5, dtype=bool)]
    assert (np.abs(off - 0.05) < 4.5 * np.sqrt(0.05 * 0.95 / 40_000)).all()


def test_the_carried_doubt_is_that_of_the_counts():
    policy = jd.policies.make("rucb", num_arms=5)

    def step(state, key):
        left, right = jax.random.randint(key, (2,), 0, 5)
        outcome = jnp.where(jax.random.bernoulli(key, 0.7), 1, -1).astype(jnp.int32)
        state = policy.update(state, Duel(left, right), outcome, key)
        return state, (state.wins, state.doubt)

    first = policy.init(jax.random.key(0))
    _, (wins, doubt) = jax.lax.scan(step, first, jax.random.split(jax.random.key(1), 3000))
    wins, doubt = np.asarray(wins), np.asarray(doubt)
    for t in range(0, 3000, 37):
        expected = _state(wins[t], -1, t).doubt
        assert np.allclose(doubt[t], expected, rtol=1e-6)
