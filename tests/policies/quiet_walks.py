"""Quiet runs of the RMED families; walks that ask before every comparison for one: for tests."""

from functools import partial

import hypothesis.extra.numpy as hnp
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

import jaxduel as jd
from jaxduel.policies.base import Feedback
from tests.policies.histories import random_preferences
from tests.policies.quiet_runs import compare, plain, skipping

NUM, LANES, WALK = 9, 16, 1_000
LAST = 2**31 - 1
SMALL = [entry.name for entry in jd.problems.entries() if entry.num_arms <= NUM]


def make(name, num_active, num_arms=NUM, **values):
    """A policy with arms that do not exist."""
    mask = np.arange(num_arms) < num_active
    return jd.policies.make(name, num_arms=num_arms, active_arms=mask, horizon=20_000, **values)


def padded(preferences, num_arms=NUM):
    """(..., K, K) preferences among `num_arms` arms."""
    preferences = np.asarray(preferences)
    add = (0, num_arms - preferences.shape[-1])
    pads = [(0, 0)] * (preferences.ndim - 2) + [add, add]
    return np.pad(preferences, pads, constant_values=0.5).astype(np.float32)


def each_of(preferences, num):
    """The preferences of `num` lanes, (num, K, K)."""
    return jnp.broadcast_to(preferences, (num, *preferences.shape[-2:]))


def steep(num_active, best=1):
    """One arm beats the others nine times in ten; they are even."""
    p = np.full((num_active, num_active), 0.5)
    p[best], p[:, best], p[best, best] = 0.9, 0.1, 0.5
    return p


def clock(state):
    """How many comparisons were made."""
    return (state.main if hasattr(state, "main") else state).t


def at(state, t):
    """The state at another time."""
    if hasattr(state, "main"):
        return state._replace(main=state.main._replace(t=t))
    return state._replace(t=t)


def same(state, other):
    """Whether two states are, bit for bit."""
    equal = jax.tree.map(lambda x, y: jnp.all(x == y), state, other)
    return jnp.all(jnp.stack(jax.tree.leaves(equal)))


def _without_lists(state):
    """What a state knows, without lists and clock."""
    main = state.main if hasattr(state, "main") else state
    main = main._replace(queue=0, waiting=0, t=0)
    return state._replace(main=main) if hasattr(state, "main") else main


@partial(jax.jit, static_argnames=("delay", "policy_class"))
def _walk(policy, preferences, keys, *, delay, policy_class):
    """Plays comparison by comparison and asks before each for the quiet run, until the next time
    that outcomes are told: those that are multiples of `delay`, or at once if it is None.

    Returns:
      The last state and, for all times: the runs' lengths; whether a run is what was announced by
      the time before, to the state that follows it; whether the pair is an arm against itself,
      and changes nothing but lists.
    """
    nobody = jnp.zeros((policy.num_arms, policy.num_arms), jnp.int32)
    nothing = Feedback(nobody, nobody)

    def run(p, key):
        def step(carry, t):
            state, pending, goal, left, arm = carry
            limit = WALK - t if delay is None else jnp.minimum(delay - t % delay, WALK - t)
            later, quiet = policy.quiet(state, limit, key)
            announced = (left != 1) | same(state, goal)
            goes_on = same(later, goal) & (quiet.n == left - 1) & (quiet.arm == arm)
            announced = announced & ((left < 2) | goes_on)
            announced = announced & ((quiet.n > 0) | same(later, state))
            announced = announced & (clock(later) == t + quiet.n) & (quiet.n <= limit)

            here = jax.random.fold_in(key, t)
            duel = policy.act(state, here)
            won = jax.random.uniform(here, (), jnp.float32) < p[duel.left, duel.right]
            told = jnp.where(won, 1, -1).astype(jnp.int32) if delay is None else jnp.int32(0)
            before, state = state, policy.update(state, duel, told, here)
            lists = same(_without_lists(before), _without_lists(state))
            if delay is not None:
                pending = Feedback(
                    pending.left_wins.at[duel.left, duel.right].add(won),
                    pending.right_wins.at[duel.left, duel.right].add(~won),
                )
                state, pending = lax.cond(
                    (t + 1) % delay == 0,
                    lambda s, f: (policy.learn(s, f), nothing),
                    lambda s, f: (s, f),
                    state,
                    pending,
                )
            itself = duel.left == duel.right
            right = announced & ((quiet.n == 0) | (itself & (duel.left == quiet.arm)))
            news = delay is not None and (t + 1) % delay == 0
            left = jnp.where(news, 0, quiet.n)
            return (state, pending, later, left, quiet.arm), (quiet.n, right, itself & lists)

        begin = policy.init(key)
        carry = begin, nothing, begin, jnp.int32(0), jnp.int32(0)
        carry, seen = lax.scan(step, carry, jnp.arange(WALK, dtype=jnp.int32))
        return carry[0], seen

    return jax.vmap(run)(preferences, keys)


def check_walk(policy, preferences, *, delay=None):
    """Every run must be the one that the walk then takes, and as long as it can be.

    Returns:
      The states of LANES lanes after WALK comparisons; the lengths of the runs, (LANES, WALK).
    """
    keys = jax.random.split(jax.random.key(3), LANES)
    states, (n, right, itself) = _walk(
        policy, each_of(preferences, LANES), keys, delay=delay, policy_class=type(policy)
    )
    assert np.all(right)
    assert not np.any(itself & (n == 0))
    return states, np.asarray(n)


def check_walks(name):
    """`check_walk` on instances of the catalogue, a fifth of which must be quiet, and at random."""
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


def check_two_arms(name):
    """`check_walk` of two arms, without others that do not exist."""
    p = random_preferences(2, LANES, seed=1)
    _, n = check_walk(make(name, 2, 2), p)
    assert np.mean(n > 0) > 0.3


def check_delayed(name, **values):
    """`check_walk` with outcomes that are told every 60 comparisons."""
    for k, best in ((5, 1), (3, 2), (2, 0)):
        p = padded(steep(k, best))
        _, n = check_walk(make(name, k, **values), p, delay=60)
        assert np.mean(n > 0) > 0.1


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


def check_all_plays(name):
    """Plays on the catalogue and on instances made by hypothesis."""
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
    """True where a run of 10 comparisons comes next: (LANES,) bool."""
    return jax.vmap(lambda state: policy.quiet(state, jnp.int32(10), None)[1].n == 10)(states)


def far(name, change):
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
