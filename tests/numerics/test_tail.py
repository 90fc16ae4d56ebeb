"""Tails of Beta posteriors beyond 1/2, against float64 and exact sums."""

from fractions import Fraction
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import chebyshev, polynomial
from scipy import special

from jaxduel.numerics.tail import (
    _ERFCX,
    _FAR,
    _SKEW,
    _TABLED,
    _exponent,
    _horner,
    signed_tail,
)

TOLERANCE = 7e-7  # what the docstring states
MOST = 2**31 - 1
tail = jax.jit(signed_tail)


def reference(wins, losses):
    more, fewer = np.maximum(wins, losses) + 1.0, np.minimum(wins, losses) + 1.0
    return np.where(wins > losses, -1, 1) * special.betainc(more, fewer, 0.5)


def check(wins, losses, tolerance=TOLERANCE):
    s = np.asarray(tail(wins.astype(np.int32), losses.astype(np.int32)), float)
    expected = reference(wins.astype(float), losses.astype(float))
    assert np.all(np.isfinite(s))
    assert np.all((s > 0) == (losses >= wins))
    shown = np.abs(expected) > 1e-30
    np.testing.assert_allclose(s[shown], expected[shown], rtol=tolerance)
    np.testing.assert_array_less(np.abs(s[~shown]), 1.0001e-30)


def by_z_score(rng, total, size):
    """Win and loss counts with up to 12 standard deviations between them, either way round."""
    difference = np.minimum(np.rint(rng.uniform(-12, 12, size) * np.sqrt(total)), total)
    wins = np.clip((total + difference.astype(np.int64)) // 2, 0, total)
    return wins, total - wins


def test_all_small_counts():
    wins, losses = np.meshgrid(np.arange(701), np.arange(701))
    tabled = wins + losses <= _TABLED
    check(wins[tabled], losses[tabled], 6.1e-8)
    beyond = ~tabled & (wins + losses <= 700)
    check(wins[beyond], losses[beyond])


@pytest.mark.parametrize("decade", range(2, 9))
def test_larger_counts_at_all_z_scores(decade):
    rng, size = np.random.default_rng(decade), 200_000
    total = np.minimum((10 ** rng.uniform(decade + 0.7, decade + 1.7, size)).astype(int), MOST)
    check(*by_z_score(rng, total, size))


def test_extreme_counts():
    n = np.unique(np.concatenate([2 ** np.arange(1, 32) - 1, 2 ** np.arange(20, 31) + 1]))
    for fewer in (0, 1, 2, 7):
        fewer = np.minimum(fewer, n // 2)
        check(n - fewer, fewer)
        check(fewer, n - fewer)
    check(n // 2, n - n // 2)
    s = tail(np.array([MOST, 0], np.int32), np.array([0, MOST], np.int32))
    np.testing.assert_array_equal(s, np.array([-1, 1], np.float32) * np.float32(2.0**-126))


@pytest.mark.parametrize(("n", "fewer"), [(600, 180), (2_000, 800), (5_000, 2_350), (999, 499)])
def test_float64_reference_against_an_exact_sum(n, fewer):
    exact = Fraction(sum(comb(n + 1, k) for k in range(fewer + 1)), 2 ** (n + 1))
    np.testing.assert_allclose(reference(fewer, n - fewer), float(exact), rtol=1e-9)
    np.testing.assert_allclose(tail(fewer, n - fewer), float(exact), rtol=TOLERANCE)


def test_ties_and_antisymmetry():
    n = np.array([0, 1, 100, 255, 256, 5_000, 2**24 + 1, 2**30 - 1])
    np.testing.assert_allclose(tail(n, n), 0.5, rtol=2e-7)
    wins, losses = by_z_score(np.random.default_rng(0), np.geomspace(1, MOST, 5_000) // 1, 5_000)
    wins, losses = wins.astype(np.int32), losses.astype(np.int32)
    differ = wins != losses
    np.testing.assert_array_equal(tail(wins, losses)[differ], -tail(losses, wins)[differ])


def test_increment_by_one_win():
    """exact.md, 1: q(a + 1, b) = q(a, b) + 2^-(a + b) / (a B(a, b)), as long as losses > wins."""
    for total in (20, 500, 511, 3_000, 10**6):
        losses = total // 2 + np.arange(
            1, 5 * int(np.sqrt(total)), max(int(np.sqrt(total)) // 9, 1)
        )
        wins = total - np.minimum(losses, total)
        losses = total - wins
        a, b = wins + 1.0, losses + 1.0
        increment = np.exp(-(a + b) * np.log(2) - np.log(a) - special.betaln(a, b))
        before, after = (np.asarray(tail(wins + more, losses), float) for more in (0, 1))
        error = np.abs(after - before - increment)
        assert np.all(error < TOLERANCE * (before + after) + 1e-9 * increment)
        big = increment > 1e-2 * after
        np.testing.assert_allclose((after - before)[big], increment[big], rtol=3e-4)


def test_one_more_win_raises_the_probability():
    for total in (40, 400, 511, 640):
        wins = np.arange(total + 1)
        s = np.asarray(tail(wins, np.full_like(wins, total // 2)), float)
        upper = np.where(s > 0, s, np.inf)  # P(theta > 1/2) below 1/2
        lower = np.where(s < 0, -s, 0.0)  # P(theta < 1/2) above
        shown = np.abs(s) > 1e-30
        assert np.all(np.diff(upper[shown & (s > 0)]) > 0)
        assert np.all(np.diff(lower[shown & (s < 0)]) < 0)


def test_exponent_has_a_small_absolute_error():
    rng, size = np.random.default_rng(1), 100_000
    total = np.exp(rng.uniform(np.log(_TABLED + 1), np.log(MOST), size)).astype(np.int64)
    wins, losses = by_z_score(rng, total, size)
    d = jnp.asarray(np.abs(wins - losses), jnp.float32)
    n = jnp.asarray(total, jnp.float32) + 2
    parts = _exponent(jnp.asarray(total, jnp.int32), d, n, d / n)
    high, low = (np.asarray(part, float) for part in parts)
    n = total + 2.0
    x = np.abs(wins - losses) / n
    terms = sum(x ** (2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 80))
    expected = n * terms
    shown, large = expected < 70, (expected < 70) & (n > 1e4)
    assert np.abs((high - expected) + low)[shown].max() < TOLERANCE
    assert np.abs((high - expected) + low)[large].max() < 1e-7
    assert np.abs(high - expected)[large].max() > 2e-6  # what the second part is for


def fit_erfcx():
    start = 2.0 / (2.0 + 9.4)
    t = start + (1.0 - start) * (chebyshev.chebpts1(200) + 1.0) / 2.0
    values = special.erfcx(2.0 / t - 2.0) / t
    fit = polynomial.Polynomial.fit(t, values, len(_ERFCX) - 1, w=1.0 / values).convert()
    return tuple(float(c) / 2.0 for c in fit.coef)


def fit_skew():
    degrees = tuple(len(coefficients) - 1 for coefficients in _SKEW)
    x = _FAR * np.sqrt((chebyshev.chebpts1(24)[:, None] + 1.0) / 2.0)
    n = (_TABLED + 2) / np.linspace(0.04, 1.0, 8)
    a, b = n * (1.0 + x) / 2.0, n * (1.0 - x) / 2.0
    exponent = a * np.log1p(x) + b * np.log1p(-x)
    inside = exponent < 80.0
    growth = np.exp(np.minimum(exponent, 80.0))
    scaled = special.betainc(a, b, 0.5) * growth - special.erfcx(np.sqrt(exponent)) / 2.0
    values = np.sqrt(2 * np.pi * n) * scaled / x
    powers = [(i, j) for j, degree in enumerate(degrees) for i in range(degree + 1)]
    columns = np.stack([(x ** (2 * i) * (512.0 / n) ** j)[inside] for i, j in powers], axis=1)
    fit = np.linalg.lstsq(columns, values[inside], rcond=None)[0]
    return [
        tuple(float(c) * 512.0**j for c, (_, power) in zip(fit, powers, strict=True) if power == j)
        for j in range(len(degrees))
    ]


def test_polynomials_are_those_fitted_with_scipy():
    """Values, not coefficients: the last bits of SciPy's change those by 1e-4."""
    t, square = np.linspace(2 / 11.4, 1, 100), np.linspace(0, _FAR**2, 100)
    for written, fitted, x in [
        (_ERFCX, fit_erfcx(), t),
        *zip(_SKEW, fit_skew(), (square, square), strict=True),
    ]:
        values = polynomial.polyval(x, written)
        np.testing.assert_allclose(values, polynomial.polyval(x, fitted), rtol=1e-7)


def test_erfcx():
    z = np.linspace(0, 9.3, 10_000).astype(np.float32)
    t = jnp.asarray(2 / (2 + z))
    np.testing.assert_allclose(2 * t * _horner(_ERFCX, t), special.erfcx(z), rtol=3e-7)


def test_vmap_jit_and_x64_change_nothing():
    rng = np.random.default_rng(2)
    wins, losses = by_z_score(rng, np.geomspace(1, MOST, 600) // 1, 600)
    wins, losses = (x.astype(np.int32).reshape(40, 15) for x in (wins, losses))
    expected = tail(wins, losses)
    assert expected.dtype == jnp.float32
    np.testing.assert_array_equal(jax.jit(jax.vmap(signed_tail))(wins, losses), expected)
    with jax.enable_x64(True):
        wide = jax.jit(signed_tail)(wins.astype(np.int64), losses.astype(np.int64))
        assert wide.dtype == jnp.float32
        np.testing.assert_array_equal(wide, expected)
    assert tail(np.zeros((4, 1), np.int32), np.zeros(3, np.int32)).shape == (4, 3)
