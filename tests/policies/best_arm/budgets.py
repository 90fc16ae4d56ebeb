"""Runs with a budget, played without the simulator: arms named in the end, for tests."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.registry import to_32_bits


def make(policy_class, num_arms, horizon, padding=0, **fields):
    """A policy of 32 bits; arms of padding come after the active ones."""
    active = np.arange(num_arms + padding) < num_arms
    policy = policy_class(
        num_arms=num_arms + padding, active_arms=active, horizon=horizon, **fields
    )
    policy.validate()
    return to_32_bits(policy)


@partial(jax.jit, static_argnames=("rounds", "rewards"))
def runs(policy, means, keys, *, rounds, rewards="gaussian"):
    """Counts of all rounds, (N, R, K), and answers after them, (N, R), one run for each key.

    Args:
      policy: names an arm with a budget.
      means: (K,) of rewards that are normal with a standard deviation of 1, or are 0 or 1.
      keys: (N,).
      rounds: R.
      rewards: "gaussian", "bernoulli" or "none": each reward is its arm's mean.
    """

    def sums(key, counts):
        n = counts.astype(jnp.float32)
        if rewards == "bernoulli":
            return jax.random.binomial(key, n, means, dtype=jnp.float32)
        noise = jnp.sqrt(n) * jax.random.normal(key, n.shape, jnp.float32)
        return n * means + (noise if rewards == "gaussian" else 0)

    def run(key):
        def play(state, key):
            ours, theirs = jax.random.split(key)
            plan = policy.act(state, ours)
            state = policy.update(state, plan, sums(theirs, plan.counts), ours)
            return state, (plan.counts, policy.answer(state))

        start = policy.init(jax.random.fold_in(key, 1))
        return jax.lax.scan(play, start, jax.random.split(key, rounds))[1]

    return jax.vmap(run)(keys)


def rounds_of(policy, means, rounds=12):
    """Rounds of one run whose rewards are the arms' means, and the answers after them; means of
    padding may be left out."""
    values = np.zeros(policy.num_arms, np.float32)
    values[: len(means)] = means
    keys = jax.random.split(jax.random.key(0), 1)
    plans, answers = runs(policy, values, keys, rounds=rounds, rewards="none")
    made = np.asarray(plans[0]).any(axis=1)
    return np.asarray(plans[0])[made].tolist(), np.asarray(answers[0])[made].tolist()


def errors(policy, means, num=40_000, rewards="gaussian"):
    """Share of runs that name another arm than the first, in K rounds at most."""
    keys = jax.random.split(jax.random.key(0), num)
    values = jnp.asarray(means, jnp.float32)
    _, answers = runs(policy, values, keys, rounds=len(means), rewards=rewards)
    return float(np.mean(np.asarray(answers)[:, -1] != 0))


def require_share(found, truth, num=40_000, other=None):
    """A share of `num` runs is that of another program's `other` runs, or the true probability."""
    parts = 1 / num + (0 if other is None else 1 / other)
    assert abs(found - truth) <= 4 * np.sqrt(truth * (1 - truth) * parts)
