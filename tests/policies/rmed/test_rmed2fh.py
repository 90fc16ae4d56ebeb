"""RMED2FH: the oracle by hand, the initial phase, the opponents that it fixes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Feedback
from tests.oracles.rmed.rmed2 import RMED2, RMED2FH
from tests.policies.histories import duel_histories, random_preferences
from tests.policies.oracle_runs import play_out, seen
from tests.policies.rmed.cases import play

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_rmed2fh_length_of_the_exploration():
    for horizon, L in [(1, 1), (3, 1), (4, 2), (7, 3), (43, 4), (44, 5), (500, 6), (100_000, 8)]:
        assert RMED2FH(2, horizon).L == L


def test_rmed2fh_explores_first():
    oracle = RMED2FH(3, 500)  # 3 log(log 500 + .01) = 5.5
    pairs = play_out(oracle, {(0, 1), (0, 2), (1, 2)}, 19)
    assert pairs == [(0, 1)] * 6 + [(0, 2)] * 6 + [(1, 2)] * 6 + [(0, 0)]


@pytest.mark.parametrize(
    ("make", "right"), [(lambda: RMED2FH(3, 3), 0), (lambda: RMED2(3, alpha=0.0), 2)]
)
def test_rmed2fh_keeps_its_opponents(make, right):
    """Arm 1's was 0 at first; later 2 costs 1.36, and 0 4.97."""
    oracle = make()
    assert play_out(oracle, {(0, 1), (0, 2), (1, 2)}, 4)[3] == (0, 0)
    seen(oracle, [[0, 6, 9], [4, 0, 1], [1, 9, 0]], 31)
    assert oracle.allowed() == {(1, right)}


# ---- the policy ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_horizon_sets_the_length_of_the_initial_phase():
    for horizon, times in ((1, 1), (100, 5), (2**31 - 1, 10)):
        policy = jd.policies.make("rmed2fh", num_arms=3, horizon=horizon)
        _, duels = play(policy, [1] * (3 * times + 1))
        pairs = [[0, 1]] * times + [[0, 2]] * times + [[1, 2]] * times
        assert duels.tolist() == [*pairs, [0, 0]]


@pytest.mark.thorough
def test_the_fixed_opponents_differ_from_the_current_ones():
    preferences = random_preferences(5, 10, seed=2)
    keys = jax.random.split(jax.random.key(2), 10)
    make = {"num_arms": 5, "alpha": 0.0, "horizon": 400}
    one, two = (
        np.asarray(duel_histories(jd.policies.make(name, **make), preferences, keys, 400)[1])
        for name in ("rmed2", "rmed2fh")
    )
    assert (one[:, :11] == two[:, :11]).all()
    assert (one != two).any()


@pytest.mark.thorough
def test_outcomes_that_come_after_the_initial_phase_leave_the_fixed_opponents():
    policy = jd.policies.make("rmed2fh", num_arms=3, horizon=100)
    state, _ = play(policy, [1] * 15)
    table = jnp.zeros((3, 3), jnp.int32)
    late = policy.learn(state, Feedback(table, table.at[0, 1].set(50)))
    assert np.array_equal(late.early, state.early)
    assert int(late.leader) == int(state.leader)
    assert int(late.main.wins[1, 0]) == 50
