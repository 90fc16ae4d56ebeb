"""Runs of RMED2 and RMED2FH: for tests."""

import jax
import jax.numpy as jnp
import numpy as np

from tests.policies.histories import duel_histories

KEY = jax.random.key(0)


def play(policy, outcomes):
    """Plays given outcomes (+1, -1, 0) and returns the last state and the duels."""

    def step(state, outcome):
        duel = policy.act(state, KEY)
        return policy.update(state, duel, outcome, KEY), jnp.stack(duel)

    return jax.lax.scan(step, policy.init(KEY), jnp.asarray(outcomes, jnp.int32))


def in_order(policy, steps):
    """The duels of a run in which the lower-numbered arm always wins."""
    preferences = jnp.triu(jnp.ones((policy.num_arms,) * 2)).at[0, 0].set(0.5)[None]
    left, right, _ = duel_histories(policy, preferences, KEY[None], steps)
    return np.stack([left[0], right[0]], axis=1)
