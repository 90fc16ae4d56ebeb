"""Quiet runs of the RMED family: skipped or played one by one, they are the same runs."""

from functools import partial

import hypothesis.extra.numpy as hnp
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

import jaxduel as jd
from jaxduel.policies.base import SupportsSkip
from tests.policies.histories import random_preferences
from tests.policies.quiet_runs import compare, plain, skipping
from tests.policies.quiet_walks import (
    LANES,
    NUM,
    WALK,
    at,
    check_walk,
    clock,
    each_of,
    make,
    padded,
    same,
    steep,
)

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("quick_compilation")]

LAST = 2**31 - 1
NAMES = ("rmed1", "rmed2", "rmed2fh", "ecw-rmed", "cw-rmed")
SMALL = [entry.name for entry in jd.problems.entries() if entry.num_arms <= NUM]


def _but_slow(*fast):
    """All names; tests of those that are not `fast` are slow."""
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]


@pytest.mark.parametrize("name", _but_slow("rmed1"))
def test_a_run_is_what_the_comparisons_then_are(name):
    quiet = 0.0
    for instance in ("arxiv", "cyclic"):
        problem = jd.problems.load(instance)
        policy = make(name, problem.num_arms)
        _, n = check_walk(policy, padded(problem.preferences))
        quiet += np.mean(n > 0)
    assert quiet > 0.2
    for k in (2, 5):
        p = padded(random_preferences(k, LANES, seed=k))
        check_walk(make(name, k), p)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rmed1", "ecw-rmed"])
def test_two_arms_without_padding(name):
    p = random_preferences(2, LANES, seed=1)
    _, n = check_walk(make(name, 2, 2), p)
    assert np.mean(n > 0) > 0.3


@pytest.mark.slow
def test_a_run_of_cw_rmed_with_few_arms():
    p = padded(steep(3), 4)
    _, n = check_walk(make("cw-rmed", 3, 4), p)
    assert np.mean(n > 0) > 0.3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "values"), [*((name, {}) for name in NAMES), ("ecw-rmed", {"line4": "pass"})]
)
def test_outcomes_that_come_late(name, values):
    for k, best in ((5, 1), (3, 2), (2, 0)):
        p = padded(steep(k, best))
        _, n = check_walk(make(name, k, **values), p, delay=60)
        assert np.mean(n > 0) > 0.1


@pytest.mark.slow
def test_a_run_where_line_4_is_asked_once_per_pass():
    p = padded(random_preferences(5, LANES, seed=5))
    _, n = check_walk(make("ecw-rmed", 5, line4="pass"), p)
    assert np.mean(n > 0) > 0.2


def _check_plays(policy, preferences, times, lanes):
    """The plays are the same with and without skipping; few comparisons are simulated."""
    preferences = each_of(preferences, lanes)
    keys = jax.random.split(jax.random.key(1), lanes)
    times, kind = jnp.array(times, jnp.int32), type(policy)
    plays, informative = plain(policy, preferences, keys, times, policy_class=kind)
    skipped, simulated = skipping(policy, preferences, keys, times, policy_class=kind)
    compare(plays, skipped, times)
    informative, simulated = np.asarray(informative), np.asarray(simulated)
    if kind.__name__.startswith("RMED"):
        assert np.array_equal(simulated, informative)
    assert np.all(simulated <= 2 * informative + 10)
    return informative.sum(), simulated.sum()


def _check_catalogue(name, instances, times, lanes):
    """For ECW-RMED and CW-RMED some more are simulated, after which line 4 has to look."""
    fewest = lanes * times[-1]
    for instance in instances:
        problem = jd.problems.load(instance)
        policy = make(name, problem.num_arms)
        informative, simulated = _check_plays(policy, padded(problem.preferences), times, lanes)
        assert simulated <= 1.2 * informative
        fewest = min(fewest, simulated)
    assert fewest < 0.9 * lanes * times[-1]


@st.composite
def _made(draw):
    """The number of arms and preferences made by hypothesis."""
    num = draw(st.integers(2, NUM))
    entries = st.sampled_from([0.0, 0.05, 0.2, 0.4, 0.5, 0.6, 0.9, 1.0])
    upper = np.triu(draw(hnp.arrays(np.float64, (num, num), elements=entries)), 1)
    return num, upper + np.tril(1 - upper.T, -1) + np.eye(num) / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_plays_are_the_same(name):
    _check_catalogue(name, SMALL, [60, 701, 5_000, 20_000], 64)

    @settings(max_examples=5, deadline=None, derandomize=True)
    @given(_made())
    def check(made):
        k, p = made
        _check_plays(make(name, k), padded(p), [60, 700, 701, 3_000], LANES)

    check()


@partial(jax.jit, static_argnames="policy_class")
def _to_the_end(policy, states, *, policy_class):
    """The longest runs, the states after them, the same states by way of the runs' last 5
    comparisons and whether these are of the arms with themselves; the pairs that come next."""
    del policy_class
    key = jax.random.key(0)

    def longest(state):
        later, run = policy.quiet(state, LAST - clock(state), key)

        def step(played, outcome):
            duel = policy.act(played, key)
            own = (duel.left == run.arm) & (duel.right == run.arm)
            return policy.update(played, duel, outcome, key), own

        outcomes = jnp.array([1, -1, 0, 1, -1], jnp.int32)
        played, own = lax.scan(step, at(state, clock(later) - 5), outcomes)
        right = jnp.all(own) & same(later, played)
        return run.n, later, right, policy.act(later, key)

    return jax.vmap(longest)(states)


@partial(jax.jit, static_argnames="policy_class")
def _are_calm(policy, states, *, policy_class):
    """Whether runs of 10 comparisons come next, (LANES,) bool."""
    del policy_class
    return jax.vmap(lambda state: policy.quiet(state, jnp.int32(10), None)[1].n == 10)(states)


def _far(name, change):
    """Runs from a quiet state of several lanes, of which the evidence was changed.

    Returns, of the lanes whose state was quiet: the states after the runs; when these end; whether
    that is before the largest horizon; whether different arms are compared then.
    """
    policy = make(name, 5)
    states, _ = check_walk(policy, padded(steep(5)))
    calm = np.asarray(_are_calm(policy, states, policy_class=type(policy)))
    assert calm.sum() > 8
    more = jnp.linspace(2.0, 16.0, LANES, dtype=jnp.float32)
    states = jax.jit(jax.vmap(change))(states, more)
    n, later, right, following = _to_the_end(policy, states, policy_class=type(policy))
    assert np.all(right[calm])
    ends = np.asarray(clock(later))[calm]
    assert np.all(ends == WALK + np.asarray(n)[calm])
    inside = ends < LAST
    assert inside.any()
    assert (~inside).any()
    later = jax.tree.map(lambda x: x[calm], later)
    return policy, later, ends, inside, np.asarray(following.left != following.right)[calm]


def _counted(main, many):
    """RMED2's state, had every pair been compared so often."""
    fewest = jnp.where(main.fewest == LAST, LAST, many)
    return main._replace(made=jnp.full((NUM, NUM), many), fewest=fewest)


@pytest.mark.parametrize("name", _but_slow("rmed2")[:3])
def test_a_list_changes_at_the_comparison_at_which_it_does_without_skipping(name):
    def change(state, more):
        main = state.main if hasattr(state, "main") else state
        far = main.divergence + jnp.where(jnp.arange(NUM) == 1, 0, more)
        if name == "rmed2":
            main = _counted(main, jnp.int32(100))
        main = main._replace(divergence=far)
        return state._replace(main=main) if hasattr(state, "main") else main

    _, _, ends, inside, different = _far(name, change)
    assert np.all(different[inside])
    assert np.max(ends[inside]) > 2**24


def test_a_pair_of_rmed2_is_forced_at_the_comparison_at_which_it_is_without_skipping():
    def change(state, more):
        many = (more / 2).astype(jnp.int32) + 6
        far = state.main.divergence + jnp.where(jnp.arange(NUM) == 1, 0, 100.0)
        return state._replace(main=_counted(state.main._replace(divergence=far), many))

    _, _, ends, inside, different = _far("rmed2", change)
    assert np.all(different[inside])
    assert np.max(ends[inside]) > 2**24


@pytest.mark.parametrize("what", ["confident_until", "due_log_t"])
def test_the_lists_of_ecw_rmed_change_at_the_comparison_at_which_they_do(what):
    def change(state, more):
        demand = state.demand
        if what == "confident_until":
            demand = demand._replace(
                confident_until=jnp.where(demand.confident_until >= 0, 7 + more, -1.0)
            )
        else:
            unequal = ~jnp.eye(NUM, dtype=bool) & (jnp.arange(NUM) < 5)[:, None]
            due = jnp.where(unequal & unequal.T, 7 + more, jnp.inf)
            demand = demand._replace(confident_until=demand.confident_until * 0 - 1, due_log_t=due)
        return state._replace(demand=demand, fewest=jnp.float32(1e6))

    _, _, ends, inside, different = _far("ecw-rmed", change)
    assert np.all(different[inside])
    assert np.max(ends[inside]) > 2**24


@pytest.mark.slow
def test_line_4_of_ecw_rmed_looks_at_the_comparison_at_which_it_does():
    def change(state, more):
        demand = state.demand._replace(confident_until=jnp.full(NUM, jnp.inf).at[0].set(-1.0))
        return state._replace(demand=demand, fewest=3 * jnp.sqrt(7 + more))

    policy, later, _, inside, different = _far("ecw-rmed", change)
    assert not np.any(different)
    key = jax.random.key(0)
    after = jax.vmap(lambda s: policy.update(s, policy.act(s, key), jnp.int32(1), key))(later)
    looked = np.any(np.asarray(after.forced) != 0, axis=(1, 2))
    assert np.all(looked[inside])


@pytest.mark.parametrize("name", NAMES)
def test_they_fall_quiet(name):
    assert isinstance(make(name, 3), SupportsSkip)
