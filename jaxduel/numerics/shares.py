"""How often each member of a set is drawn in many independent uniform draws."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.binomial import binomial
from jaxduel.numerics.choice import set_size


def member_counts(key: jax.Array, n: jax.Array, members: jax.Array) -> jax.Array:
    """How often each member of a set is drawn in n uniform draws: the multinomial law.

    Member by member, a binomial share of the draws that are left, as exact as
    `jaxduel.numerics.binomial`. Under `jax.vmap` nothing is computed where every n is 0.

    Args:
      key: a scalar PRNG key.
      n: () int32, from 0 to 2^31 - 1.
      members: (K,) bool; if none is, nothing is counted.

    Returns:
      (K,) int32 that sum to n, zero where not a member.
    """
    arms = lax.iota(jnp.int32, members.shape[0])

    def share(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        counts, draws, left = carry
        arm = lax.argmax(left, 0, jnp.int32)
        chance = 1.0 / jnp.maximum(set_size(left), 1).astype(jnp.float32)
        number = binomial(jax.random.fold_in(key, arm), draws, chance)
        return jnp.where(arms == arm, number, counts), draws - number, left & (arms != arm)

    def goes_on(carry: tuple[jax.Array, ...]) -> jax.Array:
        _, draws, left = carry
        return (draws > 0) & jnp.any(left)

    return lax.while_loop(goes_on, share, (jnp.zeros_like(arms), n, members))[0]
