"""Random histories with the policy's answer after each comparison, and ties where it hears them."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.base import TIED
from tests.policies.histories import padded_policy, random_preferences


def answers(name, num_arms, num, steps, tied=0.0, **fields):
    """Runs of a policy on random preferences, a share of comparisons tied.

    Returns:
      left, right, outcome (1, -1 or `TIED`), answer, each (num, steps).
    """
    policy = padded_policy(name, num_arms, **fields)
    p = random_preferences(num_arms, num, seed=num_arms)
    keys = jax.random.split(jax.random.key(num_arms), num)
    played = _answers(policy, p, keys, jnp.float32(tied), steps, type(policy))
    return tuple(map(np.asarray, played))


@partial(jax.jit, static_argnames=("steps", "policy_class"))
def _answers(policy, preferences, keys, tied, steps, policy_class):

    def run(p, key):
        def step(state, t):
            here = jax.random.fold_in(key, t)
            duel = policy.act(state, here)
            luck, tie = jax.random.uniform(jax.random.fold_in(here, 99), (2,), jnp.float32)
            outcome = jnp.where(luck < p[duel.left, duel.right], 1, -1)
            outcome = jnp.where((tie < tied) & (duel.left != duel.right), TIED, outcome)
            state = policy.update(state, duel, outcome.astype(jnp.int32), here)
            return state, (duel.left, duel.right, outcome, policy.answer(state))

        return jax.lax.scan(step, policy.init(key), jnp.arange(steps))[1]

    return jax.vmap(run)(preferences, keys)
