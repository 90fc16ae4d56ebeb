"""Walks of the RMED family that ask before every comparison for the quiet run: for tests."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import jaxduel as jd
from jaxduel.policies.base import Feedback

NUM, LANES, WALK = 9, 16, 1_000


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
    del policy_class
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
