"""States from win counts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Duel

WINS = [[0, 3, 1], [2, 0, 0], [4, 1, 0]]


def test_a_state_from_counts_is_that_of_the_comparisons():
    policy = jd.policies.make("dts", num_arms=3)
    state, key = policy.init(jax.random.key(0)), jax.random.key(0)
    update = jax.jit(policy.update)
    for i, j in np.argwhere(np.array(WINS) > 0):
        for _ in range(WINS[i][j]):
            duel = Duel(jnp.int32(i), jnp.int32(j))
            state = update(state, duel, jnp.int32(1), key)
    built = jd.policies.state_from_wins(policy, WINS)
    assert np.array_equal(built.wins, state.wins)
    assert np.array_equal(built.lead, state.lead)
    assert np.array_equal(np.abs(built.tail), np.abs(state.tail))
    assert int(built.t) == int(state.t) == 11


def test_clocks_inside_a_record_are_set_too():
    policy = jd.policies.make("rcs", num_arms=3)
    assert int(jd.policies.state_from_wins(policy, WINS).record.t) == 11


@pytest.mark.parametrize(
    ("wins", "sentence"),
    [
        ([[0, -1, 0], [0, 0, 0], [0, 0, 0]], r"wins\[0, 1\] must be a whole number .* not -1"),
        ([[0, 0.5, 0], [0, 0, 0], [0, 0, 0]], r"wins\[0, 1\] must be a whole number .* not 0.5"),
        ([[0, np.nan, 0], [0, 0, 0], [0, 0, 0]], r"wins\[0, 1\] .* not nan"),
        ([[1, 0, 0], [0, 0, 0], [0, 0, 0]], r"wins\[0, 0\] must be 0, not 1"),
        ([[0, 0], [0, 0]], r"must have the shape \(3, 3\), not \(2, 2\)"),
        ([[0, "x"], [0, 0]], "must be a 3 x 3 table of whole numbers"),
        ([[0, 2**31, 0], [0, 0, 0], [0, 0, 0]], "must sum to less than 2"),
    ],
)
def test_what_is_no_count_is_refused(wins, sentence):
    policy = jd.policies.make("dts", num_arms=3)
    with pytest.raises(jd.InputError, match=sentence):
        jd.policies.state_from_wins(policy, wins)


def test_inactive_arms_have_no_wins():
    policy = jd.policies.make("dts", num_arms=3, active_arms=[True, True, False])
    with pytest.raises(jd.InputError, match=r"wins\[0, 2\] must be 0, not 1: .* inactive"):
        jd.policies.state_from_wins(policy, [[0, 3, 1], [2, 0, 0], [0, 0, 0]])


def test_a_policy_that_cannot_learn_late_is_refused():
    policy = jd.policies.make("pcomp", num_arms=3, horizon=100, num_batches=3)
    with pytest.raises(jd.InputError, match="PCOMP cannot start from win counts"):
        jd.policies.state_from_wins(policy, WINS)
