"""Rewards so far, spreading of pulls over arms, and the elimination test of batched bandits.

Shared by BaSE, successive elimination and explore-then-commit.

Paper: Gao, Han, Ren and Zhou, "Batched Multi-armed Bandits Problem" (NeurIPS 2019), Algorithm 1.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.compensated import add, value
from jaxduel.policies.base import PullBatch


class Rewards(NamedTuple):
    """Pulls and rewards of each arm since the start of one seed's run."""

    pulls: jax.Array  # (K,) int32
    total: jax.Array  # (K,) float32: sum of rewards, rounded; `carry` is the rest
    carry: jax.Array  # (K,) float32


def no_rewards(num_arms: int) -> Rewards:
    """The rewards before the first pull."""
    zeros = jnp.zeros(num_arms, jnp.float32)
    return Rewards(jnp.zeros(num_arms, jnp.int32), zeros, zeros)


def with_round(rewards: Rewards, plan: PullBatch, sums: jax.Array) -> Rewards:
    """The rewards after a round that gave the arms `sums`, (K,) float32 sums of rewards."""
    return Rewards(rewards.pulls + plan.counts, *add(rewards.total, rewards.carry, sums))


def pulls_made(rewards: Rewards) -> jax.Array:
    """Pulls of all arms: () int32."""
    return jnp.sum(rewards.pulls, dtype=jnp.int32)


def means_of(rewards: Rewards, arms: jax.Array) -> jax.Array:
    """Average rewards of the arms in a (K,) bool mask: (K,) float32, -inf for the others and for
    arms never pulled.
    """
    pulls = jnp.maximum(rewards.pulls, 1).astype(jnp.float32)
    means = value(rewards.total, rewards.carry) / pulls
    return jnp.where(arms & (rewards.pulls > 0), means, -jnp.inf)


def best_of(rewards: Rewards, arms: jax.Array) -> jax.Array:
    """The arm of the largest average reward among `arms`, on ties the lowest: (K,) bool.

    Where no arm was pulled it is the first of `arms`.
    """
    numbers = jnp.arange(arms.shape[0], dtype=jnp.int32)
    means = means_of(rewards, arms)
    level = arms & (means == jnp.max(means))
    return numbers == lax.argmax(level, 0, jnp.int32)


def spread(arms: jax.Array, amount: jax.Array) -> PullBatch:
    """A round that pulls some arms equally often; what does not divide goes to the lowest numbers.

    Args:
      arms: (K,) bool, the arms to pull; at least one.
      amount: () int32, the number of pulls.

    Returns:
      The counts; their sum is `amount`.
    """
    size = count_true(arms)
    each = amount // size
    rank = jnp.cumsum(arms, dtype=jnp.int32) - arms
    odd = rank < amount - each * size
    return PullBatch(jnp.where(arms, each + odd, 0))


def survivors(
    rewards: Rewards,
    arms: jax.Array,
    gamma: float | jax.Array,
    horizon: int | jax.Array,
    active_arms: jax.Array,
) -> jax.Array:
    """Line (b) of Algorithm 1: arm i goes if max_A Ybar - Ybar_i >= sqrt(gamma log(T K) / tau).

    tau is the number of pulls of an arm of A, the smallest if they differ. An arm of the largest
    average stays.

    Args:
      rewards: of the whole run so far.
      arms: (K,) bool, A.
      gamma: positive.
      horizon: T.
      active_arms: (K,) bool; K of the formula is their number.

    Returns:
      The arms of A that are left: (K,) bool.
    """
    size = count_true(active_arms).astype(jnp.float32)
    needed = jnp.float32(gamma) * (jnp.log(jnp.float32(horizon)) + jnp.log(size))
    tau = jnp.min(jnp.where(arms, rewards.pulls, jnp.iinfo(jnp.int32).max))
    width = jnp.sqrt(needed / jnp.maximum(tau, 1).astype(jnp.float32))
    means = means_of(rewards, arms)
    lead = jnp.max(means) - means
    return arms & ~((lead >= width) & (lead > 0) & (tau > 0))
