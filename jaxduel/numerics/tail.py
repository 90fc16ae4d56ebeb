"""Tails of Beta(wins + 1, losses + 1) beyond 1/2, relatively accurate to 1e-30, in float32.

With N = wins + losses + 2, d = |wins - losses| and x = d / N, two ways, without a loop:

* N <= 512: a table, by Pascal's rule in float64.
* otherwise: exp(-E) (erfcx(sqrt(E)) / 2 + S(x, 1 / N) / sqrt(2 pi N)), Temme's uniform expansion,
  E = N ((1 + x) log(1 + x) + (1 - x) log(1 - x)) / 2. S and erfcx are polynomials fitted at import
  against float64. An error of E is a relative error of the tail: E, up to 69 down there, is held
  in two parts, from products of numbers of 12 bits, which are exact.

Source: N. M. Temme, "The uniform asymptotic expansion of a class of integrals related to cumulative
distribution functions", SIAM Journal on Mathematical Analysis 13 (1982).
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.polynomial import chebyshev, polynomial
from scipy import special

_TABLED = 510  # wins + losses of the table's last row
_FAR = 0.53  # from N = 513 on, the tail is below 1e-34 beyond this x
_DEGREES = (5, 2)  # of S / x in x^2, for the powers 0 and 1 of 1 / N: 6e-9 of the tail
_FLOOR = 2.0**-126  # the smallest normal float32
_SERIES = tuple(1.0 / (k * (2 * k - 1)) for k in range(2, 12))
"""2 E / (d x) - 1 in powers of x^2; up to x = 0.53 what follows is below 1e-8 of E."""


def signed_tail(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """The small one of P(theta > 1/2) and P(theta < 1/2), theta ~ Beta(wins + 1, losses + 1).

    Its sign tells which one it is: P(theta > 1/2) is s where s > 0, and 1 + s where s < 0. Down to
    1e-30, the relative error of |s|, measured against float64, is below 7e-7 (6e-8 as long as
    wins + losses <= 510; 1e-7 in the root mean square beyond). |s| stops at 2^-126, above 0.

    Args:
      wins: counts, any integer dtype, at least 0.
      losses: counts of a shape that broadcasts with `wins`, wins + losses <= 2^31 - 1.

    Returns:
      s, float32 of the broadcast shape: P(theta > 1/2), in (0, 1/2], where
      losses >= wins; -P(theta < 1/2), in (-1/2, 0), where wins > losses.
    """
    wins, losses = (jnp.asarray(x).astype(jnp.int32) for x in (wins, losses))
    total, fewer = wins + losses, jnp.minimum(wins, losses)
    tabled = total <= _TABLED
    row = jnp.where(tabled, total, 0) + 1
    index = (row * row >> 2) + jnp.where(tabled, fewer, 0)
    near = jnp.asarray(_TABLE)[index]
    tail = jnp.where(tabled, near, _expansion(total, jnp.abs(wins - losses)))
    return jnp.where(wins > losses, -tail, tail)


def _expansion(total: jax.Array, difference: jax.Array) -> jax.Array:
    """Temme's expansion for N = total + 2 > 512 and d = difference: int32, int32 -> float32."""
    n = total.astype(jnp.float32) + 2.0
    d = difference.astype(jnp.float32)
    x = d / n
    high, low = _exponent(total, d, n, x)
    x = jnp.minimum(x, _FAR)
    square = x * x
    skew = x * (_horner(_SKEW[0], square) + _horner(_SKEW[1], square) / n)
    t = 2.0 / (2.0 + jnp.sqrt(high))
    factor = t * _horner(_ERFCX, t) + skew * lax.rsqrt(2 * np.pi * n)
    return jnp.maximum(jnp.exp(-high) * (factor - factor * low), _FLOOR)


def _exponent(total: jax.Array, d: jax.Array, n: jax.Array, x: jax.Array) -> tuple[jax.Array, ...]:
    """E in two parts, their sum good to 7e-7 where it is below 70 (1e-7 from N = 10^4 on).

    E = d x (1 + x^2 / 6 + ...) / 2. x is split after 12 bits, the rest being a division's remainder
    of which every product is exact; so is the leading part of d x.
    """
    first = _twelve_bits(x)
    rest = d
    for mask, offset in ((0x7FF80000, 0), (0x0007FF80, 0), (0x0000007F, 2)):
        rest = rest - ((total & mask) + offset).astype(jnp.float32) * first
    d_first = _twelve_bits(d)
    lead = 0.5 * d_first * first
    tail = 0.5 * ((d - d_first) * first + d * (rest / n))
    square = x * x
    tail = tail + (lead + tail) * (square * _horner(_SERIES, square))
    high = lead + tail
    return high, (lead - high) + tail


def _twelve_bits(x: jax.Array) -> jax.Array:
    """The leading twelve bits of float32 numbers."""
    bits = lax.bitcast_convert_type(x, jnp.int32)
    return lax.bitcast_convert_type(bits & -(2**12), jnp.float32)


def _horner(coefficients: Sequence[float], x: jax.Array) -> jax.Array:
    """The polynomial with these coefficients, lowest power first."""
    value = jnp.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def _pascal(rows: int) -> np.ndarray:
    """P(Bin(n + 1, 1/2) <= k) for n < rows and k <= n / 2, row after row, float32."""
    tails, below = [], np.array([0.5, 1.0])  # P(Bin(1, 1/2) <= k), k = 0, 1
    for n in range(rows):
        tails.append(below[: n // 2 + 1])
        below = (np.append(below, 1.0) + np.append(0.0, below)) / 2
    return np.maximum(np.concatenate(tails), _FLOOR).astype(np.float32)


def _fit_erfcx() -> tuple[float, ...]:
    """The polynomial in t = 2 / (2 + z) that is erfcx(z) / (2 t) for z up to 9.4, lowest first."""
    start = 2.0 / (2.0 + 9.4)
    t = start + (1.0 - start) * (chebyshev.chebpts1(200) + 1.0) / 2.0
    values = special.erfcx(2.0 / t - 2.0) / t
    fit = polynomial.Polynomial.fit(t, values, 9, w=1.0 / values).convert()
    return tuple(float(c) / 2.0 for c in fit.coef)


def _fit_skew() -> list[tuple[float, ...]]:
    """S / x = p(x^2) + q(x^2) / N: the coefficients of p and of q, lowest first."""
    x = _FAR * np.sqrt((chebyshev.chebpts1(24)[:, None] + 1.0) / 2.0)
    n = (_TABLED + 2) / np.linspace(0.04, 1.0, 8)
    a, b = n * (1.0 + x) / 2.0, n * (1.0 - x) / 2.0
    exponent = a * np.log1p(x) + b * np.log1p(-x)
    inside = exponent < 80.0
    growth = np.exp(np.minimum(exponent, 80.0))
    scaled = special.betainc(a, b, 0.5) * growth - special.erfcx(np.sqrt(exponent)) / 2.0
    values = np.sqrt(2 * np.pi * n) * scaled / x
    powers = [(i, j) for j, degree in enumerate(_DEGREES) for i in range(degree + 1)]
    columns = np.stack([(x ** (2 * i) * (512.0 / n) ** j)[inside] for i, j in powers], axis=1)
    fit = np.linalg.lstsq(columns, values[inside], rcond=None)[0]
    return [
        tuple(float(c) * 512.0**j for c, (_, power) in zip(fit, powers, strict=True) if power == j)
        for j in range(len(_DEGREES))
    ]


_TABLE = _pascal(_TABLED + 1)
_ERFCX = _fit_erfcx()
_SKEW = _fit_skew()
