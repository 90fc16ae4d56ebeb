"""Draws of logit(theta) given theta > 1/2, for the few marked entries of an array."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import jax.numpy as jnp
from jax import Array

from jaxduel.numerics.beta import propose_logit
from jaxduel.numerics.marked import Proposing, draw_marked
from jaxduel.numerics.threefry import KeyWords

Reading = Callable[[Array], Array]


def logits_above_half(
    seed: KeyWords,
    stream: int,
    marked: Array,
    wins: Array,
    losses: Array,
    reading: Reading = lambda y: y,
) -> Array:
    """y = logit(theta) > 0, theta ~ Beta(wins + 1, losses + 1) given theta > 1/2, where marked.

    Args:
      seed: the step's seed; () each.
      stream: of the random words; this function uses all from `stream` on.
      marked: (..., N) bool, the entries to draw.
      wins: (..., N) int32, counts, at least 0.
      losses: (..., N) int32.
      reading: an elementwise function of y, to return instead of y.

    Returns:
      (..., N) float32, 0 where not marked.
    """
    nothing = jnp.zeros(marked.shape, jnp.float32)
    return draw_marked(_proposing(reading), stream, seed, marked, nothing, wins, losses)


@cache
def _proposing(reading: Reading) -> Proposing:
    """`propose_logit`, read."""

    def propose(words: Array, wins: Array, losses: Array) -> tuple[Array, Array]:
        y, accepted = propose_logit(words, wins + 1, losses + 1)
        return reading(y), accepted

    return propose
