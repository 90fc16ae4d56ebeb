"""Runs of Sparring and MultiSBM with given outcomes: for tests."""

import jax
import jax.numpy as jnp

KEY = jax.random.key(0)


@jax.jit
def step(policy, state, outcome):
    duel = policy.act(state, KEY)
    return policy.update(state, duel, outcome, KEY), duel


def play(policy, outcomes):
    state, duels = policy.init(KEY), []
    for outcome in outcomes:
        state, duel = step(policy, state, jnp.int32(outcome))
        duels.append((int(duel.left), int(duel.right)))
    return duels, state
