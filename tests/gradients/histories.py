"""Expected regret as a function of p, exactly: all histories of outcomes between two arms."""

import jax
import jax.numpy as jnp
import numpy as np


def expected_regret(policy, horizon):
    """E[R] on two arms, of which arm 0 wins with probability p above 1/2, of a policy that draws
    nothing, by the "average" definition, arms not shuffled: a function of p, in float64.

    Every one of the 2^T sequences of outcomes is played; its probability is a polynomial in p.
    """
    bits = (np.arange(2**horizon)[:, None] >> np.arange(horizon)) & 1
    outcomes = jnp.asarray(2 * bits - 1, jnp.int32)

    def play(outcomes):
        def step(state, outcome):
            key = jax.random.key(0)
            plan = policy.act(state, key)
            return policy.update(state, plan, outcome, key), (plan, outcome)

        _, (plans, outcomes) = jax.lax.scan(step, policy.init(jax.random.key(0)), outcomes)
        other = plans.left != plans.right
        best_won = other & ((outcomes > 0) == (plans.left == 0))
        plays_of_1 = jnp.sum(plans.left, dtype=jnp.int32) + jnp.sum(plans.right, dtype=jnp.int32)
        counts = jnp.sum(other, dtype=jnp.int32), jnp.sum(best_won, dtype=jnp.int32)
        return *counts, plays_of_1

    n, won, plays = (np.asarray(x, np.float64) for x in jax.jit(jax.vmap(play))(outcomes))

    def of(p):
        chance = p**won * (1 - p) ** (n - won) * 0.5 ** (horizon - n)
        return jnp.sum(chance * plays) * (p - 0.5) / 2

    return of
