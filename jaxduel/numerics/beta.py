"""Draws of theta from Beta(a, b), also conditioned on theta > 1/2, exactly and in float32.

By rejection, from hats above the density of logit(theta) (`jaxduel.numerics.beta_hat`); also for
the few marked entries of an array (`jaxduel.numerics.marked`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from jaxduel.numerics.beta_hat import (
    counts_of,
    hat_of,
    is_accepted,
    mode_of,
    odds_of,
    reference_of,
    weigh,
    weigh_above_half,
)
from jaxduel.numerics.marked import Proposing, draw_marked
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.threefry import KeyWords, bits, fold_in

_COLUMN = 8  # elements that share one retry per iteration


@jax.jit
def beta(key: Array, a: ArrayLike, b: ArrayLike) -> Array:
    """Draws from Beta(a, b).

    Exact but for float32: acceptance by a ratio of densities to about 1e-6, uniforms of 32 bits.
    theta has a relative error of about 5e-7 however small it is, but near 1 only float32's grain of
    2^-24, and may round to 1 itself: draw from Beta(b, a) where 1 - theta matters. Draws are
    functions of key, shape, a and b: the same under jit, vmap and x64.

    Args:
      key: PRNG key of any implementation that draws bits, scalar.
      a: at least 1, up to 2^31 - 1, integer (then exact) or float32.
      b: the same, of a shape that broadcasts with `a`.

    Returns:
      theta, float32 of the broadcast shape; NaN where a or b is below 1 or NaN.

    Example:
      >>> import jax
      >>> from jaxduel.numerics import beta
      >>> theta = beta(jax.random.key(0), 3_000_000, 1_000_000)
      >>> round(float(theta), 2)  # the mean, a / (a + b), give or take 0.0002
      0.75
    """

    def propose(words: Array, a: Array, b: Array, _: Array) -> tuple[Array, Array]:
        distance, weight = weigh(words[0], hat_of(a, b, jnp.zeros_like(a)))
        return distance, is_accepted(words[1], weight)

    a, b, difference = counts_of(a, b)
    distance = _until_accepted(key, propose, a, b, difference)
    close, odds = odds_of(a, b, difference)
    return 1.0 / (1.0 + jnp.exp(-(close + distance)) / odds)


@jax.jit
def logit_above_half(key: Array, a: ArrayLike, b: ArrayLike) -> Array:
    """Draws of y = logit(theta) > 0, theta from Beta(a, b) conditioned on theta > 1/2.

    Args:
      key: PRNG key of any implementation that draws bits, scalar.
      a: at least 1, up to 2^31 - 1, integer (then exact) or float32.
      b: the same, of a shape that broadcasts with `a`.

    Returns:
      y, float32 of the broadcast shape, relatively accurate near 0; NaN where a or b is below 1 or
      NaN.

    Example:
      >>> import jax
      >>> from jaxduel.numerics import logit_above_half
      >>> y = logit_above_half(jax.random.key(0), 3_000_000, 1_000_000)
      >>> round(float(y), 1)  # log(a / b), give or take 0.001
      1.1
      >>> bool(logit_above_half(jax.random.key(0), 1, 1_000) > 0)  # theta > 1/2, however unlikely
      True
    """
    return _until_accepted(key, _propose_above_half, *counts_of(a, b))


def propose_logit(
    words: Array, a: ArrayLike, b: ArrayLike, above_half: bool = True
) -> tuple[Array, Array]:
    """One proposal of y = logit(theta), theta from Beta(a, b), conditioned on theta > 1/2 or not.

    Elementwise and without loops, for callers that retry in loops of their own. At least 87 % are
    accepted, whatever a and b.

    Args:
      words: random bits, uint32 (2, ...): the shape that `a` and `b` broadcast to, after the 2.
      a: at least 1, up to 2^31 - 1, integer (then exact) or float32.
      b: the same, of a shape that broadcasts with `a`.
      above_half: whether to condition; static.

    Returns:
      y, float32 of the broadcast shape, and whether it is accepted, bool. If conditioned, y > 0 is
      relatively accurate near 0; elsewhere its error is about 1e-7 max(1, |log(a / b)|), which for
      a + b above 1e8 can reach 1e-3 standard deviations.

    Example:
      >>> import jax
      >>> from jaxduel.numerics import propose_logit
      >>> words = jax.random.bits(jax.random.key(0), (2, 1_000))
      >>> y, accepted = propose_logit(words, 60, 40)
      >>> bool((y > 0).all()), bool(accepted.mean() > 0.85)
      (True, True)
    """
    a, b, difference = counts_of(a, b)
    if above_half:
        return _propose_above_half(words, a, b, difference)
    return propose_from(words, a, b, difference)


def propose_from(words: Array, a: Array, b: Array, difference: Array) -> tuple[Array, Array]:
    """Unconditioned `propose_logit` from float32 a, b and a - b; the difference may be more
    accurate than a and b."""
    distance, weight = weigh(words[0], hat_of(a, b, jnp.zeros_like(a)))
    return mode_of(a, b, difference) + distance, is_accepted(words[1], weight)


def _propose_above_half(words: Array, a: Array, b: Array, difference: Array) -> tuple[Array, Array]:
    """(y, accepted) for y > 0; a, b and their difference, float32."""
    y, weight = weigh_above_half(words[0], *reference_of(a, b, difference))
    return y, is_accepted(words[1], weight)


def _until_accepted(
    key: Array,
    propose: Callable[[Array, Array, Array, Array], tuple[Array, Array]],
    a: Array,
    b: Array,
    difference: Array,
) -> Array:
    """Accepted values for each element, float32 of the shape that a and b broadcast to.

    Every element is proposed once; then each column of eight retries one unfinished element at a
    time.
    """
    valid = (a >= 1.0) & (b >= 1.0)
    a, b, difference = (jnp.where(valid, x, jnp.nan) for x in (a, b, difference))
    shape, size = difference.shape, difference.size
    if size == 0:
        return jnp.zeros(shape, jnp.float32)
    rows = min(_COLUMN, size)
    parameters = [
        jnp.pad(
            jnp.broadcast_to(x, shape).ravel(), (0, -size % rows), constant_values=idle
        ).reshape(rows, -1)
        for x, idle in ((a, 1.0), (b, 1.0), (difference, 0.0))
    ]
    bit = lax.shift_left(jnp.int32(1), lax.iota(jnp.int32, rows))[:, None]

    def words(trial: Array, shape: tuple[int, ...]) -> Array:
        return bits(fold_in(key, trial), (2, *shape))

    def retry(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        trial, values, pending = carry
        lowest = pending & -pending  # the first unfinished row of each column, as a bit
        chosen = (jnp.where(pending == 0, 1, lowest) & bit) != 0
        here = [jnp.sum(jnp.where(chosen, x, 0.0), axis=0) for x in parameters]
        drawn = materialize(words(trial, pending.shape), trial < 0)
        value, accepted = propose(drawn, *here)
        values = jnp.where(chosen & accepted & (pending != 0), value, values)
        return trial + 1, values, jnp.where(accepted, pending ^ lowest, pending)

    values, accepted = propose(words(jnp.int32(0), (rows, parameters[0].shape[1])), *parameters)
    pending = jnp.sum(jnp.where(accepted, 0, bit), axis=0, dtype=jnp.int32)
    start = (jnp.ones((), jnp.int32), values, pending)
    values = lax.while_loop(lambda carry: jnp.any(carry[2] != 0), retry, start)[1]
    return values.ravel()[:size].reshape(shape)


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
      stream: the first stream of random words used; all later streams are used, too.
      marked: (..., N) bool, the entries to draw.
      wins: (..., N) int32, counts, at least 0.
      losses: (..., N) int32.
      reading: an elementwise function of y; its value is returned instead of y.

    Returns:
      (..., N) float32, 0 where not marked.
    """
    nothing = jnp.zeros(marked.shape, jnp.float32)
    return draw_marked(_proposing(reading), stream, seed, marked, nothing, wins, losses)


@cache
def _proposing(reading: Reading) -> Proposing:
    """`propose_logit`, with `reading` applied to y."""

    def propose(words: Array, wins: Array, losses: Array) -> tuple[Array, Array]:
        y, accepted = propose_logit(words, wins + 1, losses + 1)
        return reading(y), accepted

    return propose
