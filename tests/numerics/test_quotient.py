"""Division of counts: what a GPU computes, on a CPU with quotients that are off by two units."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.numerics import quotient as module
from jaxduel.numerics.quotient import quotient
from jaxduel.numerics.target import tracing_for


def test_a_cpu_divides():
    a, b = np.float32(3), np.arange(1, 100, dtype=np.float32)
    np.testing.assert_array_equal(quotient(jnp.float32(a), jnp.asarray(b)), a / b)


def test_an_approximate_quotient_is_corrected(monkeypatch):
    """All fractions of small counts and random ones of large counts."""
    rng = np.random.default_rng(0)
    small = np.meshgrid(np.arange(512.0), np.arange(1.0, 513.0))
    large = rng.integers(1, 2**31, (2, 200_000))
    a = np.concatenate([small[0].ravel(), large.min(axis=0)]).astype(np.float32)
    b = np.concatenate([small[1].ravel(), large.max(axis=0)]).astype(np.float32)
    true = a / b
    for units in (-2, -1, 0, 1, 2):
        near = (true.view(np.int32) + np.int32(units) * (true > 0)).view(np.float32)
        monkeypatch.setattr(module, "_approximate", lambda a, b, near=near: jnp.asarray(near))
        with tracing_for("gpu"):
            got = jax.jit(lambda a, b: quotient(a, b))(a, b)
        np.testing.assert_array_equal(got, true)
