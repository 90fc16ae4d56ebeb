"""Mean rewards that are known at any time, of policies that pull one arm at a time.

States with the fields of `Estimates` beside others are taken in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import compensated


class Estimates(NamedTuple):
    """Known rewards of each arm, or of one."""

    mean: jax.Array  # (K,) float32: of the arm's rewards; what it began with if none is known
    width: jax.Array  # (K,) float32: 1 / sqrt(n); 0 if none is known
    pulls: jax.Array  # (K,) int32: n, the number of its rewards
    total: jax.Array  # (K,) float32: the sum of its rewards,
    carry: jax.Array  # (K,) float32: and what rounding left out (`jaxduel.numerics.compensated`)


def nothing_known(num_arms: int) -> Estimates:
    """The estimates before the first reward."""
    zeros = jnp.zeros(num_arms, jnp.float32)
    return Estimates(zeros, zeros, jnp.zeros(num_arms, jnp.int32), zeros, zeros)


def with_rewards(estimates: Any, pulls: jax.Array, totals: jax.Array) -> Any:
    """The estimates after so many more rewards of these sums, of each arm or of one."""
    n = estimates.pulls + pulls
    total, carry = compensated.add(estimates.total, estimates.carry, totals)
    seen, number = n > 0, jnp.maximum(n, 1).astype(jnp.float32)
    return estimates._replace(
        mean=jnp.where(seen, compensated.value(total, carry) / number, estimates.mean),
        width=jnp.where(seen, jnp.sqrt(1.0 / number), 0.0),
        pulls=n,
        total=total,
        carry=carry,
    )


def at_arm(state: Any, arm: jax.Array, change: Callable[[Any], Any]) -> Any:
    """Arrays over the arms, with the entries of one arm as a function of them."""
    changed = change(jax.tree.map(lambda x: x[arm], state))
    return jax.tree.map(lambda x, new: x.at[arm].set(new, mode="promise_in_bounds"), state, changed)


def with_reward(
    estimates: Estimates, arm: jax.Array, reward: jax.Array, counts: jax.Array | bool = True
) -> Estimates:
    """The estimates after a pull of an arm, unless its reward is withheld, NaN, or does not
    count."""
    known = counts & ~jnp.isnan(reward)
    more = known.astype(jnp.int32), jnp.where(known, reward, 0.0)
    return at_arm(estimates, arm, lambda one: with_rewards(one, *more))


def all_known(estimates: Estimates, active: jax.Array) -> jax.Array:
    """True if a reward of each active arm is known: () bool."""
    return jnp.all(~active | (estimates.pulls > 0))
