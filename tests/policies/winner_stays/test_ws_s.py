"""WS-S: the oracle by hand, lengths of exploitations, quiet runs, delay."""

from fractions import Fraction

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Feedback
from jaxduel.policies.winner_stays.ws_s import exploitation_lengths
from tests.oracles.winner_stays.ws_s import WSS
from tests.policies.histories import KEY, played, update
from tests.policies.oracle_runs import play_out
from tests.policies.quiet_cases import ARMS, check_states_that_end

pytestmark = pytest.mark.usefixtures("quick_compilation")

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_rounds_and_exploitations_by_hand():
    oracle = WSS(3, beta=1.6)  # floor(1.6), floor(2.56), floor(4.096)
    oracle.play(0, 1, True)
    oracle.play(0, 2, True)
    rest = play_out(oracle, {(0, 1), (0, 2)}, 5)
    assert rest == [(0, 0), (0, 2), (0, 1), (0, 0), (0, 0)]
    assert oracle.allowed() == {(0, 1)}


def test_exploitations_after_every_duel_by_hand():
    oracle = WSS(3, beta=1.6, exploit_after="duel")
    oracle.play(2, 1, True)
    assert play_out(oracle, {(2, 0)}, 4) == [(2, 2), (2, 0), (2, 2), (2, 2)]


# ---- the policy ---------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [1.0001, 1.05, 1.1, 1.5, 2.0, 3.7, 1e9, 3e9])
def test_lengths_are_exact_and_end_at_the_largest_horizon(beta):
    lengths = exploitation_lengths(beta)
    assert lengths.dtype == np.int32
    assert lengths[-1] == 2**31 - 1
    assert (np.diff(lengths) >= 0).all()
    assert (lengths[:-2] < 2**31 - 1).all()
    for number in {1, 2, len(lengths) // 2 + 1, max(len(lengths) - 2, 1)} if beta > 1.01 else {7}:
        exact = Fraction(beta) ** number
        assert lengths[number - 1] == min(exact.numerator // exact.denominator, 2**31 - 1)


@pytest.mark.thorough
def test_two_arms_of_which_one_always_wins():
    """Round l takes one duel: C grows by 1 in each."""
    policy = jd.policies.make("ws-s", num_arms=3, active_arms=[1, 1, 0], beta=2.0)
    duels, state = played(policy, lambda left, right: 1 if left == 1 else -1, 3 + 2 + 4 + 8)
    selves = [left == right for left, right in duels]
    assert selves == [False, *2 * [True], False, *4 * [True], False, *8 * [True]]
    assert {duel for duel, same in zip(duels, selves, strict=True) if same} == {(1, 1)}
    assert (int(state.phase), int(state.remaining)) == (3, 0)


def test_a_quiet_run_is_the_rest_of_an_exploitation_whatever_its_length():
    policy = jd.policies.make("ws-s", num_arms=3, beta=2.0)
    quiet = jax.jit(lambda state, limit: policy.quiet(state, limit, KEY))
    state = policy.init(KEY)
    assert int(quiet(state, jnp.int32(5))[1].n) == 0
    state = state._replace(phase=jnp.int32(30), remaining=jnp.int32(2**30), champion=jnp.int32(2))
    for limit, n in ((0, 0), (7, 7), (2**31 - 1, 2**30)):
        after, run = quiet(state, jnp.int32(limit))
        assert (int(run.arm), int(run.n), int(after.remaining)) == (2, n, 2**30 - n)
        assert int(quiet(after, jnp.int32(2**31 - 1))[1].n) == 2**30 - n


def test_of_rounds_that_end_together_the_last_is_exploited():
    policy = jd.policies.make("ws-s", num_arms=2, beta=2.0)
    state = policy.init(KEY)
    for _ in range(4):
        state = update(policy, state, jnp.int32(0))
        assert int(state.remaining) == 0
    wins = jnp.array([[0, 1], [4, 0]], jnp.int32)
    state = policy.learn(state, Feedback(wins, jnp.zeros_like(wins)))
    assert (int(state.phase), int(state.champion), int(state.remaining)) == (3, 1, 8)
    # outcomes of the champion with itself teach nothing
    selves = jnp.array([[0, 0], [0, 5]], jnp.int32)
    chex.assert_trees_all_equal(policy.learn(state, Feedback(selves, selves)), state)
    assert policy.act(state, KEY) == (1, 1)


@pytest.mark.parametrize("exploit_after", ["round", "duel"])
def test_a_winner_of_the_last_number_is_played(exploit_after):
    problem = jd.problems.from_matrix([[0.5, 0.4, 0.1], [0.6, 0.5, 0.1], [0.9, 0.9, 0.5]])
    fields = {"fresh_challenger": True, "beta": 2.0, "exploit_after": exploit_after}
    policy = jd.policies.make("ws-s", num_arms=3, **fields)
    result = jd.simulate(policy, problem, 400, num_seeds=16, shuffle_arms=False, regret="average")
    assert (result.plays[:, -1].sum(axis=-1) == 800).all()
    assert (result.plays[:, -1].argmax(axis=-1) == 2).mean() > 0.5


def test_equal_betas_are_one_program():
    given = [jd.policies.make("ws-s", num_arms=3, beta=x) for x in (2, 2.0, jnp.float32(2))]
    assert len({jax.tree.structure(policy) for policy in given}) == 1


# ---- quiet runs ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{"beta": 1.5}, {"beta": 1.005, "exploit_after": "duel"}])
def test_states_are_the_same(fields):
    check_states_that_end(jd.policies.make("ws-s", num_arms=ARMS, **fields))
