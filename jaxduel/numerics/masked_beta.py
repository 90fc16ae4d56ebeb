"""Draws of logit(theta) for the marked entries of an array: given theta > 1/2, or of laws whose
parameters are no integers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import jax.numpy as jnp
from jax import Array

from jaxduel.numerics.beta import propose_logit
from jaxduel.numerics.beta_hat import counts_of, hat_of, is_accepted, mode_of, weigh
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


def tilted_logits(
    seed: KeyWords, stream: int, marked: Array, wins: Array, losses: Array, tilt: Array
) -> Array:
    """y = logit(theta), theta ~ Beta(wins + 1 + tilt, losses + 1 - tilt), where marked.

    Args:
      seed: the step's seed; () each.
      stream: of the random words; this function uses all from `stream` on.
      marked: (..., N) bool, the entries to draw.
      wins: (..., N) int32, counts, at least 0.
      losses: (..., N) int32.
      tilt: (..., N) float32, from -wins to losses.

    Returns:
      (..., N) float32, minus infinity where not marked.
    """
    nothing = jnp.full(marked.shape, -jnp.inf, jnp.float32)
    return draw_marked(_propose_tilted, stream, seed, marked, nothing, wins, losses, tilt)


def _propose_tilted(words: Array, wins: Array, losses: Array, tilt: Array) -> tuple[Array, Array]:
    """A proposal of `tilted_logits`, and whether it is accepted."""
    a, b, difference = counts_of(wins + 1, losses + 1)
    a, b, difference = a + tilt, b - tilt, difference + 2.0 * tilt
    distance, weight = weigh(words[0], hat_of(a, b, jnp.zeros_like(a)))
    return mode_of(a, b, difference) + distance, is_accepted(words[1], weight)


@cache
def _proposing(reading: Reading) -> Proposing:
    """`propose_logit`, read."""

    def propose(words: Array, wins: Array, losses: Array) -> tuple[Array, Array]:
        y, accepted = propose_logit(words, wins + 1, losses + 1)
        return reading(y), accepted

    return propose
