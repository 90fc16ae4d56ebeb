from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.theory.divergence import divergence_from_half, inverse_divergence

MARGINS = np.array([1e-7, 1e-4, 0.01, 0.3, 0.499999, 0.500001, 0.9, 0.9999, 1 - 2**-20, 1.0])


def divergence(p, q):
    """d(p, q) of two Decimals."""
    pairs = [(one, other) for one, other in ((p, q), (1 - p, 1 - q)) if one > 0]
    return sum(one * (one / other).ln() for one, other in pairs)


def from_half(margins):
    with localcontext() as context:
        context.prec = 50
        half = Decimal("0.5")
        return np.array([float(divergence(half + Decimal(x) / 2, half)) for x in margins.tolist()])


def test_divergence_from_half():
    expected = from_half(MARGINS)
    for sign in (1, -1):
        np.testing.assert_allclose(divergence_from_half(sign * MARGINS), expected, rtol=2e-15)
    single = MARGINS.astype(np.float32)
    found = jax.jit(divergence_from_half)(jnp.asarray(single))
    assert found.dtype == jnp.float32
    np.testing.assert_allclose(found, from_half(single.astype(float)), rtol=5e-7)
    assert divergence_from_half(np.zeros(2)).tolist() == [0, 0]
    assert divergence_from_half(np.ones(1)) == pytest.approx(np.log(2), rel=1e-15)


def test_its_slope_is_artanh_and_finite_at_the_ends():
    with jax.enable_x64(True):
        slope = jax.jit(jax.vmap(jax.grad(divergence_from_half)))
        x = np.concatenate([-MARGINS[::-1], [0.0], MARGINS])
        found = np.asarray(slope(x))
    inside = np.abs(x) < 1
    np.testing.assert_allclose(found[inside], np.arctanh(x[inside]), rtol=1e-9)
    np.testing.assert_allclose(found[~inside], [-np.arctanh(1 - 2**-53), np.arctanh(1 - 2**-53)])


P = np.array([0.0, 1e-300, 0.2, 0.2, 0.5, 0.3, 0.7, 0.0, 0.49, 0.6])
Q = np.array([0.3, 0.5, 0.9, 0.20001, 0.9, 0.45, 1.0, 1.0, 0.51, 0.99999])


def test_inverse_divergence():
    found = inverse_divergence(P, Q)
    with localcontext() as context:
        context.prec = 50
        for p, q, value in zip(P.tolist(), Q.tolist(), found.tolist(), strict=True):
            expected = 0 if q == 1 else float(1 / divergence(Decimal(p), Decimal(q)))
            assert value == pytest.approx(expected, rel=1e-14)
    p, q = P.astype(np.float32), Q.astype(np.float32)
    single = jax.jit(inverse_divergence)(jnp.asarray(p), jnp.asarray(q))
    assert single.dtype == jnp.float32
    np.testing.assert_allclose(
        single, inverse_divergence(p.astype(float), q.astype(float)), rtol=1e-6
    )


def test_the_slopes_of_the_inverse():
    inside = (P > 1e-3) & (Q < 0.99) & (Q - P > 0.01)
    assert inside.sum() == 4
    with jax.enable_x64(True):
        slopes = jax.jit(jax.vmap(jax.grad(inverse_divergence, argnums=(0, 1))))
        of_p, of_q = (np.asarray(slope) for slope in slopes(P, Q))
    assert np.isfinite(of_p).all()
    assert np.isfinite(of_q).all()
    p, q, step = P[inside], Q[inside], 1e-6
    by_p = (inverse_divergence(p + step, q) - inverse_divergence(p - step, q)) / (2 * step)
    by_q = (inverse_divergence(p, q + step) - inverse_divergence(p, q - step)) / (2 * step)
    np.testing.assert_allclose(of_p[inside], by_p, rtol=1e-6)
    np.testing.assert_allclose(of_q[inside], by_q, rtol=1e-6)
