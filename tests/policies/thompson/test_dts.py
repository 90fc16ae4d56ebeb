"""D-TS: the oracle by hand, no arm against itself."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from tests.choice import some
from tests.oracles.choices import Choices, every_outcome
from tests.oracles.divergence import kl_half
from tests.oracles.thompson.dts import DTS, DTSPlus, PureDTS, divergence_from_half, posterior_sample
from tests.policies.oracle_runs import seen
from tests.policies.thompson.cases import CYCLE, samples


def test_posterior_samples():
    rng = np.random.default_rng(0)
    theta = np.array([posterior_sample(np.array([[0, 8], [1, 0]]), rng) for _ in range(2000)])
    np.testing.assert_allclose(theta + theta.swapaxes(1, 2), 1, rtol=1e-12)
    assert (theta[:, 0, 0] == 0.5).all()
    # Beta(9, 2): mean 9 / 11, variance 18 / (121 * 12); 4 standard errors
    assert theta[:, 0, 1].mean() == pytest.approx(9 / 11, abs=4 * math.sqrt(18 / 1452 / 2000))


def test_divergence_from_half():
    for p in (0.0, 0.1, 0.25, 0.5, 0.9, 1.0):
        assert divergence_from_half(p) == pytest.approx(kl_half(p), abs=1e-15)
    x = 2.0**-24
    assert divergence_from_half(0.5 + x) == pytest.approx(2 * x**2, rel=1e-7)


def test_dts_first_step_by_hand():
    oracle = DTS(3)  # u = 2 and l = 0 everywhere: no arm is excluded
    best_is_2 = samples({(0, 1): 0.9, (0, 2): 0.3, (1, 2): 0.2}, 3)
    theta2 = np.zeros((3, 3))
    for column, second in [((0.7, 0.6, 0.9), 0), ((0.4, 0.3, 0.0), 2), ((0.5, 0.5, 0.5), None)]:
        theta2[:, 2] = column
        expected = {(2, i) for i in range(3)} if second is None else {(2, second)}
        assert oracle.allowed(best_is_2, theta2) == expected
    # ties of the votes: any arm, and then the largest of its own column
    theta2 = np.array([[0.0, 0.9, 0.1], [0.6, 0.0, 0.2], [0.8, 0.1, 0.0]])
    assert oracle.allowed(CYCLE, theta2) == {(0, 2), (1, 0), (2, 2)}


def test_dts_two_arms_by_hand():
    loser_wins = samples({(0, 1): 0.1}, 2)
    oracle = DTS(2)
    for t in (1, 2, 3):  # u_10 = .594 (t = 2), .529 (t = 3)
        assert oracle.t == t
        assert oracle.allowed(loser_wins, np.array([[0, 0.6], [0.6, 0]])) == {(1, 0)}
        oracle.play(1, 0, False)
    # t = 4: u_10 = .485 < 1/2, so C = {0} whatever the votes; l_10 < 1/2: 1 may come second
    for theta, second in [(0.6, 1), (0.4, 0)]:
        assert oracle.allowed(loser_wins, np.full((2, 2), theta)) == {(0, second)}


def test_dts_does_not_take_a_sure_superior_as_second():
    wins = [[0, 20, 0], [0, 0, 20], [20, 0, 0]]
    best_is_0 = samples({(0, 1): 0.9, (0, 2): 0.9, (1, 2): 0.5}, 3)
    theta2 = np.array([[0, 0, 0], [0.1, 0, 0], [0.9, 0, 0]])
    for make, second in [(DTS, 0), (DTSPlus, 0), (PureDTS, 2)]:
        oracle = make(3)
        seen(oracle, wins, 61)  # l_20 = 1 - .324 > 1/2
        assert oracle.allowed(best_is_0, theta2) == {(0, second)}


def test_dts_without_self_duels_takes_the_best_of_the_others():
    wins = [[0, 20, 0], [0, 0, 20], [20, 0, 0]]
    best_is_0 = samples({(0, 1): 0.9, (0, 2): 0.9, (1, 2): 0.5}, 3)
    theta2 = np.array([[0, 0, 0], [0.1, 0, 0], [0.9, 0, 0]])
    for make in (DTS, DTSPlus):
        oracle = make(3, self_duels=False)
        assert oracle.allowed(best_is_0, theta2) == {(0, 2)}
        seen(oracle, wins, 61)  # l_20 = 1 - .324 > 1/2
        assert oracle.allowed(best_is_0, theta2) == {(0, 1)}


@pytest.mark.usefixtures("quick_compilation")
@pytest.mark.parametrize("name", some(["dts", "dts+"], ["dts"]))
def test_without_self_duels_there_are_no_quiet_runs(name):
    policy = jd.policies.make(name, num_arms=3, self_duels=False)
    state = jd.policies.state_from_wins(policy, [[0, 900, 900], [100, 0, 500], [100, 500, 0]])
    everybody, key = np.ones(3, bool), jax.random.key(0)
    for after, run in (
        policy.quiet(state, jnp.int32(1_000), key),
        policy.quiet_among(state, jnp.int32(1_000), key, everybody),
    ):
        assert int(run.n) == 0
        assert after is state
    left, right = jax.jit(jax.vmap(policy.act, (None, 0)))(state, jax.random.split(key, 200))
    assert set(np.asarray(left).tolist()) == {0}
    assert set(np.asarray(right).tolist()) == {1, 2}


def test_dts_bounds_are_strict_above_and_not_below():
    """Without exploration (alpha = 0): 0 and 1 drew, 1 beat 2, 2 beat 0."""
    oracle = DTS(3, alpha=0.0)
    seen(oracle, [[0, 1, 0], [1, 0, 2], [2, 0, 0]], 7)
    real = Choices(rng=np.random.default_rng(0))
    assert oracle.candidates(real) == [1, 2]
    assert oracle.eligible(0, real) == [0, 1]
    # where float32 may see the draw either way, so may the policy
    found = every_outcome(lambda x: tuple(oracle.candidates(x)))
    assert set(found) == {(1, 2), (1,), (0, 1, 2)}
