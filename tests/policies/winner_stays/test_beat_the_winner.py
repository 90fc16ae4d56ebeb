"""Beat the Winner: the oracle by hand, order and queue, variants, delay."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Feedback
from jaxduel.policies.winner_stays.beat_the_winner import BeatTheWinnerState
from tests.oracles.winner_stays.beat_the_winner import BeatTheWinner
from tests.policies.histories import KEY, update

pytestmark = pytest.mark.usefixtures("quick_compilation")


def test_the_oracle_by_hand():
    oracle = BeatTheWinner(3)
    assert len(oracle.allowed()) == 6
    oracle.play(0, 1, False)  # round 1: the loser, 0, goes to the back, the arm not seen yet comes
    assert oracle.allowed() == {(1, 2)}
    oracle.play(1, 2, True)
    oracle.play(1, 2, False)  # round 2: 1 to 1
    assert oracle.allowed() == {(1, 2)}
    oracle.play(1, 2, False)
    assert oracle.allowed() == {(2, 0)}
    assert oracle.round == 3
    again = BeatTheWinner(3, "btwr")
    again.play(0, 1, True)
    assert again.round == 2
    again.play(0, 2, False)
    again.play(0, 2, False)
    assert again.round == 1


def _state(incumbent, queue, front, held, taken, number):
    numbers = (jnp.int32(x) for x in (front, held, taken, number))
    return BeatTheWinnerState(jnp.int32(incumbent), jnp.array(queue, jnp.int32), *numbers)


def _plain(state):
    return tuple(np.asarray(x).tolist() for x in state)


def test_the_order_of_the_arms_is_uniform():
    policy = jd.policies.make("beat-the-winner", num_arms=5, active_arms=[1, 1, 1, 0, 0])
    num = 6_000
    states = jax.vmap(policy.init)(jax.random.split(jax.random.key(1), num))
    order = np.column_stack([states.incumbent, states.queue])
    assert (np.sort(order[:, 3:]) == [3, 4]).all()
    found, count = np.unique(order[:, :3], axis=0, return_counts=True)
    assert len(found) == 6
    assert (np.abs(count / num - 1 / 6) < 4.5 * math.sqrt(5 / 36 / num)).all()


def test_the_loser_goes_to_the_back_of_the_queue():
    policy = jd.policies.make("beat-the-winner", num_arms=6, active_arms=[1, 1, 1, 1, 1, 0])
    state = _state(3, [0, 4, 1, 2, 5], 2, 1, 1, 2)  # queue behind the challenger 1: 2, 0, 4
    lost = update(policy, state, jnp.int32(-1))
    assert _plain(lost) == (1, [0, 4, 3, 2, 5], 3, 0, 0, 3)
    won = update(policy, update(policy, lost, jnp.int32(1)), jnp.int32(1))
    assert _plain(won) == (1, [0, 4, 3, 2, 5], 3, 2, 0, 3)
    won = update(policy, won, jnp.int32(1))
    assert _plain(won) == (1, [0, 4, 3, 2, 5], 0, 0, 0, 4)
    assert policy.act(won, KEY) == (1, 0)


def test_the_variant_begins_anew_when_the_incumbent_loses():
    policy = jd.policies.make("beat-the-winner", num_arms=3, variant="btwr")
    state = _state(2, [0, 1], 0, 1, 1, 2)
    assert _plain(update(policy, state, jnp.int32(-1))) == (0, [2, 1], 1, 0, 0, 1)
    assert _plain(update(policy, state, jnp.int32(1))) == (2, [0, 1], 1, 0, 0, 3)


def test_two_arms_meet_for_ever():
    policy = jd.policies.make("beat-the-winner", num_arms=2)
    state = _state(1, [0], 0, 0, 0, 1)
    for number, outcomes in enumerate([[-1], [1, -1, 1], [-1, -1, -1]], start=1):
        assert int(state.round) == number
        for outcome in outcomes:
            state = update(policy, state, jnp.int32(outcome))
    assert _plain(state) == (1, [0], 0, 0, 0, 4)


def test_withheld_outcomes_decide_a_round_by_the_larger_number_of_wins():
    policy = jd.policies.make("beat-the-winner", num_arms=3)
    state = _state(2, [0, 1], 1, 0, 0, 3)
    assert _plain(update(policy, state, jnp.int32(0))) == _plain(state)
    for held, taken, expected in (
        (2, 2, (2, [0, 1], 1, 2, 2, 3)),
        (4, 4, (2, [0, 1], 1, 4, 4, 3)),
        (4, 5, (1, [0, 2], 0, 0, 0, 4)),
        (5, 4, (2, [0, 1], 0, 0, 0, 4)),
    ):
        left_wins, right_wins = np.zeros((2, 3, 3), np.int32)
        left_wins[2, 1], right_wins[2, 1] = held, taken
        told = policy.learn(state, Feedback(jnp.asarray(left_wins), jnp.asarray(right_wins)))
        assert _plain(told) == expected
