"""Quiet runs of several winners: where there are any; of D-TS+, their law, step by step."""

from functools import partial

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from scipy import stats

import jaxduel as jd
from jaxduel.policies.base import SupportsSharedSkip
from jaxduel.policies.thompson import sampling
from jaxduel.policies.thompson.runs import _first_replies
from tests.policies.quiet_thompson_cases import at

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.usefixtures("quick_compilation"),
    pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning"),
]

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
        later = state._replace(t=state.t + 1, ended=jnp.bool_(False), first=jnp.int32(-1))
        later = later._replace(fixed=jnp.zeros_like(state.fixed))
        return later, n + run.n + 1, duel.left, duel.right, key

    def goes_on(loop):
        _, n, left, right, _ = loop
        return (n < LIMIT) & ((n == 0) | (left == right))

    one = jnp.int32(0)
    _, n, left, right, _ = lax.while_loop(goes_on, turn, (state, one, one, one, key))
    return n - 1, left, right


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
            assert int(later.first) == -1
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
