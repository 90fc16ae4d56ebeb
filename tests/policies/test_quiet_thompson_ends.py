"""Quiet runs of D-TS, D-TS+ and RCS: rare ends, and where log t or a caller cuts them."""

import dataclasses
from functools import partial

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxduel as jd
from jaxduel.policies.base import Duel, Feedback, SupportsSkip
from jaxduel.policies.counts import log_bound
from jaxduel.policies.thompson import sampling
from jaxduel.policies.thompson.dts import DTS
from jaxduel.policies.thompson.runs import _interval
from tests.policies.quiet_thompson_cases import OFTEN, at, record_of

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]


def _two_arms(wins, t):
    policy = DTS(num_arms=2, active_arms=jnp.ones(2, bool), alpha=0.1)
    return policy, at(policy, jnp.array([[0, wins], [0, 0]], jnp.int32), jnp.int32(t))


@jax.jit
def _runs(policy, state, limit, keys):
    return jax.vmap(policy.quiet, in_axes=(None, None, 0))(state, limit, keys)


@pytest.mark.parametrize("wins", [29, 39])
def test_rare_ends_come_as_rarely_as_they_should(wins):
    """A reply of probability 2^-30 or 2^-40 in a run that may last until 2^31 - 1."""
    policy, state = _two_arms(wins, 1_000)
    limit, num = 2**31 - 1 - 1_000, 4_000
    keys = jax.random.split(jax.random.key(wins), num)
    later, run = _runs(policy, state, jnp.int32(limit), keys)
    n = np.asarray(run.n).astype(float)
    ended = n < limit
    rate = 2.0 ** -(wins + 1)
    chance = -np.expm1(-rate * limit)
    error = np.sqrt(chance * (1 - chance) / num)
    assert abs(ended.mean() - chance) <= 4 * error
    assert (np.asarray(later.t) == 1_000 + np.asarray(run.n)).all()
    assert ((np.asarray(later.fixed) == sampling.UNLIKELY).sum(axis=(1, 2)) == ended).all()
    if wins == 29:
        law = stats.truncexpon(limit * rate, scale=1 / rate)
        assert stats.kstest(n[ended], law.cdf).pvalue > 1e-4
        remainders = np.bincount(np.asarray(run.n)[ended] % 4, minlength=4) / ended.sum()
        assert np.abs(remainders - 0.25).max() <= 4.5 * np.sqrt(0.1875 / ended.sum())


def test_small_rates_among_large_ones_are_found():
    with jax.enable_x64(True):
        ends = jnp.cumsum(jnp.array([1e-3, 0.0, 1e-14, 2e-3], jnp.float64))
        for x, number in ((0.0, 0), (0.99e-3, 0), (1e-3 + 5e-15, 2), (1.1e-3, 3), (1.0, 3)):
            assert int(_interval(ends, jnp.float64(x))) == number


@pytest.mark.parametrize("name", OFTEN)
def test_runs_end_where_log_t_changes_a_set(name):
    """Counts so large that no coin falls otherwise: a run is as long as its sets stay."""
    policy = jd.policies.make(name, num_arms=4)
    upper = [(900, 100), (900, 90), (900, 80), (300, 250), (310, 250), (240, 200)]
    wins = np.zeros((4, 4), np.int32)
    for i, j, (won, lost) in zip(*np.triu_indices(4, 1), upper, strict=True):
        wins[i, j], wins[j, i] = won, lost
    if name == "rcs":
        wins[0, 2], wins[2, 0] = 641, 359  # a lead of 19.9
        policy = dataclasses.replace(policy, alpha=np.float32(5.0))
    quiet = jax.jit(policy.quiet)

    @jax.jit
    @partial(jax.vmap, in_axes=(None, 0))
    def sets(state, t):
        """Of arms, in comparison t + 1."""
        bound = log_bound(policy.alpha, t + 1)
        if name == "rcs":
            return policy._upper_bounds(state, jnp.int32(0), bound) >= 0.5
        return (state.lead >= bound) | (state.lead < -bound)

    for t in (20, 30, 52, 53, 300):
        state = at(policy, jnp.asarray(wins), jnp.int32(t))
        run = quiet(state, jnp.int32(100_000), jax.random.key(t))[1]
        n = int(run.n)
        there = np.asarray(sets(state, t + jnp.arange(4_000, dtype=jnp.int32)))
        changes = np.flatnonzero((there != there[0]).reshape(4_000, -1).any(axis=1))
        longest = changes[0] if len(changes) else 100_000
        assert n == (0 if name == "rcs" and there[0, 1:].any() else longest)
        assert int(run.arm) == 0


@pytest.mark.parametrize("name", OFTEN)
def test_a_state_that_a_run_has_decided_is_left_alone_until_the_next_step(name):
    policy = jd.policies.make(name, num_arms=2, active_arms=np.ones(2, bool))
    assert isinstance(policy, SupportsSkip)
    state = at(policy, jnp.array([[0, 9], [1, 0]], jnp.int32), jnp.int32(9))
    quiet, key, most = jax.jit(policy.quiet), jax.random.key(0), jnp.int32(1_000)
    for seed in range(100):
        later, run = quiet(state, most, jax.random.key(seed))
        ended = record_of(later)
        if ended.ended:
            break
    assert bool(ended.ended)
    assert np.asarray(ended.fixed).any()
    assert int(ended.t) == 9 + int(run.n)
    again, none = quiet(later, most, jax.random.key(1))
    assert int(none.n) == 0
    chex.assert_trees_all_equal(again, later)
    nothing = jnp.zeros((2, 2), jnp.int32)
    told = policy.learn(later, Feedback(nothing, nothing))
    duel = Duel(jnp.int32(0), jnp.int32(0))
    for state in (told, policy.update(later, duel, jnp.int32(0), key)):
        assert not bool(record_of(state).ended)
        assert not np.asarray(record_of(state).fixed).any()
    unasked, none = quiet(told, jnp.int32(0), key)
    assert int(none.n) == 0
    chex.assert_trees_all_equal(unasked, told)
