"""BaSE, successive elimination and explore-then-commit: shared pulls, the test of elimination."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxduel.policies.arms.base import BaSE
from jaxduel.policies.arms.elimination import Rewards, no_rewards, spread, survivors, with_round
from jaxduel.policies.arms.etc import ETC
from jaxduel.policies.arms.successive_elimination import SuccessiveElimination
from jaxduel.policies.base import PullBatch
from tests.oracles.arms.loops import equal_pulls
from tests.policies.arms.cases import KEY, counts_of, make

pytestmark = pytest.mark.usefixtures("quick_compilation")


def test_equal_pulls_by_hand():
    assert equal_pulls(3, [0, 1, 2], 8) == (3, 3, 2)
    assert equal_pulls(3, [0, 1, 2], 1) == (1, 0, 0)
    assert equal_pulls(3, [0, 2], 4) == (2, 0, 2)
    assert equal_pulls(3, [0, 2], 10**9 + 1) == (5 * 10**8 + 1, 0, 5 * 10**8)
    assert equal_pulls(2, [1], 5) == (0, 5)


def test_pulls_are_shared_equally_and_odd_ones_go_to_the_lowest_numbers():
    rng = np.random.default_rng(0)
    program = jax.jit(spread)
    for _ in range(300):
        arms = rng.random(5) < 0.6
        arms[rng.integers(5)] = True
        amount = int(rng.integers(0, 23))
        totals = np.zeros(5, int)
        for _ in range(amount):
            totals[min(np.flatnonzero(arms), key=lambda i: (totals[i], i))] += 1
        plan = program(arms, np.int32(amount))
        assert plan.counts.dtype == jnp.int32
        assert plan.counts.tolist() == totals.tolist()


def test_an_arm_at_exactly_the_width_goes_and_just_inside_stays():
    active = jnp.ones(3, bool)
    test = jax.jit(lambda rewards: survivors(rewards, active, 1.0, 1000, active))
    pulls = jnp.array([8, 4, 4], jnp.int32)  # tau = 4
    width = np.sqrt((np.log(np.float32(1000)) + np.log(np.float32(3))) / np.float32(4))
    for lead, stays in ((width, False), (np.nextafter(width, np.float32(0)), True)):
        total = jnp.array([8 * lead, 0.0, 4 * lead], jnp.float32)
        left = test(Rewards(pulls, total, jnp.zeros(3, jnp.float32)))
        assert left.tolist() == [True, stays, True]


def test_the_width_counts_active_arms_and_grows_with_gamma():
    arms = jnp.array([True, True, False, False, False])
    pulls = jnp.array([100, 100, 900, 0, 0], jnp.int32)
    rewards = Rewards(pulls, jnp.array([30.0, 0, 5000, 0, 0], jnp.float32), jnp.zeros(5))
    active = jnp.array([True, True, True, False, False])
    for gamma in (0.5, 1.0, 1.12, 1.13, 2.0):
        goes = np.sqrt(gamma * np.log(1000 * 3) / 100) <= 0.3
        left = survivors(rewards, arms, gamma, 1000, active)
        assert left.tolist() == [True, not goes, False, False, False]


def test_arms_of_the_largest_average_never_go():
    active = jnp.ones(3, bool)
    rewards = Rewards(jnp.full(3, 10**9, jnp.int32), jnp.array([1.0, 1, 1]), jnp.zeros(3))
    assert survivors(rewards, active, 1e-38, 10, active).all()
    ahead = rewards._replace(total=jnp.array([1.0, 2, 1]))
    assert survivors(ahead, active, 1e-38, 10, active).tolist() == [False, True, False]


def test_sums_of_rewards_do_not_stall():
    rewards = Rewards(jnp.ones(2, jnp.int32), jnp.full(2, 2.0**24), jnp.zeros(2))
    plan = PullBatch(jnp.ones(2, jnp.int32))

    @jax.jit
    def thousand(rewards):
        return lax.fori_loop(0, 1000, lambda _, r: with_round(r, plan, jnp.full(2, 0.1)), rewards)

    after = thousand(rewards)
    total = np.float64(after.total) + np.float64(after.carry)
    assert np.allclose(total, 2.0**24 + 100, rtol=0, atol=1e-3)
    assert after.pulls.tolist() == [1001, 1001]
    assert no_rewards(2).total.dtype == jnp.float32


@pytest.mark.parametrize("cls", [BaSE, ETC, SuccessiveElimination])
def test_padding_changes_nothing(cls):
    fields = {} if cls is SuccessiveElimination else {"num_batches": 5}
    for means in ([0.0, 0.3, 0.1], [0.0, 0.0, 0.0]):
        plain = counts_of(make(cls, horizon=30, **fields), means)
        padded = counts_of(make(cls, horizon=30, padding=2, **fields), [*means, 9.0, 9.0])
        assert np.sum(plain) == 30
        assert padded == [[*row, 0, 0] for row in plain]


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("cls", [BaSE, ETC, SuccessiveElimination])
def test_states_and_plans_keep_32_bits(cls, x64):
    fields = {} if cls is SuccessiveElimination else {"num_batches": np.int32(5)}
    with jax.enable_x64(x64):
        policy = make(cls, **fields)
        state = jax.eval_shape(policy.init, KEY)
        plan = jax.eval_shape(policy.act, state, KEY)
        sums = jax.ShapeDtypeStruct((3,), jnp.float32)
        after = jax.eval_shape(policy.update, state, plan, sums, KEY)
        assert plan.counts.dtype == jnp.int32
        assert state == after
        assert all(leaf.dtype.itemsize <= 4 for leaf in jax.tree.leaves(state))
