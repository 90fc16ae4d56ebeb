"""Beat the Mean: the oracle by hand, an arm alone."""

import math
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Duel
from tests.oracles.condorcet.btm import BTM

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_btm_by_hand():
    oracle = BTM(2, 10, gamma=1.0, scale=0.1)  # log(1/delta) = log 40, c(1) = .192
    assert oracle.c(1) == pytest.approx(0.1 * math.sqrt(math.log(40)))
    assert oracle.allowed() == {(0, 0), (0, 1), (1, 0), (1, 1)}
    oracle.play(0, 1, True)  # n_1 = 0: c* = 1
    assert oracle.allowed() == {(1, 0), (1, 1)}
    oracle.play(1, 0, False)  # 0 + .192 <= 1 - .192: arm 1 goes
    for outcome in (True, False):
        assert oracle.allowed() == {(0, 0)}
        oracle.play(0, 0, outcome)


def test_btm_forgets_comparisons_with_a_removed_arm():
    oracle = BTM(3, 100, gamma=1.0, scale=0.05)
    oracle.play(0, 2, True)
    oracle.play(1, 0, True)
    oracle.play(2, 1, False)  # P = (1, 1, 0), c(1) = .13
    assert oracle.memories == [frozenset({0, 1})]
    # n_0 = 0 now, since its only comparison was with arm 2
    assert oracle.allowed() == {(0, 0), (0, 1)}
    oracle.play(0, 0, False)  # a comparison with itself counts: n_0 = 1, P_0 = 0, P_1 = 1
    assert oracle.memories == [frozenset({1})]


def test_btm_removes_one_arm_per_step_and_any_of_the_worst():
    oracle = BTM(3, 100, gamma=1.0, scale=0.05, self_comparisons=False)
    assert (0, 0) not in oracle.allowed()
    oracle.play(0, 1, False)
    oracle.play(1, 2, False)
    oracle.play(2, 0, True)
    assert set(oracle.memories) == {frozenset({1, 2}), frozenset({0, 2})}


def test_btm_assumes_transitivity_relaxed_by_its_gamma():
    problem = jd.problems.load("strong-borda")  # max(eps_1j, eps_jk) is 9 eps_1k
    for gamma, warns in ((1.3, True), (9, False)):
        policy = jd.policies.make("btm", num_arms=problem.num_arms, horizon=10, gamma=gamma)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", jd.AssumptionWarning)
            jd.simulate(policy, problem, 10, num_seeds=1)
        assert any(f"gamma = {gamma} (RST)" in str(each.message) for each in caught) == warns


def test_btm_radius():
    assert BTM(6, 1000).c(4) == pytest.approx(3 * 1.69 * math.sqrt(math.log(12_000) / 4))
    assert BTM(6, 1000).c(0) == 1.0


def test_an_arm_alone_stays_whatever_the_radius():
    key = jax.random.key(0)
    policy = jd.policies.make("btm", num_arms=6, horizon=1_000, scale=1e-12, self_comparisons=False)
    state = policy.init(key)._replace(working=jnp.arange(6) == 4)
    four = Duel(jnp.int32(4), jnp.int32(4))
    state = jax.jit(policy.update)(state, four, jnp.int32(1), key)
    assert np.flatnonzero(state.working).tolist() == [4]
