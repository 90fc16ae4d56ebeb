"""Means in place of those of arms without a known reward: above all others, so that such arms are
pulled before any other, and in turn where rewards are withheld."""

from __future__ import annotations

import jax
import jax.numpy as jnp

_FIRST, _GRAIN, _LAST = 2.0**127, 2.0**103, 2.0**100


def unseen(late: jax.Array) -> jax.Array:
    """The mean by the number of pulls whose rewards are withheld: it falls, down to a limit."""
    return jnp.maximum(_FIRST - late.astype(jnp.float32) * _GRAIN, _LAST)


def pulled_once_more(mean: jax.Array) -> jax.Array:
    """The mean of an arm after one more pull whose reward is withheld."""
    return jnp.maximum(mean - _GRAIN, _LAST)
