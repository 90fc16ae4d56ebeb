"""Quiet runs of D-TS, D-TS+ and RCS: rare ends, and where log t or a caller cuts them; runs of
several winners: where there are any, and, of D-TS+, their law, step by step."""

import dataclasses
from functools import partial

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from scipy import stats

import jaxduel as jd
from jaxduel.policies.base import Duel, Feedback, SupportsSharedSkip, SupportsSkip
from jaxduel.policies.counts import log_bound
from jaxduel.policies.thompson import sampling
from jaxduel.policies.thompson.dts import DTS
from jaxduel.policies.thompson.runs import _first_failure, _first_replies, _interval
from tests.policies.thompson.cases import OFTEN, at, record_of

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
    assert ((np.asarray(later.decided.sides) == sampling.UNLIKELY).sum(axis=(1, 2)) == ended).all()
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


@pytest.mark.parametrize("num", [12, 80])
def test_failures_add_up_in_their_order(num):
    """By either way of computing them."""
    chances = np.random.default_rng(0).exponential(0.01, (3, num)).astype(np.float32)
    chances[:, 1] = 1e-12
    with jax.enable_x64(True):
        found = np.asarray(jax.jit(jax.vmap(_first_failure))(chances))
    exact = -np.expm1(np.cumsum(np.log1p(-chances.astype(float)), axis=1))
    np.testing.assert_allclose(found, exact, rtol=1e-14)
    assert (np.diff(found) > 0).all()


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
        decided = record_of(later).decided
        if decided.any:
            break
    assert bool(decided.any)
    assert np.asarray(decided.sides).any()
    assert int(record_of(later).t) == 9 + int(run.n)
    again, none = quiet(later, most, jax.random.key(1))
    assert int(none.n) == 0
    chex.assert_trees_all_equal(again, later)
    nothing = jnp.zeros((2, 2), jnp.int32)
    told = policy.learn(later, Feedback(nothing, nothing))
    duel = Duel(jnp.int32(0), jnp.int32(0))
    for state in (told, policy.update(later, duel, jnp.int32(0), key)):
        assert record_of(state).decided is None
    unasked, none = quiet(told, jnp.int32(0), key)
    assert int(none.n) == 0
    decided = record_of(unasked).decided
    assert not bool(decided.any)
    assert not np.asarray(decided.sides).any()
    assert int(decided.first) == -1


# ---- several winners ----------------------------------------------------------------------------

below_one_half = pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning")

NUM, LIMIT = 20_000, 60
WINS = np.array(
    [[0, 36, 6, 6, 7], [6, 0, 36, 5, 6], [36, 6, 0, 8, 6], [1, 1, 1, 0, 5], [1, 1, 1, 4, 0]],
    np.int32,
)
"""Each of arms 0, 1, 2 surely beats the next one, and all of them arms 3 and 4, as may be."""
ARMS = len(WINS)


def _policy(name="dts+"):
    policy = jd.policies.make(name, num_arms=ARMS, alpha=0.1)
    assert isinstance(policy, SupportsSharedSkip)
    return policy, at(policy, jnp.asarray(WINS), jnp.int32(3_000))


def _next_comparison(policy, state, key):
    """How many comparisons of winners with themselves come first, and the pair after them, by
    steps."""

    def step(loop):
        n, _, key = loop
        key, now = jax.random.split(key)
        return n + 1, policy.act(state._replace(t=state.t + n), now), key

    def goes_on(loop):
        n, duel, _ = loop
        return (n < LIMIT) & ((n == 0) | (duel.left == duel.right))

    one = jnp.int32(0)
    start = one, jd.policies.Duel(one, one), key
    n, duel, _ = lax.while_loop(goes_on, step, start)
    return n - 1, duel.left, duel.right


def _next_after_runs(policy, state, alike, key):
    """The same with runs."""

    def turn(loop):
        state, n, _, _, key = loop
        key, length, now = jax.random.split(key, 3)
        state, run = policy.quiet_among(state, LIMIT - 1 - n, length, alike)
        duel = policy.act(state, now)
        later = state._replace(t=state.t + 1, decided=None)
        return later, n + run.n + 1, duel.left, duel.right, key

    def goes_on(loop):
        _, n, left, right, _ = loop
        return (n < LIMIT) & ((n == 0) | (left == right))

    one = jnp.int32(0)
    _, n, left, right, _ = lax.while_loop(goes_on, turn, (state, one, one, one, key))
    return n - 1, left, right


@pytest.mark.slow
@below_one_half
def test_what_comes_after_a_run_of_any_winner_has_the_law_of_steps():
    policy, state = _policy()
    alike = jnp.arange(ARMS) < 3
    keys = jax.random.split(jax.random.key(0), (2, NUM))
    steps = jax.jit(jax.vmap(partial(_next_comparison, policy, state)))(keys[0])
    runs = jax.jit(jax.vmap(partial(_next_after_runs, policy, state, alike)))(keys[1])
    numbers = [np.asarray(n) for n, _, _ in (steps, runs)]
    error = np.hypot(*(n.std() / np.sqrt(NUM) for n in numbers))
    assert abs(numbers[0].mean() - numbers[1].mean()) <= 4.5 * error
    assert error <= 0.05 / 4.5 * numbers[0].mean()
    pairs = [np.asarray(ARMS * left + right) for _, left, right in (steps, runs)]
    for least in (0, np.median(numbers[0]) + 1):  # after any number, and after many
        counts = np.array(
            [
                np.bincount(pair[n >= least], minlength=ARMS**2)
                for pair, n in zip(pairs, numbers, strict=True)
            ]
        )
        seen = counts.sum(axis=0) > 20
        assert seen.sum() >= 6
        assert stats.chi2_contingency(counts[:, seen]).pvalue > 1e-4


@below_one_half
@pytest.mark.parametrize("name", ["dts", "dts+"])
def test_runs_are_of_several_arms_only_where_all_are_asked_for(name):
    policy, state = _policy(name)
    quiet, quiet_among, most = jax.jit(policy.quiet), jax.jit(policy.quiet_among), jnp.int32(LIMIT)
    assert int(quiet(state, most, jax.random.key(0))[1].n) == 0
    longest = 0
    for seed in range(20):
        for among in (np.zeros(ARMS, bool), np.arange(ARMS) < 2, np.arange(ARMS) == 3):
            run = quiet_among(state, most, jax.random.key(seed), jnp.asarray(among))[1]
            assert int(run.n) == 0
        later, run = quiet_among(state, most, jax.random.key(seed), jnp.ones(ARMS, bool))
        if policy.tells_which:
            assert run.weights is not None
            assert np.array_equal(run.weights > 0, np.arange(ARMS) < 3)
        else:
            assert run.weights is None
            assert int(run.arm) == 0
            assert int(later.decided.first) == -1
        longest = max(longest, int(run.n))
    assert longest > 0
    alone = at(policy, jnp.asarray(WINS * (np.arange(ARMS)[:, None] != 1)), jnp.int32(3_000))
    for seed in range(20):
        key = jax.random.key(seed)
        (one, run), (other, of_few) = (
            quiet(alone, most, key),
            quiet_among(alone, most, key, jnp.zeros(ARMS, bool)),
        )
        chex.assert_trees_all_equal(one, other)
        assert (int(run.arm), int(run.n)) == (int(of_few.arm), int(of_few.n))


def test_replies_come_from_one_uniform_number():
    """The first arm at which the probability of a reply so far passes the level."""
    answers = jnp.array([[0.0, 0.2, 0.5], [0.1, 0.0, 0.0], [0.0, 0.0, 1.0]], jnp.float32)
    free, likely, unlikely = sampling.FREE, sampling.LIKELY, sampling.UNLIKELY
    expected = {
        0.05: [[free, unlikely, free], [unlikely, free, free], [free, free, unlikely]],
        0.15: [[free, unlikely, free], [likely, free, free], [free, free, unlikely]],
        0.3: [[free, likely, unlikely], [likely, free, free], [free, free, unlikely]],
        0.7: [[free, likely, likely], [likely, free, free], [free, free, unlikely]],
    }
    for level, sides in expected.items():
        found = _first_replies(answers, jnp.float32(level))
        np.testing.assert_array_equal(found, sides)
