"""Runs of BaSE, successive elimination and explore-then-commit: for tests."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.policies.arms.base import BaSE

KEY = jax.random.key(0)
LARGEST = 2**31 - 1


def make(cls=BaSE, num_arms=3, horizon=50_000, padding=0, **fields):
    active = np.arange(num_arms + padding) < num_arms
    return cls(num_arms=num_arms + padding, active_arms=active, horizon=np.int32(horizon), **fields)


@partial(jax.jit, static_argnames="rounds")
def rounds_of(policy, means, noise, *, rounds):
    """Rounds of a run whose arms reward n mu + noise sqrt(n) z: counts (R, K), arms left (R, K)."""

    def play(state, key):
        plan = policy.act(state, key)
        n = plan.counts.astype(jnp.float32)
        z = jax.random.normal(key, n.shape, jnp.float32)
        state = policy.update(state, plan, n * means + noise * jnp.sqrt(n) * z, key)
        return state, (plan.counts, state.arms)

    return lax.scan(play, policy.init(KEY), jax.random.split(KEY, rounds))[1]


def counts_of(policy, means=None, rounds=13):
    """The counts of rounds whose rewards are the arms' means (all 0 unless given), without noise.

    Rounds without a pull, after the end, are left out. Policies of a class with as many arms, the
    same kind of grid and the same switches share a program.
    """
    means = np.zeros(policy.num_arms) if means is None else np.asarray(means)
    counts, _ = rounds_of(policy, means.astype(np.float32), np.float32(0), rounds=rounds)
    return [row.tolist() for row in np.asarray(counts) if row.any()]
