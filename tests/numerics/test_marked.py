"""`where_marked`; the draws of the queue are tested with `masked_beta` and `largest_beta`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.marked import where_marked
from jaxduel.numerics.target import tracing_for


def _product(x, y):
    return x * y.astype(jnp.float32)


@pytest.mark.parametrize("platform", ["cpu", "gpu"])
@pytest.mark.parametrize("lanes", [1, 150])
def test_marked_entries_get_the_work_and_others_keep_their_values(lanes, platform):
    """Lanes with none, with some and, the last, with all of 5 x 7 entries marked."""
    rng = np.random.default_rng(lanes)
    shape = lanes, 5, 7
    marked = rng.random(shape) < rng.integers(0, 3, (lanes, 1, 1)) / 8
    marked[-1] = True
    values, x = rng.random((2, *shape)).astype(np.float32)
    y = rng.integers(0, 2**20, shape).astype(np.int32)
    expected = np.where(marked, x * y.astype(np.float32), values)
    with tracing_for(platform):
        of_all = jax.jit(jax.vmap(lambda *lane: where_marked(_product, *lane)))
        np.testing.assert_array_equal(of_all(marked, values, x, y), expected)
        alone = jax.jit(lambda *lane: where_marked(_product, *lane))
        last = alone(*(a[-1] for a in (marked, values, x, y)))
    np.testing.assert_array_equal(last, expected[-1])
