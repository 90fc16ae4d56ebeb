"""SCB's elimination by free rewards: intervals, passes, the next pair, commitment."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.threefry import words_of
from jaxduel.policies.copeland.score_elimination import (
    Confidence,
    Tally,
    after_pass,
    lower_end,
    next_duel,
    no_rewards,
)
from tests.policies.copeland.cases import log_inverse_delta

pytestmark = pytest.mark.usefixtures("quick_compilation")


def _divergence(p, q):
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(p > 0, p * np.log(p / q), 0)
        return first + np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0)


def _ends(mean, level):
    """[a, b] = {q : d(mean, q) <= level}, in float64."""
    ends = []
    for outside in (0.0, 1.0):
        out, inside = np.full_like(mean, outside), mean.copy()
        for _ in range(80):
            middle = (out + inside) / 2
            within = _divergence(mean, middle) <= level
            out, inside = np.where(within, out, middle), np.where(within, middle, inside)
        ends.append(inside)
    return ends


def test_lower_ends_are_those_of_a_bisection_in_float64():
    mean, level = np.meshgrid(np.linspace(0, 1, 41), np.geomspace(3e-4, 40, 30))
    found = jax.jit(jax.vmap(jax.vmap(lower_end, (0, 0, None)), (0, 0, None)))(
        jnp.float32(mean), jnp.float32(level), jnp.array(True)
    )
    exact, _ = _ends(np.float32(mean).astype(float), np.float32(level).astype(float))
    assert np.abs(found - exact).max() < 1e-6


@pytest.mark.parametrize("scale", [1.0, 0.51])
def test_a_pass_drops_the_arms_whose_interval_is_below_the_best(scale):
    rng = np.random.default_rng(0)
    num, cases = 9, 4_000
    s = rng.integers(1, 3_000, cases)
    rewards = rng.binomial(s[:, None], rng.random((cases, num)) ** 0.5)
    remaining = rng.random((cases, num)) < 0.8
    remaining[:, 3] = True
    log_ratio = np.log(4 * num) + log_inverse_delta(65_536)
    tallies = Tally(
        jnp.array(remaining),
        jnp.int32(rewards),
        jnp.int32(s - 1),
        jnp.zeros((cases, num), jnp.int32),
        jnp.zeros((cases, num), jnp.int32),
    )
    confidence = Confidence(jnp.float32(log_ratio), jnp.float32(scale))
    after = jax.jit(jax.vmap(after_pass, (0, None, None)))(tallies, jnp.array(True), confidence)

    bound = log_ratio + np.log(s) + 2 * np.log(np.maximum(1, np.log(s)))
    a, b = _ends(rewards / s[:, None], (scale * bound / s)[:, None])
    stays = remaining & (b >= np.max(np.where(remaining, a, 0), axis=1, keepdims=True))
    assert (after.remaining == stays).all()
    assert np.asarray(after.remaining).any(axis=1).all()
    assert (after.passes == s).all()
    assert 0.2 < stays.sum() / remaining.sum() < 0.8


@jax.jit
def _next(tally, cursor, table, keys):
    active = jnp.ones(5, bool)
    confidence = Confidence(jnp.float32(12), jnp.float32(1))

    def one(key):
        return next_duel(tally, cursor, active, confidence, words_of(key), lambda i, j: table[i, j])

    return jax.vmap(one)(keys)


def _total_order():
    return jnp.array(np.triu(np.ones((5, 5), int)) - np.tril(np.ones((5, 5), int)), jnp.int32)


def _frequency(arms, num=5):
    return np.bincount(np.asarray(arms), minlength=num) / len(arms)


def test_opponents_are_uniform_and_free_rewards_are_copeland_scores():
    keys, runs = jax.random.split(jax.random.key(1), 40_000), 40_000
    fresh = no_rewards(jnp.ones(5, bool))
    _, duel = _next(fresh, jnp.int32(2), jnp.zeros((5, 5), jnp.int32), keys)
    assert (duel.left == 2).all()
    error = 4.5 * np.sqrt(0.25 * 0.75 / runs)
    assert np.abs(_frequency(duel.right) - [0.25, 0.25, 0, 0.25, 0.25]).max() < error
    # only arm 4 has undecided pairs; arms 0 to 3 beat 4, 3, 2 and 1 of the other four
    table = _total_order().at[4].set(0)
    tally, duel = _next(fresh, jnp.int32(0), table, keys)
    assert (duel.left == 4).all()
    assert np.abs(_frequency(duel.right) - [0.25, 0.25, 0.25, 0.25, 0]).max() < error
    rewards = np.asarray(tally.rewards)
    assert (rewards[:, 0] == 1).all()
    assert np.abs(rewards.mean(axis=0) - [1, 0.75, 0.5, 0.25, 0]).max() < error
    assert np.abs(np.corrcoef(rewards[:, 1:4].T) - np.eye(3)).max() < 4.5 / np.sqrt(runs)
    assert not np.asarray(tally.passes).any()


def test_a_round_commits_to_the_last_arm_or_once_all_pairs_are_decided():
    keys = jax.random.split(jax.random.key(3), 40_000)
    order = _total_order()
    beats = jnp.array([4, 3, 2, 1, 0], jnp.int32)
    fresh = no_rewards(jnp.ones(5, bool))

    def committed(tally, table):
        after, duel = _next(tally, jnp.int32(0), table, keys)
        assert (duel.left == duel.right).all()
        return after, set(np.asarray(duel.left).tolist())

    # all pairs of the remaining arms are decided, others are not
    some = fresh._replace(
        remaining=jnp.array([False, True, False, True, False]),
        decided=jnp.array([2, 4, 2, 4, 2], jnp.int32),
        beats=jnp.array([2, 1, 2, 1, 0], jnp.int32),
    )
    after, winners = committed(some, order * 0)
    assert winners == {1}  # of those that remain; a tie: the lowest index
    assert not np.asarray(after.rewards).any()
    # one arm remains
    alone = fresh._replace(remaining=jnp.arange(5) == 3)
    assert committed(alone, order * 0)[1] == {3}
    # a pair of arm 4 is left, which is never pulled to need it before it is eliminated
    nearly = fresh._replace(
        rewards=jnp.array([400, 300, 200, 100, 0], jnp.int32),
        passes=jnp.int32(400),
        decided=jnp.array([4, 4, 4, 3, 3], jnp.int32),
        beats=beats,
    )
    after, duel = _next(nearly, jnp.int32(0), order.at[3, 4].set(0).at[4, 3].set(0), keys)
    stopped = np.asarray(duel.left != duel.right)
    assert {*np.asarray(duel.left)[stopped].tolist()} == {3, 4}
    assert set(np.asarray(duel.left)[~stopped].tolist()) == {0}
    assert (np.asarray(after.passes)[~stopped] == 401).all()
    assert np.abs((~stopped).mean() - (3 / 4) ** 2) < 4.5 * np.sqrt(0.25 / 40_000)
