"""Functions that compute with the lanes last: the same numbers, in the shapes of vmap."""

import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics.lanes_last import first_true, lanes_last, largest, least
from jaxduel.numerics.target import tracing_for


class Pair(NamedTuple):
    values: Any
    scale: Any


def plain(pair, mask):
    """Of numbers (K, ...), scales (...) and a mask (K, ...): numbers (K, ...) and their least."""
    scaled = jnp.where(mask, pair.values * pair.scale, jnp.inf)
    return {"scaled": scaled, "least": least(scaled, jnp.inf)}


work = lanes_last(plain)


def given(*axes):
    rng = np.random.default_rng(0)
    pair = Pair(rng.normal(size=(*axes, 5)), rng.exponential(size=axes))
    return jax.tree.map(jnp.float32, pair), jnp.array([True, True, False, True, True])


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("axes", [(), (7,), (3, 7), (2, 3, 7)])
def test_the_same_under_vmap(axes, jitted):
    mapped, expected = work, plain
    for _ in axes:
        mapped, expected = (jax.vmap(f, (0, None)) for f in (mapped, expected))
    found = (jax.jit(mapped) if jitted else mapped)(*given(*axes))
    assert found["least"].shape == axes
    jax.tree.map(np.testing.assert_array_equal, found, expected(*given(*axes)))


@pytest.mark.parametrize("batched", [*itertools.product([True, False], repeat=2)])
def test_what_lanes_share(batched):
    """Also where only a part of a structure has lanes."""
    pair, mask = given(7)
    axes = Pair(*(0 if is_batched else None for is_batched in batched))
    pair = Pair(*(x if is_batched else x[0] for x, is_batched in zip(pair, batched, strict=True)))
    masks = jnp.stack([mask] * 7)
    found = jax.vmap(work, (axes, 0))(pair, masks)
    expected = jax.vmap(plain, (axes, 0))(pair, masks)
    jax.tree.map(np.testing.assert_array_equal, found, expected)


@pytest.mark.parametrize(("target", "shape"), [("cpu", (5, 3, 7)), ("gpu", (5,))])
def test_the_lanes_come_last_on_a_cpu_and_what_is_mapped_further_before_them(target, shape):
    shapes = []

    @lanes_last
    def work(pair, mask):  # a new one: JAX may keep what it has traced
        shapes.append(pair.values.shape)
        return plain(pair, mask)

    with tracing_for(target):
        jax.vmap(jax.vmap(work, (0, None)), (0, None))(*given(3, 7))
    assert shapes[-1] == shape


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_least_and_largest(dtype):
    values = jnp.asarray(np.random.default_rng(1).integers(-9, 9, (6, 4)), dtype)
    np.testing.assert_array_equal(least(values, 5), np.minimum(values.min(axis=0), 5))
    np.testing.assert_array_equal(largest(values, -5), np.maximum(values.max(axis=0), -5))


def test_first_true():
    mask = jnp.array([[False, True, False], [True, True, False]])
    assert first_true(mask).tolist() == [1, 0, 2]
