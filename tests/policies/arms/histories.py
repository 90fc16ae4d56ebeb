"""Random histories of policies for arms with rewards, made without the simulator, for oracles."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.policies.base import RewardFeedback


class Arms(NamedTuple):
    """Instances, one per history."""

    means: np.ndarray  # (num, K) float32
    std: np.ndarray  # (num, K) float32
    grain: np.ndarray  # (num,) float32; rewards are multiples of it, 0: real numbers


def random_arms(num_arms, num, seed, grain=0.0):
    """`num` random instances: close and far means, some of them equal, far from 0 in a few."""
    rng = np.random.default_rng(seed)
    spread = rng.choice([0.0, 0.1, 0.5, 2.0], size=(num, 1))
    means = spread * rng.standard_normal((num, num_arms))
    means = np.where(rng.random(means.shape) < 0.2, means[:, :1], means)
    means += rng.choice([0.0, 0.0, 0.0, 5.0, -5.0], size=(num, 1))
    std = rng.choice([0.1, 1.0, 1.0, 3.0], size=(num, 1)) * rng.choice([1.0, 0.5], means.shape)
    grain = np.full(num, grain, np.float32)
    return Arms(means.astype(np.float32), std.astype(np.float32), grain)


def stacked(policies):
    """Policies that differ in their leaves alone, as one with a leading axis."""

    def rows(*leaves):
        rows = np.stack([np.asarray(leaf) for leaf in leaves])
        return rows.astype({"f": np.float32, "i": np.int32, "b": bool}[rows.dtype.kind])

    return jax.tree.map(rows, *policies)


def pull_histories(policies, arms, keys, steps):
    """Arms and rewards of (num,) runs, each (num, steps).

    Args:
      policies: `stacked`, one per run.
      arms: `Arms`.
      keys: (num,), of the runs.
      steps: pulls of each run.
    """
    return jax.tree.map(np.asarray, _pulls(policies, arms, keys, steps))


def step_keys(key, steps):
    """(steps,) keys: what `act` and `update` are given at each step of the run of `key`."""
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, jnp.arange(steps))


@partial(jax.jit, static_argnames="steps")
def _pulls(policies, arms, keys, steps):
    def run(policy, here, key):
        def step(state, key):
            plan = policy.act(state, key)
            reward = _sums(here, jnp.ones_like(here.means), key)[plan.arm]
            return policy.update(state, plan, reward, key), (plan.arm, reward)

        return jax.lax.scan(step, policy.init(key), step_keys(key, steps))[1]

    return jax.vmap(run)(policies, arms, keys)


def late_pull_histories(policies, arms, keys, steps, delay):
    """As `pull_histories`, with rewards that are told after every `delay` pulls; `steps` is a
    multiple of it."""
    return jax.tree.map(np.asarray, _late_pulls(policies, arms, keys, steps, delay))


@partial(jax.jit, static_argnames=("steps", "delay"))
def _late_pulls(policies, arms, keys, steps, delay):
    def run(policy, here, key):
        def step(state, key):
            plan = policy.act(state, key)
            reward = _sums(here, jnp.ones_like(here.means), key)[plan.arm]
            withheld = jnp.float32(jnp.nan)
            return policy.update(state, plan, withheld, key), (plan.arm, reward)

        def block(state, keys):
            state, (pulled, rewards) = jax.lax.scan(step, state, keys)
            each = jax.nn.one_hot(pulled, len(here.means), dtype=jnp.float32)
            counts = each.sum(axis=0).astype(jnp.int32)
            told = RewardFeedback(counts, (each * rewards[:, None]).sum(axis=0))
            return policy.learn(state, told), (pulled, rewards)

        blocks = step_keys(key, steps).reshape(-1, delay)
        played = jax.lax.scan(block, policy.init(key), blocks)[1]
        return jax.tree.map(lambda x: x.reshape(-1), played)

    return jax.vmap(run)(policies, arms, keys)


def judge_late(oracle, pulled, rewards, delay, plan_of=int, allowed_at=None):
    """Every pull of a run is one that the oracle allows, which is told as late as the policy.

    Args:
      oracle: of the run.
      pulled, rewards: (steps,), of the run.
      delay: as for `late_pull_histories`.
      plan_of: the oracle's plan for an arm.
      allowed_at: the plans allowed at a step, from 0; those of `Oracle.allowed` if None.
    """
    for t, arm in enumerate(pulled):
        allowed = oracle.allowed() if allowed_at is None else allowed_at(t)
        assert plan_of(arm) in allowed, f"pull {t + 1}: {arm} not in {allowed}"
        oracle.withhold(plan_of(arm))
        if (t + 1) % delay == 0:
            told = slice(t + 1 - delay, t + 1)
            counts = np.bincount(pulled[told], minlength=oracle.K)
            totals = np.bincount(pulled[told], rewards[told].astype(float), oracle.K)
            oracle.tell(counts.tolist(), totals.tolist())


def pull_batch_histories(policies, arms, keys, rounds):
    """Counts and sums of rewards of (num,) runs, each (num, rounds, K).

    Args:
      policies: `stacked`, one per run.
      arms: `Arms`.
      keys: (num,), of the runs.
      rounds: rounds of each run; those after the last pull are all zeros.
    """
    return jax.tree.map(np.asarray, _batches(policies, arms, keys, rounds))


@partial(jax.jit, static_argnames="rounds")
def _batches(policies, arms, keys, rounds):
    def run(policy, here, key):
        def play(state, key):
            plan = policy.act(state, key)
            sums = _sums(here, plan.counts.astype(jnp.float32), key)
            return policy.update(state, plan, sums, key), (plan.counts, sums)

        return jax.lax.scan(play, policy.init(key), step_keys(key, rounds))[1]

    return jax.vmap(run)(policies, arms, keys)


def _sums(arms, n, key):
    """(K,) sums of n rewards of each arm: n mean + sqrt(n) std z, in multiples of the grain."""
    z = jax.random.normal(jax.random.fold_in(key, 99), n.shape, jnp.float32)
    sums = n * arms.means + jnp.sqrt(n) * arms.std * z
    whole = jnp.round(sums / jnp.where(arms.grain > 0, arms.grain, 1)) * arms.grain
    return jnp.where(arms.grain > 0, whole, sums)
