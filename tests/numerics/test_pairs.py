"""Arrays of ordered pairs."""

import jax
import numpy as np
import pytest

from jaxduel.numerics.pairs import across
from jaxduel.numerics.target import tracing_for


@pytest.mark.parametrize("platform", ["cpu", "gpu"])
def test_entries_across_the_diagonal(platform):
    x = np.arange(18).reshape(2, 3, 3)
    with tracing_for(platform):
        np.testing.assert_array_equal(jax.jit(lambda x: across(x))(x), x.swapaxes(-1, -2))
