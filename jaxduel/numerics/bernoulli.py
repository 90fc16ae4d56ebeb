"""Evidence in Bernoulli counts: the divergence of an empirical mean from a fair coin."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp


def evidence_against_half(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """n d(w / n, 1/2) of w wins and l losses, n = w + l, d the Bernoulli Kullback-Leibler
    divergence.

    In terms of x = (w - l) / n it is n (2 x artanh(x) + log(1 - x^2)) / 2, whose two terms are of
    the same order and do not cancel: the relative error stays at a few float32 roundings, however
    close the counts are and up to n = 2^31 - 1, where w log(2 w / n) + l log(2 l / n) loses
    everything.

    Args:
      wins: counts, any integer dtype.
      losses: counts of a shape that broadcasts with `wins`.

    Returns:
      float32 of the broadcast shape, in nats; 0 where there are no counts, n log 2 where one is 0.
    """
    n = (wins + losses).astype(jnp.float32)
    x = (wins - losses).astype(jnp.float32) / jnp.maximum(n, 1.0)
    inside = jnp.abs(x) < 1.0
    y = jnp.where(inside, x, 0.0)
    up, down = jnp.log1p(y), jnp.log1p(-y)
    divergence = 0.5 * (y * (up - down) + jnp.log1p(-y * y))
    return n * jnp.where(inside, divergence, jnp.float32(math.log(2.0)))
