"""Quiet runs of CCB: the law of their lengths, their arms, and of the comparison after them; where
no coin ends them, they end where log t crosses a bound."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.policies.base import Duel
from tests.policies.copeland.cases import KEY, frequencies, holding, state_of, wins_of
from tests.policies.quiet_bounds import (
    acts,
    check_crossing,
    length_at_the_largest_horizon,
    meets_itself,
    quiet,
    settled,
)
from tests.policies.quiet_cases import ARMS, check_states_that_end
from tests.policies.quiet_laws import check_whole_runs

pytestmark = pytest.mark.usefixtures("quick_compilation")

NUM, DRAWS = 5, 40_000
CYCLE = [(0, 1), (1, 2), (2, 0)]
LOSERS = [(i, j) for i in range(3) for j in (3, 4)]


def _rivals(**sets):
    """B^i as a mask, of the arms named a0, a1, ..."""
    mask = np.zeros((NUM, NUM), bool)
    for name, members in sets.items():
        mask[int(name[1]), members] = True
    return mask


def _at(shortlist, losses, leads, rivals):
    """A state in which line 9 has nothing to do, after 1,000 comparisons."""
    mask = np.isin(np.arange(NUM), shortlist)
    policy = jd.policies.make("ccb", num_arms=NUM)
    return policy, state_of(policy, wins_of(leads), 1_000, mask, rivals, losses)


STATES = {
    # 0 beats all; of 1 and 2 it is open who beats whom, and 2 may be what beats 1
    "explores": (_at([0], 0, [(0, j) for j in range(1, NUM)], _rivals(a1=[2])), [0.75]),
    # three winners; 4 may be one of the two that beat 3
    "three": (_at([0, 1, 2], 1, CYCLE + LOSERS, _rivals(a3=[0, 4])), [0.25, 0.25, 0.25]),
    # 0 loses to 1; it is open whether any other arm is as good, and whether 4 beats 3
    "hides": (
        _at([0], 1, [(0, 2), (0, 3), (0, 4), (1, 0), (2, 1)], _rivals(a3=[0, 4])),
        [0.75 * (2 / 3 + 1 / 15)],
    ),
    "waits": (
        _at([0], 1, [(0, 2), (0, 3), (0, 4), (1, 0), (2, 1)], _rivals()),
        [2 / 3 + 1 / 15],
    ),
    # three arms may be winners, of which the last is open with 4
    "open": (_at([0, 1, 2], 1, CYCLE + LOSERS[:5], _rivals()), [1 / 3, 1 / 3]),
}


@jax.jit
def _runs(policy, state, limit, keys):
    return jax.vmap(policy.quiet, (None, None, 0))(state, limit, keys)


@jax.jit
def _updated(policy, state, duel, outcome):
    return policy.update(state, duel, outcome, KEY)


def _keys(number):
    return jax.random.split(jax.random.key(number), DRAWS)


@pytest.mark.parametrize("name", STATES)
def test_a_run_is_what_comes_next(name):
    """Its arms have the probabilities that they have of meeting themselves, and it ends before a
    comparison that is another: those have theirs, given that."""
    (policy, state), weights = STATES[name]
    weights = np.pad(weights, (0, NUM - len(weights)))
    states, runs = _runs(policy, state, jnp.int32(100), _keys(1))
    assert np.allclose(runs.weights, weights, rtol=1e-6)
    assert (runs.arm == 0).all()

    usual = frequencies(policy, state)
    error = np.sqrt(weights * (1 - weights) / DRAWS)
    assert (np.abs(np.diag(usual) - weights) <= 4.5 * error).all()

    (index,) = np.flatnonzero(states.awake)[:1]
    other = frequencies(policy, jax.tree.map(lambda x: x[index], states))
    expected = usual - np.diag(weights > 0) * usual
    left = expected.sum()
    expected, error = expected / left, np.sqrt(usual * (1 + usual / left)) / left / np.sqrt(DRAWS)
    assert not other[weights > 0, weights > 0].any()
    assert (np.abs(other - expected) <= 4.5 * np.hypot(error, np.sqrt(other / DRAWS))).all()


@pytest.mark.parametrize("name", ["explores", "waits"])
def test_lengths_are_geometric(name):
    (policy, state), weights = STATES[name]
    p, limit = sum(weights), 12
    states, runs = _runs(policy, state, jnp.int32(limit), _keys(2))
    n = np.asarray(runs.n)
    for length in range(1, limit + 1):
        error = np.sqrt(p**length * (1 - p**length) / DRAWS)
        assert abs((n >= length).mean() - p**length) <= 4.5 * error
    assert n.max() == limit
    assert np.array_equal(states.awake, n < limit)
    assert np.array_equal(states.t, 1_000 + n)


def test_a_run_ends_where_verdicts_may_change():
    """Cut there, nothing is known of the comparison that follows."""
    (policy, state), (p,) = STATES["explores"]
    verdicts = state.beliefs.verdicts._replace(until=policy.alpha * np.log(1_006.5))
    soon = state._replace(beliefs=state.beliefs._replace(verdicts=verdicts))
    states, runs = _runs(policy, soon, jnp.int32(100), _keys(3))
    n = np.asarray(runs.n)
    assert n.max() == 5  # the verdicts of comparison 1,007 are made after comparison 1,006
    assert np.array_equal(states.awake, n < 5)
    assert abs((n == 5).mean() - p**5) <= 4.5 * np.sqrt(p**5 * (1 - p**5) / DRAWS)


def test_after_the_comparison_that_ends_a_run_the_next_may_begin():
    (policy, state), _ = STATES["three"]
    states, _ = _runs(policy, state, jnp.int32(100), _keys(5))
    (index,) = np.flatnonzero(states.awake)[:1]
    awake = jax.tree.map(lambda x: x[index], states)
    assert not np.any(_runs(policy, awake, jnp.int32(100), _keys(6))[1].n)
    pair = Duel(jnp.int32(3), jnp.int32(4))
    for told in (1, 0):
        after = _updated(policy, awake, pair, jnp.int32(told))
        assert not after.awake
        assert np.any(_runs(policy, after, jnp.int32(100), _keys(6))[1].n)


@pytest.mark.thorough
def test_the_state_after_a_run_is_that_of_its_comparisons():
    check_states_that_end(jd.policies.make("ccb", num_arms=9))


def _padded(num):
    return jd.policies.make("ccb", num_arms=ARMS, active_arms=np.arange(ARMS) < num)


def test_a_crossing_is_found_to_the_comparison():
    policy = _padded(3)
    after = check_crossing(policy)
    assert (np.sum(acts(policy, meets_itself(policy, after)), axis=0) == 1).all()


def test_a_run_may_last_to_the_largest_horizon():
    """Verdicts are made for the comparison to come, and there is none after the last."""
    assert length_at_the_largest_horizon(_padded(2)) == 999


def test_line_9_comes_before_a_quiet_run():
    policy = _padded(3)
    state = settled(policy, 1_000, {(0, 1): 80, (0, 2): 80, (1, 2): 80})
    nothing = jnp.zeros_like(state.beliefs.hypotheses.rivals)
    done = state.beliefs.hypotheses._replace(rivals=nothing)
    cases = [
        (done, True),
        (done._replace(shortlist=jnp.arange(ARMS) < 3), False),
        (done._replace(losses=jnp.int32(1)), False),
        # bit i stands for arm i; 0 beats 1 and 2, 1 beats 2
        (done._replace(rivals=nothing.at[0, 2].set(1)), True),
        (done._replace(rivals=nothing.at[0, 2].set(3)), False),
        (done._replace(rivals=nothing.at[0, 0].set(4)), False),
        (done._replace(rivals=nothing.at[0, 1].set(4)), False),
    ]
    for hypotheses, lasts in cases:
        here = holding(policy, state, hypotheses)
        assert int(quiet(policy, here, 100)[1].n) == (100 if lasts else 0)
        after = meets_itself(policy, here).beliefs.hypotheses
        same = [np.array_equal(x, y) for x, y in zip(after, hypotheses, strict=True)]
        assert all(same) == lasts


# ---- whole runs ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("full_compilation")
@pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning")
@pytest.mark.parametrize(
    ("problem", "times", "num", "settings"),
    [
        ("noncondorcet-strong-borda", [1_000, 3_000, 8_000], 8_192, {"parameters": {"alpha": 0.2}}),
        ("mslr5-condorcet", [1_000, 4_000, 16_000], 8_192, {}),
        ("mslr5-condorcet", [1_000, 4_000, 16_000], 4_608, {"delay": 3}),
        ("mslr5-condorcet", [1_000, 4_000, 16_000], 4_096, {"delay": 16}),
    ],
)
def test_long_runs_have_the_same_law(problem, times, num, settings, turns):
    check_whole_runs(turns, "ccb", problem, times, num, settings)
