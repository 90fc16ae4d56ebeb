"""Quiet runs that end where log t crosses a bound, of RUCB and CCB: for tests."""

import chex
import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.base import Duel, Feedback

KEY = jax.random.key(0)
LAST = 2**31 - 1


@jax.jit
def quiet(policy, state, limit):
    return policy.quiet(state, limit, KEY)


@jax.jit
def meets_itself(policy, state):
    """The state after arm 0 met itself, which no one is told."""
    zero = jnp.int32(0)
    return policy.update(state, Duel(zero, zero), zero, KEY)


@jax.jit
def acts(policy, state):
    """The left and the right arms that 8 keys choose."""
    return jax.vmap(policy.act, (None, 0))(state, jax.random.split(KEY, 8))


@jax.jit
def _learnt(policy, t, table):
    state = policy.init(KEY)._replace(t=t)
    return policy.learn(state, Feedback(table, jnp.zeros_like(table)))


def told(policy, t, wins):
    """The state at time t that has learnt of wins, {(i, j): how often i beat j}."""
    table = np.zeros((policy.num_arms, policy.num_arms), np.int32)
    for pair, number in wins.items():
        table[pair] = number
    return _learnt(policy, jnp.int32(t), table)


def settled(policy, t, wins):
    """That state once arm 0 has met itself, as often as it takes until line 9 has done its work."""
    return meets_itself(policy, meets_itself(policy, told(policy, t - 2, wins)))


def check_crossing(policy):
    """A run must end at the comparison at which log t reaches the bound.

    Args:
      policy: of 3 arms, and others that do not exist.

    Returns:
      The state after the run.
    """
    begin = 1_000_000
    state = settled(policy, begin, {(0, 1): 40, (0, 2): 48, (1, 2): 60})
    after, run = quiet(policy, state, LAST - begin)
    n = int(run.n)
    assert int(run.arm) == 0
    # the bound 0.51 log t reaches 40 (1 - 1/2)^2
    assert abs((begin + n) / np.exp(10 / 0.51) - 1) < 1e-4
    assert int(after.t) == begin + n
    assert int(quiet(policy, after, 5)[1].n) == 0
    for limit in (0, 1, 1_000, n):
        assert int(quiet(policy, state, limit)[1].n) == limit

    last = state._replace(t=jnp.int32(begin + n - 1))
    assert not np.any(acts(policy, last))
    chex.assert_trees_all_equal(meets_itself(policy, last), after)
    return after


def length_at_the_largest_horizon(policy):
    """The length of a run that may last 1,000 comparisons, until 2^31 - 1; of 2 arms, and others
    that do not exist."""
    state = settled(policy, LAST - 1_000, {(0, 1): 400})
    after, run = quiet(policy, state, 1_000)
    assert int(after.t) == LAST - 1_000 + int(run.n)
    return int(run.n)
