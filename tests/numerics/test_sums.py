"""Prefix sums against NumPy's in double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.sums import prefix_sums
from jaxduel.numerics.target import tracing_for


@pytest.mark.parametrize("target", ["cpu", "gpu"])
@pytest.mark.parametrize("number", [1, 2, 5, 16, 17, 136])
def test_prefix_sums_are_right_and_ascend(number, target):
    rng = np.random.default_rng(number)
    values = np.float32(10.0 ** rng.uniform(-8, 0, (50, number)))
    values[rng.random(values.shape) < 0.3] = 0
    with tracing_for(target):
        sums = np.asarray(jax.jit(jax.vmap(lambda x: prefix_sums(x)))(jnp.asarray(values)))
    rounding = number * 2.0**-24  # each of at most `number` additions
    np.testing.assert_allclose(sums, np.cumsum(values, axis=1, dtype=float), rtol=rounding)
    if target == "cpu":
        assert (np.diff(sums, axis=1) >= 0).all()
