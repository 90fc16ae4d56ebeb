"""Counts that are changed at one arm."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.target import tracing_for
from jaxduel.policies.counts import add_at


@pytest.mark.parametrize("target", ["cpu", "gpu"])
@pytest.mark.parametrize("num", [2, 8, 9, 40])
@pytest.mark.parametrize("amount", [True, False, 3])
def test_add_at(num, amount, target):
    counts = jnp.arange(num, dtype=jnp.int32)
    expected = np.arange(num)
    expected[num - 1] += amount
    with tracing_for(target):
        found = add_at(counts, jnp.int32(num - 1), jnp.asarray(amount))
    assert found.dtype == jnp.int32
    np.testing.assert_array_equal(found, expected)
