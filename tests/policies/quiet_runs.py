"""One run with and without its quiet comparisons, made without the simulator: for tests."""

from functools import partial
from typing import NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

QUIET, LUCK = 7, 99


class Plays(NamedTuple):
    """How often each arm was played, (K,) int32 each."""

    others: jax.Array  # against other arms
    selves: jax.Array  # against itself


def _step(policy, preferences, key, state, t):
    """Comparison t + 1: the state after it and the pair."""
    here = jax.random.fold_in(key, t + 1)
    duel = policy.act(state, here)
    u = jax.random.uniform(jax.random.fold_in(here, LUCK), (), jnp.float32)
    won = u < preferences[duel.left, duel.right]
    return policy.update(state, duel, jnp.where(won, 1, -1).astype(jnp.int32), here), duel


def _nothing(policy):
    none = jnp.zeros(policy.num_arms, jnp.int32)
    return Plays(none, none)


def _played(plays, duel):
    """The plays with those of one comparison."""
    once = jnp.zeros_like(plays.others).at[duel.left].add(1).at[duel.right].add(1)
    itself = duel.left == duel.right
    return Plays(
        plays.others + jnp.where(itself, 0, once), plays.selves + jnp.where(itself, once, 0)
    )


def compare(plays, skipped, times):
    """The plays must be the same, and all."""
    chex.assert_trees_all_equal(plays, skipped)
    total = np.sum(plays.others, axis=-1) + np.sum(plays.selves, axis=-1)
    assert (total == 2 * np.asarray(times)).all()


@partial(jax.jit, static_argnames="policy_class")
def plain(policy, preferences, keys, times, *, policy_class):
    """Plays at increasing times, (num, M, ...), of runs on (num, K, K) preferences, and the number
    of comparisons of different arms, (num,)."""

    def run(p, key):
        def until(carry, end):
            def one(t, carry):
                state, plays, informative = carry
                state, duel = _step(policy, p, key, state, t)
                return state, _played(plays, duel), informative + (duel.left != duel.right)

            begin, *inner = carry
            inner = lax.fori_loop(begin, end, one, tuple(inner))
            return (end, *inner), inner[1]

        first = jnp.int32(0), policy.init(key), _nothing(policy), jnp.int32(0)
        (_, _, _, informative), plays = lax.scan(until, first, times)
        return plays, informative

    return jax.vmap(run)(preferences, keys)


@partial(jax.jit, static_argnames="policy_class")
def skipping(policy, preferences, keys, times, *, policy_class):
    """The same with quiet runs skipped, and the number of comparisons that were simulated."""

    def run(p, key):
        def until(carry, end):
            def turn(carry):
                t, state, plays, steps = carry
                quiet_key = jax.random.fold_in(jax.random.fold_in(key, t), QUIET)
                state, quiet = policy.quiet(state, end - t, quiet_key)
                plays = plays._replace(selves=plays.selves.at[quiet.arm].add(2 * quiet.n))
                t = t + quiet.n

                def step(carry):
                    t, state, plays, steps = carry
                    state, duel = _step(policy, p, key, state, t)
                    return t + 1, state, _played(plays, duel), steps + 1

                return lax.cond(t < end, step, lambda x: x, (t, state, plays, steps))

            carry = lax.while_loop(lambda carry: carry[0] < end, turn, carry)
            return carry, carry[2]

        first = jnp.int32(0), policy.init(key), _nothing(policy), jnp.int32(0)
        (_, _, _, steps), plays = lax.scan(until, first, times)
        return plays, steps

    return jax.vmap(run)(preferences, keys)
