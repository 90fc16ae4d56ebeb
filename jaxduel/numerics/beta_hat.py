"""Hats above the density of logit(theta), theta from Beta(a, b), in float32.

The density of y = logit(theta) is log-concave. With n = a + b, p = a / n, q = b / n and t the
distance of y from its mode log(a / b), the logarithm is, relative to the mode,

    h(t) = -n log1p(p f(q t) + q f(-p t)),     f(x) = exp(x) - 1 - x,

which does not cancel, however large the counts. It lies below a hat that is level around the mode
and exponential on both sides. The tangent of slope -s, for any s < b, is s (c - t) with

    s c = a g(s / a) + b g(-s / b),     g(u) = (1 + u) log(1 + u) - u <= u^2 (3 + u) / (6 + 4 u)

(u (6 + u) / (6 + 4 u) - log(1 + u) is 0 at u = 0, with slope 4 u^3 / ((6 + 4 u)^2 (1 + u)), hence
never negative). The bound, in place of g, gives a hat without a logarithm. With s such that the
tangent is about one e-fold below the mode, the best choice, 87 % or more of the proposals are
accepted, whatever a and b.

Conditioned on theta > 1/2, y > 0, the hat is cut at 0. If a < b, the density falls from there on:
then the reference is y = 0 and p = q = 1/2, and h(t) has one more term, -(b - a) t / 2.

Source: L. Devroye, "Non-uniform random variate generation" (1986), VII.2, for hats of log-concave
densities.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

_DEPTH = 40.0  # e-folds at which the hat's left piece may be cut: a grain of 2^-32 is 22 e-folds
_EXP_SERIES = tuple(1.0 / math.factorial(k) for k in range(2, 12))
"""Coefficients of (exp(x) - 1 - x) / x^2; up to |x| = 1 the omitted terms are below 1e-8 of the
sum."""


class Hat(NamedTuple):
    """A density relative to its value at a reference point, and the hat above it; float32 each."""

    a: Array  # counts whose mode is the reference
    b: Array
    fall: Array  # -h' at the reference, at least 0
    right: Array  # distance to the right at which the level piece ends
    right_slope: Array
    left: Array
    left_slope: Array


def counts_of(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, Array]:
    """a, b and a - b as float32; integers are subtracted before they are rounded."""
    a, b = jnp.asarray(a), jnp.asarray(b)
    if jnp.issubdtype(a.dtype, jnp.integer) and jnp.issubdtype(b.dtype, jnp.integer):
        difference = (a.astype(jnp.int32) - b.astype(jnp.int32)).astype(jnp.float32)
        return a.astype(jnp.float32), b.astype(jnp.float32), difference
    a, b = a.astype(jnp.float32), b.astype(jnp.float32)
    return a, b, a - b


def is_accepted(word: Array, weight: Array) -> Array:
    """True where a uniform number is at most the weight, or the weight is NaN, to end loops."""
    return ~(uniform_of(word) > weight)


def odds_of(a: Array, b: Array, difference: Array) -> tuple[Array, Array]:
    """(log(a / b), 1) where a and b are close, which is more accurate there, else (0, a / b)."""
    near = jnp.abs(difference) <= 0.5 * b
    return jnp.log1p(jnp.where(near, difference, 0.0) / b), jnp.where(near, 1.0, a / b)


def mode_of(a: Array, b: Array, difference: Array) -> Array:
    """log(a / b)."""
    close, odds = odds_of(a, b, difference)
    return close + jnp.log(odds)


def uniform_of(word: Array) -> Array:
    """A uniform number in (0, 1], float32, of full relative precision near 0."""
    return (word.astype(jnp.float32) + 0.5) * jnp.float32(2.0**-32)


def _log(x: Array) -> Array:
    """log x for x in (0, 1]. XLA's log rounds differently in the last elements of odd shapes."""
    return -jnp.log1p((1.0 - x) / x)


def reference_of(a: Array, b: Array, difference: Array) -> tuple[Hat, Array]:
    """The hat for y > 0, and the y of its reference: the mode, or 0 if the mode is below 0."""
    half = 0.5 * (a + b)
    fall = 0.5 * jnp.maximum(-difference, 0.0)
    mode = jnp.log1p(jnp.maximum(difference, 0.0) / b)
    return hat_of(jnp.maximum(a, half), jnp.minimum(b, half), fall), mode


def hat_of(a: Array, b: Array, fall: Array) -> Hat:
    """The hat for the density with mode log(a / b), times exp(-fall t)."""
    variance = a * b / (a + b)
    step = 2.0 * variance / (fall + jnp.sqrt(fall * fall + 2.0 * variance))
    up = step * b / (b + (0.25 + 0.23 * (a - b) / (a + b)) * step)
    down = step * a / (a + (0.25 + 0.23 * (b - a) / (a + b)) * step)
    slope = up + fall
    right = (_divergence(up / a) * a + _divergence(-up / b) * b) / slope
    left = (_divergence(-down / a) * a + _divergence(down / b) * b) / down
    return Hat(a, b, fall, right, slope, left, down)


def _divergence(u: Array) -> Array:
    """An upper bound of (1 + u) log(1 + u) - u for u > -1, exact to third order."""
    return u * u * (3.0 + u) / (6.0 + 4.0 * u)


def log_ratio(hat: Hat, t: Array) -> Array:
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


def weigh(word: Array, hat: Hat) -> tuple[Array, Array]:
    """A draw t from the hat and the probability to accept it."""
    left_mass, right_mass = 1.0 / hat.left_slope, 1.0 / hat.right_slope
    total = left_mass + hat.left + hat.right + right_mass
    from_left, from_right = uniform_of(word) * total, uniform_of(~word) * total
    on_right, on_left = from_right < right_mass, from_left < left_mass
    height = jnp.where(on_left, from_left * hat.left_slope, 1.0)
    height = jnp.where(on_right, from_right * hat.right_slope, height)
    decay = _log(height)
    t = jnp.where(
        on_right,
        hat.right - decay * right_mass,
        jnp.where(on_left, decay * left_mass, from_left - left_mass) - hat.left,
    )
    return t, jnp.exp(log_ratio(hat, t)) / height


def weigh_above_half(word: Array, hat: Hat, mode: Array) -> tuple[Array, Array]:
    """A draw y > 0 from the hat around `mode` (or 0), cut at y = 0; the probability to accept it.

    A y near 0 keeps its relative precision: the level piece and the left piece are entered at their
    lower ends.
    """
    reach = jnp.maximum(mode - hat.left, 0.0)  # where the level piece starts
    span = jnp.minimum(reach, _DEPTH / hat.left_slope)  # of the left piece, from `base` on
    base, level = reach - span, jnp.minimum(mode, hat.left)
    lowest = jnp.exp(-hat.left_slope * span)
    left_mass, right_mass = (1.0 - lowest) / hat.left_slope, 1.0 / hat.right_slope
    total = left_mass + level + hat.right + right_mass
    from_left, from_right = uniform_of(word) * total, uniform_of(~word) * total
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
    return y, jnp.exp(log_ratio(hat, t)) / height
