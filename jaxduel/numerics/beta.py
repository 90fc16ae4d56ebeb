"""Draws of theta from Beta(a, b), also conditioned on theta > 1/2, exactly and in float32.

The density of y = logit(theta) is log-concave. With n = a + b, p = a / n, q = b / n and t the
distance of y from its mode log(a / b), the logarithm is, relative to the mode,

    h(t) = -n log1p(p f(q t) + q f(-p t)),     f(x) = exp(x) - 1 - x,

which does not cancel, however large the counts. It lies below a hat that is level around the mode
and exponential on both sides. The tangent of slope -s, for any s < b, is s (c - t) with

    s c = a g(s / a) + b g(-s / b),     g(u) = (1 + u) log(1 + u) - u <= u^2 (3 + u) / (6 + 4 u)

(u (6 + u) / (6 + 4 u) - log(1 + u) is 0 at u = 0, with slope 4 u^3 / ((6 + 4 u)^2 (1 + u)), hence
never negative). The bound, in place of g, gives a hat without a logarithm. With s such
that the tangent is about one e-fold below the mode, which is the best one, 87 % or more of the
proposals are accepted, whatever a and b.

Conditioned on theta > 1/2, y > 0, the hat is cut at 0. If a < b, the density falls from there on:
then the reference is y = 0 and p = q = 1/2, and h(t) has one more term, -(b - a) t / 2.

Source: L. Devroye, "Non-uniform random variate generation" (1986), VII.2, for hats of log-concave
densities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from jaxduel.numerics.memory import materialize
from jaxduel.numerics.threefry import bits, fold_in

_COLUMN = 8  # elements that share one retry per iteration
_DEPTH = 40.0  # e-folds at which the hat's left piece may be cut: a grain of 2^-32 is 22 e-folds


_EXP_SERIES = tuple(1.0 / math.factorial(k) for k in range(2, 12))
"""Coefficients of (exp(x) - 1 - x) / x^2; up to |x| = 1 the omitted terms are below 1e-8 of the
sum."""


class _Hat(NamedTuple):
    """A density relative to its value at a reference point, and the hat above it; float32 each."""

    a: Array  # counts whose mode is the reference
    b: Array
    fall: Array  # -h' at the reference, at least 0
    right: Array  # distance to the right at which the level piece ends
    right_slope: Array
    left: Array
    left_slope: Array


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
        distance, weight = _weigh(words[0], _hat(a, b, jnp.zeros_like(a)))
        return distance, _accepted(words[1], weight)

    a, b, difference = _counts(a, b)
    distance = _until_accepted(key, propose, a, b, difference)
    close, odds = _odds(a, b, difference)
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
    return _until_accepted(key, _propose_above_half, *_counts(a, b))


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
    a, b, difference = _counts(a, b)
    if above_half:
        return _propose_above_half(words, a, b, difference)
    distance, weight = _weigh(words[0], _hat(a, b, jnp.zeros_like(a)))
    close, odds = _odds(a, b, difference)
    return (close + jnp.log(odds)) + distance, _accepted(words[1], weight)


def _propose_above_half(words: Array, a: Array, b: Array, difference: Array) -> tuple[Array, Array]:
    """(y, accepted) for y > 0; a, b and their difference, float32."""
    y, weight = _weigh_above_half(words[0], *_reference(a, b, difference))
    return y, _accepted(words[1], weight)


def _until_accepted(
    key: Array,
    propose: Callable[[Array, Array, Array, Array], tuple[Array, Array]],
    a: Array,
    b: Array,
    difference: Array,
) -> Array:
    """Accepted values for each element, float32 of the shape that a and b broadcast to.

    Everything is proposed once, then each column of eight retries one unfinished element at a time.
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


def _counts(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, Array]:
    """a, b, a - b as float32; the difference is that of the integers where a, b are integers."""
    a, b = jnp.asarray(a), jnp.asarray(b)
    if jnp.issubdtype(a.dtype, jnp.integer) and jnp.issubdtype(b.dtype, jnp.integer):
        difference = (a.astype(jnp.int32) - b.astype(jnp.int32)).astype(jnp.float32)
        return a.astype(jnp.float32), b.astype(jnp.float32), difference
    a, b = a.astype(jnp.float32), b.astype(jnp.float32)
    return a, b, a - b


def _accepted(word: Array, weight: Array) -> Array:
    """True where a uniform number is at most the weight, or the weight is NaN, to end loops."""
    return ~(_uniform(word) > weight)


def _odds(a: Array, b: Array, difference: Array) -> tuple[Array, Array]:
    """(log(a / b), 1) where a and b are close, which is more accurate there, else (0, a / b)."""
    near = jnp.abs(difference) <= 0.5 * b
    return jnp.log1p(jnp.where(near, difference, 0.0) / b), jnp.where(near, 1.0, a / b)


def _uniform(word: Array) -> Array:
    """A uniform number in (0, 1], float32, of full relative precision near 0."""
    return (word.astype(jnp.float32) + 0.5) * jnp.float32(2.0**-32)


def _log(x: Array) -> Array:
    """log x for x in (0, 1]. XLA's log rounds differently in the last elements of odd shapes."""
    return -jnp.log1p((1.0 - x) / x)


def _reference(a: Array, b: Array, difference: Array) -> tuple[_Hat, Array]:
    """The hat for y > 0, and the y of its reference: the mode, or 0 if the mode is below 0."""
    half = 0.5 * (a + b)
    fall = 0.5 * jnp.maximum(-difference, 0.0)
    mode = jnp.log1p(jnp.maximum(difference, 0.0) / b)
    return _hat(jnp.maximum(a, half), jnp.minimum(b, half), fall), mode


def _hat(a: Array, b: Array, fall: Array) -> _Hat:
    """The hat for the density with mode log(a / b), times exp(-fall t)."""
    variance = a * b / (a + b)
    step = 2.0 * variance / (fall + jnp.sqrt(fall * fall + 2.0 * variance))
    up = step * b / (b + (0.25 + 0.23 * (a - b) / (a + b)) * step)
    down = step * a / (a + (0.25 + 0.23 * (b - a) / (a + b)) * step)
    slope = up + fall
    right = (_divergence(up / a) * a + _divergence(-up / b) * b) / slope
    left = (_divergence(-down / a) * a + _divergence(down / b) * b) / down
    return _Hat(a, b, fall, right, slope, left, down)


def _divergence(u: Array) -> Array:
    """An upper bound of (1 + u) log(1 + u) - u for u > -1, exact to third order."""
    return u * u * (3.0 + u) / (6.0 + 4.0 * u)


def _log_ratio(hat: _Hat, t: Array) -> Array:
    """log of the density at distance t from the reference, relative to the reference."""
    n = hat.a + hat.b
    p, q = hat.a / n, hat.b / n
    return -hat.fall * t - n * jnp.log1p(p * _exp_excess(q * t) + q * _exp_excess(-p * t))


def _exp_excess(x: Array) -> Array:
    """exp(x) - 1 - x."""
    near = jnp.full_like(x, _EXP_SERIES[-1])
    for coefficient in _EXP_SERIES[-2::-1]:
        near = near * x + coefficient
    return jnp.where(jnp.abs(x) < 1.0, near * (x * x), jnp.exp(x) - (1.0 + x))


def _weigh(word: Array, hat: _Hat) -> tuple[Array, Array]:
    """A draw t from the hat and the probability to accept it."""
    left_mass, right_mass = 1.0 / hat.left_slope, 1.0 / hat.right_slope
    total = left_mass + hat.left + hat.right + right_mass
    from_left, from_right = _uniform(word) * total, _uniform(~word) * total
    on_right, on_left = from_right < right_mass, from_left < left_mass
    height = jnp.where(on_left, from_left * hat.left_slope, 1.0)
    height = jnp.where(on_right, from_right * hat.right_slope, height)
    decay = _log(height)
    t = jnp.where(
        on_right,
        hat.right - decay * right_mass,
        jnp.where(on_left, decay * left_mass, from_left - left_mass) - hat.left,
    )
    return t, jnp.exp(_log_ratio(hat, t)) / height


def _weigh_above_half(word: Array, hat: _Hat, mode: Array) -> tuple[Array, Array]:
    """A draw y > 0 from the hat around `mode` (or 0), cut at y = 0; the probability to accept it.

    A y near 0 keeps its relative precision: it is measured from there, the level piece and the
    left one being entered at their lower end.
    """
    reach = jnp.maximum(mode - hat.left, 0.0)  # where the level piece starts
    span = jnp.minimum(reach, _DEPTH / hat.left_slope)  # of the left piece, from `base` on
    base, level = reach - span, jnp.minimum(mode, hat.left)
    lowest = jnp.exp(-hat.left_slope * span)
    left_mass, right_mass = (1.0 - lowest) / hat.left_slope, 1.0 / hat.right_slope
    total = left_mass + level + hat.right + right_mass
    from_left, from_right = _uniform(word) * total, _uniform(~word) * total
    on_right, on_left = from_right < right_mass, from_left < left_mass
    rise = jnp.where(on_left, from_left * hat.left_slope / lowest, 0.0)
    fall = jnp.where(on_right, from_right * hat.right_slope, 1.0)
    above_base = jnp.where(
        on_left, jnp.log1p(rise) / hat.left_slope, span + (from_left - left_mass)
    )
    t_right = hat.right - _log(fall) * right_mass
    t = jnp.where(on_right, t_right, above_base - (span + level))
    y = jnp.where(on_right, mode + t_right, base + above_base)
    height = jnp.where(on_left, lowest * (1.0 + rise), fall)
    return y, jnp.exp(_log_ratio(hat, t)) / height
