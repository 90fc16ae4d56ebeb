"""Bernoulli divergences, in one code for NumPy and for JAX, where they are differentiable."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_CLOSE = 0.1
_SERIES = tuple(1.0 / (2 * k + 1) for k in range(1, 9))
"""Coefficients of (artanh(w) - w) / w in powers of w^2; for |w| <= 0.1 the rest is below 1e-16."""


def namespace(array: Any) -> Any:
    """`jax.numpy` for arrays of JAX, traced or not; `numpy` for all others."""
    return jnp if isinstance(array, jax.Array) else np


def divergence_from_half(x: Any) -> Any:
    """d(p, 1/2) of p = (1 + x) / 2, the divergence from a fair coin, in nats.

    Close to 1/2 it is x artanh(x) + log(1 - x^2) / 2, whose terms do not cancel. The derivative,
    artanh(x), is infinite at p = 0 and 1, where JAX gives that of the next number inside. (Policies
    have a faster one in `jaxduel.numerics`, for JAX alone and accurate to float32 only.)

    Args:
      x: floats in [-1, 1], any shape; NumPy's or JAX's.

    Returns:
      An array of that kind, shape and dtype, with a relative error of a few units in the last
      place.
    """
    xp = namespace(x)
    size = xp.abs(x)
    inside = xp.minimum(size, 1.0 - xp.finfo(x.dtype).eps / 2)
    close = xp.minimum(size, 0.5)
    near = close * xp.arctanh(close) + 0.5 * xp.log1p(-close * close)
    far = 0.5 * ((1.0 + size) * xp.log1p(inside) + (1.0 - size) * xp.log1p(-inside))
    return xp.where(size < 0.5, near, far)


def inverse_divergence(p: Any, q: Any) -> Any:
    """1 / d(p, q) of p < q, one over the divergence of two coins, in nats.

    d(p, q) = p f(g / p) + (1 - p) f(-g / (1 - p)) with g = q - p and f(u) = u - log(1 + u) >= 0,
    which cancels nothing where q is close to p. Where the derivative is infinite, at p = 0 and
    q = 1, JAX gives a finite number.

    Args:
      p: floats in [0, 1), any shape; NumPy's or JAX's.
      q: of that kind and dtype, in (p, 1].

    Returns:
      An array of that kind and dtype; 0 where q = 1.
    """
    xp = namespace(p)
    gap, certain = q - p, q >= 1
    return xp.where(certain, 0.0, 1.0 / _of_gap(p, gap, certain))


def divergence(p: Any, gap: Any) -> Any:
    """d(p, p + gap), the divergence of two coins, in nats: as `inverse_divergence`, of a gap that
    need not be a difference of two rounded numbers.

    Args:
      p: floats in [0, 1), any shape; NumPy's or JAX's.
      gap: of that kind and dtype, positive, with p + gap < 1.
    """
    return _of_gap(p, gap, namespace(p).zeros_like(gap, bool))


def _of_gap(p: Any, gap: Any, certain: Any) -> Any:
    """d(p, p + gap), a finite number where p + gap = 1, which is `certain`."""
    xp = namespace(p)
    numbers = xp.finfo(p.dtype)
    fails, never = 1.0 - p, p < numbers.tiny**0.5
    wins = xp.where(never, gap, p * _excess(gap / xp.where(never, 1.0, p)))
    ratio = xp.minimum(gap / fails, 1.0 - numbers.eps / 2)
    return wins + fails * _excess(xp.where(certain, -0.5, -ratio))


def _excess(u: Any) -> Any:
    """u - log(1 + u) of u > -1, without cancellation: log(1 + u) = 2 artanh(w), w = u / (2 + u)."""
    xp = namespace(u)
    w = u / (2.0 + u)
    close = xp.abs(w) <= _CLOSE
    w = xp.where(close, w, 0.0)
    series = xp.zeros_like(w)
    for coefficient in reversed(_SERIES):
        series = (series + coefficient) * (w * w)
    far = xp.where(close, 1.0, u)
    return xp.where(close, 2.0 * (w * w / (1.0 - w) - w * series), far - xp.log1p(far))
