"""Random short histories of a policy, made without the simulator: for the oracles to judge."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import jaxduel as jd

MOST = 5
"""Arms that exist or not: policies of fewer share the programs of these."""


def padded_policy(name, num_arms, **fields):
    """A policy of MOST arms, of which `num_arms` exist."""
    return jd.policies.make(name, num_arms=MOST, active_arms=np.arange(MOST) < num_arms, **fields)


def random_preferences(num_arms, num, seed):
    """`num` random preference matrices: half of them steep, some entries 0, 1/2 and 1."""
    rng = np.random.default_rng(seed)
    p = rng.choice([0.0, 0.1, 0.3, 0.45, 0.5, 0.55, 0.8, 1.0], size=(num, num_arms, num_arms))
    p = np.where(rng.random(p.shape) < 0.5, p, rng.random(p.shape))
    lower = np.tril(np.ones((num_arms, num_arms), bool), -1)
    p = np.where(lower, 1 - p.swapaxes(-1, -2), p)
    p[:, np.arange(num_arms), np.arange(num_arms)] = 0.5
    return p.astype(np.float32)


def duel_histories(policy, preferences, keys, steps):
    """Pairs and outcomes of (num,) runs: left, right, left_wins, each (num, steps)."""
    return _duels(policy, preferences, keys, steps, type(policy))


@partial(jax.jit, static_argnames=("steps", "policy_class"))
def _duels(policy, preferences, keys, steps, policy_class):
    """Compiled once per class: see `jaxduel.simulation.cells.Program`."""

    def run(p, key):
        def step(state, t):
            here = jax.random.fold_in(key, t)
            duel = policy.act(state, here)
            u = jax.random.uniform(jax.random.fold_in(here, 99), (), jnp.float32)
            won = u < p[duel.left, duel.right]
            state = policy.update(state, duel, jnp.where(won, 1, -1).astype(jnp.int32), here)
            return state, (duel.left, duel.right, won)

        return jax.lax.scan(step, policy.init(key), jnp.arange(steps))[1]

    return jax.vmap(run)(preferences, keys)


def padded_preferences(num_arms, num, padding):
    """`random_preferences` of `num_arms` arms, and `padding` arms that do not exist."""
    preferences = random_preferences(num_arms, num, seed=num_arms)
    around = ((0, 0), (0, padding), (0, padding))
    return np.pad(preferences, around, constant_values=np.float32(0.5))


def random_histories(policy, num, steps):
    """`num` runs of `duel_histories` on random preferences, and their keys.

    Programs are shared by policies of equal shapes: those of fewer arms are padded to the most.
    """
    num_arms = int(np.sum(policy.active_arms))
    preferences = padded_preferences(num_arms, num, policy.num_arms - num_arms)
    keys = jax.random.split(jax.random.key(num_arms), num)
    return tuple(map(np.asarray, duel_histories(policy, preferences, keys, steps))), keys


def judged(oracle_of, histories):
    """The oracles of all runs after these: at each step the pair has to be one that they allow.

    Args:
      oracle_of: makes the oracle of a run from its number.
      histories: left, right, left_wins, each (num, steps).
    """
    oracles = []
    for run, played in enumerate(zip(*histories, strict=True)):
        oracle = oracle_of(run)
        for t, (left, right, won) in enumerate(zip(*(x.tolist() for x in played), strict=True)):
            allowed = oracle.allowed()
            if (left, right) not in allowed:
                raise AssertionError(f"run {run}, step {t + 1}: {left, right} not in {allowed}")
            oracle.play(left, right, won)
        oracles.append(oracle)
    return oracles


KEY = jax.random.key(0)


@jax.jit
def update(policy, state, outcome):
    """The state after one comparison, of a policy that draws nothing."""
    return policy.update(state, policy.act(state, KEY), outcome, KEY)


def played(policy, outcome_of, steps):
    """The duels of a run whose outcomes are `outcome_of(left, right)`, and its last state."""
    state, duels = policy.init(KEY), []
    for _ in range(steps):
        duels.append(tuple(int(arm) for arm in policy.act(state, KEY)))
        state = update(policy, state, jnp.int32(outcome_of(*duels[-1])))
    return duels, state


def batch_histories(policy, preferences, keys, rounds):
    """First states, counts and wins of (num,) runs, each (num, rounds, K, K), and last states."""
    return _batches(policy, preferences, keys, rounds, type(policy))


@partial(jax.jit, static_argnames=("rounds", "policy_class"))
def _batches(policy, preferences, keys, rounds, policy_class):
    """Compiled once per class: see `jaxduel.simulation.cells.Program`."""

    def run(p, key):
        def play(state, r):
            here = jax.random.fold_in(key, r)
            plan = policy.act(state, here)
            n = plan.counts
            draw = jax.random.fold_in(here, 99)
            won = jnp.round(jax.random.binomial(draw, n.astype(jnp.float32), p)).astype(jnp.int32)
            won = jnp.triu(won, 1)
            wins = won + jnp.triu(n - won, 1).T
            return policy.update(state, plan, wins, here), (n, wins)

        first = policy.init(key)
        last, played = jax.lax.scan(play, first, jnp.arange(rounds))
        return first, played, last

    return jax.vmap(run)(preferences, keys)
