"""RMED1: the oracle by hand, ties that it leaves open, carried sums."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.numerics import evidence_against_half
from jaxduel.policies.base import Duel
from jaxduel.policies.rmed import rmed1
from jaxduel.problems.arms import MOST_ARMS
from tests.oracles.rmed.rmed1 import RMED1

# ---- the oracle, by hand ------------------------------------------------------------------------


def test_rmed1_by_hand():
    oracle = RMED1(3, f=0.0)
    for left, right in [(0, 1), (0, 2), (1, 2)]:
        assert oracle.allowed() == {(left, right)}
        oracle.play(left, right, True)
    # I = (0, log 2, 2 log 2): i* = 0, O_0 = {}, 0 in O_1 and O_2
    for left, L_N in [(0, {0}), (1, {0, 1})]:
        assert oracle.allowed() == {(left, 0)}
        oracle.play(left, 0, False)
        assert [set(x.L_N) for x in oracle.memories] == [L_N]  # I_1 = 2 log 2 <= log 5
    oracle.play(2, 0, False)  # t = 6: I_2 = 3 log 2 > log 6
    assert [x.L_C for x in oracle.memories] == [(0, 1)]
    oracle.play(0, 0, True)
    assert [set(x.L_N) for x in oracle.memories] == [{0}]
    oracle.play(1, 0, True)
    # t = 8: I_2 = 3 log 2 = log 8 exactly, which float32 may see either way
    assert {x.L_C for x in oracle.memories} == {(0, 1), (0, 1, 2)}
    oracle.play(0, 0, True)
    assert oracle.allowed() == {(1, 0)}


def test_rmed1_default_f():
    assert RMED1(3).f == pytest.approx(0.3 * 3**1.01)


def test_rmed1_takes_the_strongest_opponent_when_the_best_arm_is_no_opponent():
    oracle = RMED1(3)
    for outcome in (True, True, True):
        oracle.play(*oracle.initial[oracle.t - 1], outcome)
    # 0 beats 1 (9:1), loses to 2 (4:6), and 1 beats 2 (9:1)
    oracle.N[:] = 10 - 10 * np.eye(3, dtype=int)
    oracle.W[:] = [[0, 9, 4], [1, 0, 9], [6, 1, 0]]
    # I_0 = 10 D(.4, .5) is the least; O_0 = {2} without 0 itself
    assert oracle.allowed() == {(0, 2)}


# ---- the policy ---------------------------------------------------------------------------------


def _run(policy, outcomes):
    """Plays given outcomes (+1, -1) and returns the duels and the last state."""

    def step(state, outcome):
        duel = policy.act(state, jax.random.key(0))
        return policy.update(state, duel, outcome, jax.random.key(0)), jnp.stack(duel)

    return jax.lax.scan(step, policy.init(jax.random.key(0)), jnp.asarray(outcomes, jnp.int32))


def test_every_pair_first_then_ties_go_to_the_lowest_index():
    policy = jd.policies.make("rmed1", num_arms=4)
    # 0 beats 1, 1 beats 2 and 3, all else even out: 0 and 1 ... every arm loses once but 3 twice
    state, duels = _run(policy, [1, -1, 1, 1, 1, 1, 1])
    assert duels[:6].tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    divergence = np.asarray(state.divergence)
    assert np.isclose(divergence[1], np.log(2))
    # arms 0, 1 and 2 each lost one duel: i* = 0, and arm 0 (first in the list, with 2 ahead of it)
    # meets the arm against which its mean is lowest
    assert duels[6].tolist() == [0, 2]


def test_pairs_of_the_most_arms_fit():
    for i, j in ((MOST_ARMS - 2, MOST_ARMS - 1), (MOST_ARMS, 0)):
        assert tuple(map(int, rmed1._arms_of(rmed1._packed(jnp.int32(i), jnp.int32(j))))) == (i, j)


def test_an_arm_that_leads_everybody_plays_itself():
    policy = jd.policies.make("rmed1", num_arms=3)
    _, duels = _run(policy, [1, 1, 1, 1])
    assert duels[3].tolist() == [0, 0]


def test_the_carried_divergence_is_that_of_the_counts():
    policy = jd.policies.make("rmed1", num_arms=5)
    rng = np.random.default_rng(0)
    state, _ = _run(policy, np.where(rng.random(4000) < 0.55, 1, -1))
    wins = state.wins
    terms = jnp.where(wins <= wins.T, evidence_against_half(wins, wins.T), 0.0)
    assert np.allclose(state.divergence, terms.sum(axis=1), rtol=1e-6)
    assert int(state.t) == 4000


def test_withheld_outcomes_move_the_lists_but_teach_nothing():
    policy = jd.policies.make("rmed1", num_arms=3)
    state = policy.init(jax.random.key(0))
    duel = Duel(jnp.int32(0), jnp.int32(1))
    after = policy.update(state, duel, jnp.int32(0), jax.random.key(0))
    assert int(after.wins.sum()) == 0
    assert int(after.t) == 1
    assert tuple(map(int, policy.act(after, jax.random.key(0)))) == (0, 2)
