"""Mean rewards that are known at any time, of policies that pull one arm at a time."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import compensated


class Estimates(NamedTuple):
    """What is known of the arms: of each, or of one."""

    mean: jax.Array  # (K,) float32: of the arm's rewards; 0 if none is known
    width: jax.Array  # (K,) float32: 1 / sqrt(n); 0 if none is known
    pulls: jax.Array  # (K,) int32: n, the number of its rewards
    total: jax.Array  # (K,) float32: the sum of its rewards,
    carry: jax.Array  # (K,) float32: and what rounding left out (`jaxduel.numerics.compensated`)


def nothing_known(num_arms: int) -> Estimates:
    """The estimates before the first reward."""
    zeros = jnp.zeros(num_arms, jnp.float32)
    return Estimates(zeros, zeros, jnp.zeros(num_arms, jnp.int32), zeros, zeros)


def with_rewards(estimates: Estimates, pulls: jax.Array, totals: jax.Array) -> Estimates:
    """The estimates after so many more rewards of these sums, of each arm or of one."""
    n = estimates.pulls + pulls
    total, carry = compensated.add(estimates.total, estimates.carry, totals)
    number = jnp.maximum(n, 1).astype(jnp.float32)
    return Estimates(
        mean=compensated.value(total, carry) / number,
        width=jnp.where(n > 0, jnp.sqrt(1.0 / number), 0.0),
        pulls=n,
        total=total,
        carry=carry,
    )


def with_reward(
    estimates: Estimates, arm: jax.Array, reward: jax.Array, counts: jax.Array | bool = True
) -> Estimates:
    """The estimates after a pull of an arm, unless its reward is withheld, NaN, or does not
    count."""
    known = counts & ~jnp.isnan(reward)
    one = jax.tree.map(lambda x: x[arm], estimates)
    one = with_rewards(one, known.astype(jnp.int32), jnp.where(known, reward, 0.0))
    mode = "promise_in_bounds"
    return jax.tree.map(lambda x, new: x.at[arm].set(new, mode=mode), estimates, one)


def all_known(estimates: Estimates, active: jax.Array) -> jax.Array:
    """True if a reward of each active arm is known: () bool."""
    return jnp.all(~active | (estimates.pulls > 0))
