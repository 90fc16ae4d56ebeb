"""RUCB: the oracle by hand, random choices, the carried doubt, quiet runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Duel
from jaxduel.policies.condorcet.rucb import RUCBState
from jaxduel.policies.counts import tally_of
from tests.oracles.condorcet.rucb import RUCB
from tests.policies.quiet_bounds import (
    acts,
    check_crossing,
    length_at_the_largest_horizon,
    quiet,
    told,
)
from tests.policies.quiet_cases import (
    ARMS,
    TIMES,
    check_long_runs,
    check_made_runs,
    check_runs,
    check_states_that_end,
    small_instances,
)

# ---- the oracle, by hand ------------------------------------------------------------------------


@pytest.mark.parametrize("unseen", [1.0, 2.0])
def test_rucb_first_step_is_any_pair_of_different_arms(unseen):
    oracle = RUCB(3, unseen=unseen)
    assert oracle.allowed() == {(i, j) for i in range(3) for j in range(3) if i != j}


def test_rucb_two_arms_by_hand():
    oracle = RUCB(2)
    for t in (1, 2, 3):  # u_10 = sqrt(.51 log t / n) = .594 (t = 2), .529 (t = 3)
        assert oracle.t == t
        assert oracle.allowed() == {(0, 1), (1, 0)}
        oracle.play(0, 1, True)
    # t = 4: u_10 = .485 < 1/2, so C = B = {0} and d = 0
    assert oracle.allowed() == {(0, 0)}
    oracle.play(0, 0, False)
    assert oracle.memories == [frozenset({0})]
    assert oracle.N.sum() == 6
    # t = 5: u_10 = .523
    assert oracle.allowed() == {(0, 1), (1, 0)}
    oracle.play(1, 0, True)
    assert oracle.memories == [frozenset({0})]  # B stays while its arm is in C


def test_rucb_unseen_pairs_come_first_or_not():
    """After a win, u = 1 + sqrt(.51 log 2) = 1.59 for the winner: below 2, above 1."""
    for unseen, expected in [(2.0, {(1, 2)}), (1.0, {(1, 0)})]:
        oracle = RUCB(3, unseen=unseen)
        oracle.play(0, 1, True)
        assert {(c, d) for c, d in oracle.allowed() if c == 1} == expected


def test_rucb_without_candidates_starts_anywhere_and_forgets():
    oracle = RUCB(3)
    for i in range(3):  # each arm beats the next 20 times
        j = (i + 1) % 3
        oracle.W[i, j] = oracle.N[i, j] = oracle.N[j, i] = 20
    oracle.t = 61
    oracle.memories = [frozenset({1})]
    assert oracle.allowed() == {(0, 2), (1, 0), (2, 1)}
    oracle.play(1, 0, True)
    assert oracle.memories == [frozenset()]


# ---- the policy ---------------------------------------------------------------------------------


def _state(wins, best, t):
    wins = np.array(wins, np.int32)
    n = np.maximum(wins + wins.T, 1)
    doubt = (np.maximum(wins.T - wins, 0) ** 2 / (4 * n)).max(axis=1)
    return RUCBState(tally_of(jnp.asarray(wins)), jnp.float32(doubt), jnp.int32(best), jnp.int32(t))


@jax.jit
def _acts(policy, state, keys):
    return jax.vmap(policy.act, in_axes=(None, 0))(state, keys)


def _frequencies(policy, state, num=40_000):
    keys = jax.random.split(jax.random.key(0), num)
    duels = _acts(policy, state, keys)
    return np.histogram2d(duels.left, duels.right, bins=np.arange(-0.5, 5))[0] / num


def test_candidates_have_the_papers_probabilities():
    policy = jd.policies.make("rucb", num_arms=5)
    wins = np.full((5, 5), 30)
    wins[4], wins[:, 4] = 0, 60
    np.fill_diagonal(wins, 0)
    for best, expected in ((-1, [0.25] * 4 + [0]), (1, [1 / 6, 0.5, 1 / 6, 1 / 6, 0])):
        frequency = _frequencies(policy, _state(wins, best, 700)).sum(axis=1)
        error = np.sqrt(np.array(expected) * (1 - np.array(expected)) / 40_000)
        assert (np.abs(frequency - expected) <= 4.5 * error).all()


def test_no_candidate_means_any_arm_and_a_single_one_is_the_best():
    policy = jd.policies.make("rucb", num_arms=5)
    cycle = np.zeros((5, 5))
    for i in range(5):
        cycle[i, (i + 1) % 5] = 200
    frequency = _frequencies(policy, _state(cycle, 2, 1000)).sum(axis=1)
    assert (np.abs(frequency - 0.2) < 4.5 * np.sqrt(0.16 / 40_000)).all()
    wins = np.triu(np.full((5, 5), 300), 1)
    state = _state(wins, -1, 3000)
    assert _frequencies(policy, state)[0, 0] == 1
    after = policy.update(state, Duel(jnp.int32(0), jnp.int32(0)), jnp.int32(1), jax.random.key(0))
    assert int(after.best) == 0


def test_tied_opponents_are_uniform_and_not_the_candidate():
    policy = jd.policies.make("rucb", num_arms=5)
    frequency = _frequencies(policy, _state(np.zeros((5, 5)), -1, 0))
    assert (np.diag(frequency) == 0).all()
    off = frequency[~np.eye(5, dtype=bool)]
    assert (np.abs(off - 0.05) < 4.5 * np.sqrt(0.05 * 0.95 / 40_000)).all()


def test_the_carried_doubt_and_losses_are_those_of_the_counts():
    policy = jd.policies.make("rucb", num_arms=5)

    def step(state, key):
        left, right = jax.random.randint(key, (2,), 0, 5)
        outcome = jnp.where(jax.random.bernoulli(key, 0.7), 1, -1).astype(jnp.int32)
        state = policy.update(state, Duel(left, right), outcome, key)
        return state, (state.tally, state.doubt)

    first = policy.init(jax.random.key(0))
    _, (tally, doubt) = jax.lax.scan(step, first, jax.random.split(jax.random.key(1), 3000))
    (wins, losses), doubt = np.moveaxis(np.asarray(tally), 2, 0), np.asarray(doubt)
    np.testing.assert_array_equal(losses, np.swapaxes(wins, 1, 2))
    for t in range(0, 3000, 37):
        expected = _state(wins[t], -1, t).doubt
        assert np.allclose(doubt[t], expected, rtol=1e-6)


# ---- quiet runs ---------------------------------------------------------------------------------

quickly = pytest.mark.usefixtures("quick_compilation")
"""For the last tests of the file: it lasts until its end."""


def _policy(num=ARMS, **parameters):
    mask = np.arange(ARMS) < num
    return jd.policies.make("rucb", num_arms=ARMS, active_arms=mask, **parameters)


@pytest.mark.slow
@quickly
def test_runs_are_the_same():
    steps = check_runs(_policy(), small_instances())
    assert 0.2 < np.mean(steps < TIMES[-1]) < 0.8
    check_made_runs(_policy())


@pytest.mark.slow
@quickly
def test_long_runs_are_the_same():
    check_long_runs(_policy())


@quickly
def test_states_are_the_same():
    check_states_that_end(_policy())


@quickly
def test_a_crossing_is_found_to_the_comparison():
    policy = _policy(3)
    after = check_crossing(policy)
    assert (np.sum(acts(policy, after), axis=0) == 1).all()


@quickly
def test_a_run_may_last_to_the_largest_horizon():
    assert length_at_the_largest_horizon(_policy(2)) == 1_000


@quickly
def test_an_arm_that_never_met_the_best_is_its_rival():
    """Even at the least index, u_20 = u_00 = 1/2: among ties, d != c."""
    for unseen in (2.0, 0.5):
        policy = _policy(3, unseen=unseen)
        state = told(policy, 500, {(0, 1): 400, (1, 2): 400})
        assert int(quiet(policy, state, 100)[1].n) == 0
        left, right = acts(policy, state)
        assert not np.any(left)
        assert (np.asarray(right) == 2).all()
