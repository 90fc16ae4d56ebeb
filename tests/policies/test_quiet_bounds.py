"""Quiet runs of RUCB, and of CCB where no coin ends them: they end where log t crosses a bound."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

import jaxduel as jd
from jaxduel.policies.base import Duel, Feedback
from tests.policies.quiet_cases import ARMS, TIMES, both_ways, compare_states, made_instances
from tests.policies.quiet_cases import small_instances as instances

pytestmark = pytest.mark.usefixtures("quick_compilation")

KEY = jax.random.key(0)
LAST = 2**31 - 1
NAMES = ["rucb", "ccb"]


def _policy(name, num=ARMS):
    return jd.policies.make(name, num_arms=ARMS, active_arms=np.arange(ARMS) < num)


def _runs(given, seed=0, times=TIMES):
    """Compares runs of RUCB. Skipping must simulate nothing but comparisons of different arms."""
    informative, steps = both_ways(_policy("rucb"), given, seed, times)
    assert (steps == informative).all()
    return steps


@pytest.mark.slow
def test_runs_are_the_same():
    steps = _runs(instances())
    assert 0.2 < np.mean(steps < TIMES[-1]) < 0.8

    @settings(max_examples=3, deadline=None, derandomize=True)
    @given(made_instances())
    def check(made):
        _runs(made)

    check()


@pytest.mark.slow
def test_long_runs_are_the_same():
    for seed in range(16):
        times = np.array([1_000, 8_000, 8_420, 20_000], np.int32)
        _runs(instances(), seed, times)


def test_states_are_the_same():
    cut = ended = 0
    for start in (100, 700):
        n, limits = compare_states(_policy("rucb"), instances(), start, seed=start)
        cut += ((n > 0) & (n == limits)).sum()
        ended += ((n > 0) & (n < limits)).sum()
    assert min(cut, ended) >= 5


@jax.jit
def _quiet(policy, state, limit):
    return policy.quiet(state, limit, KEY)


@jax.jit
def _meets_itself(policy, state):
    """The state after arm 0 met itself, which no one is told."""
    zero = jnp.int32(0)
    return policy.update(state, Duel(zero, zero), zero, KEY)


@jax.jit
def _acts(policy, state):
    """What 8 keys choose: the left and the right arms."""
    return jax.vmap(policy.act, (None, 0))(state, jax.random.split(KEY, 8))


@jax.jit
def _learnt(policy, t, table):
    state = policy.init(KEY)._replace(t=t)
    return policy.learn(state, Feedback(table, jnp.zeros_like(table)))


def _told(policy, t, wins):
    """The state at time t that has learnt of wins, {(i, j): how often i beat j}."""
    table = np.zeros((ARMS, ARMS), np.int32)
    for pair, number in wins.items():
        table[pair] = number
    return _learnt(policy, jnp.int32(t), table)


def _settled(policy, t, wins):
    """That state once arm 0 has met itself, as often as it takes until line 9 has done its work."""
    return _meets_itself(policy, _meets_itself(policy, _told(policy, t - 2, wins)))


@pytest.mark.parametrize("name", NAMES)
def test_a_crossing_is_found_to_the_comparison(name):
    policy, begin = _policy(name, 3), 1_000_000
    state = _settled(policy, begin, {(0, 1): 40, (0, 2): 48, (1, 2): 60})
    after, run = _quiet(policy, state, LAST - begin)
    n = int(run.n)
    assert int(run.arm) == 0
    # the bound 0.51 log t reaches 40 (1 - 1/2)^2
    assert abs((begin + n) / np.exp(10 / 0.51) - 1) < 1e-4
    assert int(after.t) == begin + n
    assert int(_quiet(policy, after, 5)[1].n) == 0
    for limit in (0, 1, 1_000, n):
        assert int(_quiet(policy, state, limit)[1].n) == limit

    last = state._replace(t=jnp.int32(begin + n - 1))
    assert not np.any(_acts(policy, last))
    chex.assert_trees_all_equal(_meets_itself(policy, last), after)
    following = after if name == "rucb" else _meets_itself(policy, after)
    assert (np.sum(_acts(policy, following), axis=0) == 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_run_may_last_to_the_largest_horizon(name):
    policy = _policy(name, 2)
    state = _settled(policy, LAST - 1_000, {(0, 1): 400})
    after, run = _quiet(policy, state, 1_000)
    # CCB's verdicts are made for the comparison to come, and there is none after the last
    assert int(run.n) == (1_000 if name == "rucb" else 999)
    assert int(after.t) == LAST - 1_000 + int(run.n)


def test_an_arm_that_never_met_the_best_is_no_rival_if_its_index_is_below_one_half():
    for unseen, n in ((2.0, 0), (0.5, 0), (0.4, 100)):
        mask = np.arange(ARMS) < 3
        policy = jd.policies.make("rucb", num_arms=ARMS, active_arms=mask, unseen=unseen)
        state = _told(policy, 500, {(0, 1): 400, (1, 2): 400})
        assert int(_quiet(policy, state, 100)[1].n) == n
        left, right = _acts(policy, state)
        assert not np.any(left)
        assert (np.asarray(right) == (0 if n else 2)).all()


def test_line_9_comes_before_a_quiet_run():
    policy = _policy("ccb", 3)
    state = _settled(policy, 1_000, {(0, 1): 80, (0, 2): 80, (1, 2): 80})
    nothing = jnp.zeros_like(state.hypotheses.rivals)
    settled = state.hypotheses._replace(rivals=nothing)
    cases = [
        (settled, True),
        (settled._replace(shortlist=jnp.arange(ARMS) < 3), False),
        (settled._replace(losses=jnp.int32(1)), False),
        # bit i stands for arm i; 0 beats 1 and 2, 1 beats 2
        (settled._replace(rivals=nothing.at[0, 2].set(1)), True),
        (settled._replace(rivals=nothing.at[0, 2].set(3)), False),
        (settled._replace(rivals=nothing.at[0, 0].set(4)), False),
        (settled._replace(rivals=nothing.at[0, 1].set(4)), False),
    ]
    for hypotheses, quiet in cases:
        here = state._replace(hypotheses=hypotheses)
        assert int(_quiet(policy, here, 100)[1].n) == (100 if quiet else 0)
        after = _meets_itself(policy, here).hypotheses
        same = [np.array_equal(x, y) for x, y in zip(after, hypotheses, strict=True)]
        assert all(same) == quiet
