"""Reductions in parts: the results of NumPy's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.reductions import add_rows, count_rows, largest, least
from jaxduel.numerics.target import tracing_for

SIZES = (
    *(1, 17, 100),
    *(pytest.param(num, marks=pytest.mark.thorough) for num in (2, 5, 16, 32, 33, 64)),
)
targets = pytest.mark.parametrize("target", ["cpu", "gpu"])


@targets
@pytest.mark.parametrize("num", SIZES)
def test_sums_and_counts_of_rows(num, target):
    values = np.random.default_rng(num).integers(0, 2**32, (3, num, 7), dtype=np.uint32)
    with tracing_for(target):
        sums = jax.vmap(add_rows)(jnp.asarray(values))
        counts = jax.vmap(count_rows)(jnp.asarray(values) % 3 == 0)
    assert sums.dtype == jnp.uint32
    assert counts.dtype == jnp.int32
    np.testing.assert_array_equal(sums, np.sum(values, axis=1, dtype=np.uint32))
    np.testing.assert_array_equal(counts, np.sum(values % 3 == 0, axis=1))


@targets
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("num", SIZES)
def test_largest_and_least(num, dtype, target):
    values = (100 * np.random.default_rng(num).normal(size=(50, num))).astype(dtype)
    with tracing_for(target):
        found = [jax.vmap(search)(jnp.asarray(values)) for search in (largest, least)]
    for one, expected in zip(found, (values.max(axis=1), values.min(axis=1)), strict=True):
        assert one.dtype == dtype
        np.testing.assert_array_equal(one, expected)


def test_parts_of_many_numbers_do_not_add_up():
    """A program for each part of 200 x 200 numbers took minutes to compile."""
    values = np.random.default_rng(0).normal(size=40_000).astype(np.float32)
    assert float(jax.jit(least)(values)) == values.min()
    few, many = (len(jax.make_jaxpr(least)(values[:n]).eqns) for n in (1_000, 40_000))
    assert many < 4 * few


@pytest.mark.parametrize(
    "values",
    [
        [-np.inf, -1.0, -(2.0**-126)],
        [-np.inf, -np.inf, -np.inf],
        [0.0, -0.0, np.inf],
        [2.0**-126, 2.0**-149, 3e38],
    ],
)
def test_largest_and_least_of_special_floats(values):
    numbers = jnp.asarray(values, jnp.float32)
    assert float(largest(numbers)) == np.max(np.asarray(values, np.float32))
    assert float(least(numbers)) == np.min(np.asarray(values, np.float32))
