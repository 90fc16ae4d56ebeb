"""Stirling's remainder, beside SciPy's log Gamma."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from jaxduel.numerics.stirling import close_stirling, stirling


@pytest.mark.parametrize(("remainder", "least", "error"), [
    (stirling, 1.0, 5e-5), (stirling, 2.0, 4e-7), (close_stirling, 1.0, 5e-7),
])  # fmt: skip
def test_remainder(remainder, least, error):
    x = (least * np.logspace(0, 4, 200)).astype(np.float32).astype(float)
    exact = special.gammaln(x) - (x - 0.5) * np.log(x) + x - np.log(2 * np.pi) / 2
    np.testing.assert_allclose(remainder(jnp.asarray(x, jnp.float32)), exact, rtol=0, atol=error)


def test_remainder_vanishes():
    assert float(close_stirling(jnp.float32(2**31))) == pytest.approx(0, abs=2e-7)
