"""RMED1: ties that the oracle leaves open, and its carried sums."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxduel as jd
from jaxduel.numerics import evidence_against_half
from jaxduel.policies.base import Duel


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
    assert (int(after.first), int(after.second)) == (0, 2)
