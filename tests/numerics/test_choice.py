"""Members of a set, against counting, and uniform; searches and words of bits, against NumPy's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxduel.numerics import count_true, masked_choice
from jaxduel.numerics.choice import first_largest, first_least, pack_bits
from jaxduel.numerics.target import tracing_for


@pytest.mark.parametrize("num_arms", [2, 5, 32, 33, 100])
def test_member_number_floor_u_size(num_arms):
    rng = np.random.default_rng(num_arms)
    masks = rng.random((2000, num_arms)) < rng.random((2000, 1))
    masks[np.arange(2000), rng.integers(0, num_arms, 2000)] = True
    u = rng.random(2000, dtype=np.float32)
    u[:2] = 0.0, np.nextafter(np.float32(1), np.float32(0))
    got = np.asarray(jax.jit(jax.vmap(masked_choice))(masks, u))
    sizes = masks.sum(axis=1)
    wanted = np.minimum((u * sizes.astype(np.float32)).astype(int), sizes - 1)
    members = [np.flatnonzero(mask)[k] for mask, k in zip(masks, wanted, strict=True)]
    assert (got == members).all()
    assert (np.asarray(jax.vmap(count_true)(masks)) == sizes).all()


def test_uniform_over_the_members():
    mask = jnp.asarray(np.isin(np.arange(70), [0, 3, 31, 32, 64, 69, 68]))
    u = jax.random.uniform(jax.random.key(0), (70_000,))
    counts = np.bincount(jax.vmap(masked_choice, in_axes=(None, 0))(mask, u), minlength=70)
    assert set(np.flatnonzero(counts)) == {0, 3, 31, 32, 64, 68, 69}
    expected = 10_000
    assert (np.abs(counts[counts > 0] - expected) < 4.5 * np.sqrt(expected * 6 / 7)).all()


@pytest.mark.parametrize("target", ["cpu", "gpu"])
@pytest.mark.parametrize("num_arms", [1, 2, 8, 9, 16, 33, 136])
def test_first_largest_and_least(num_arms, target):
    """Of numbers with ties, infinite ones and rows that are all alike."""
    rng = np.random.default_rng(num_arms)
    values = rng.integers(-3, 4, (60, num_arms)).astype(np.float32)
    values[rng.random(values.shape) < 0.2] = -np.inf
    values[rng.random(values.shape) < 0.1] = np.inf
    values[0], values[1], values[2] = -np.inf, np.inf, 0
    with tracing_for(target):
        for found, expected in ((first_largest, np.argmax), (first_least, np.argmin)):
            mapped = jax.jit(jax.vmap(lambda x, of=found: of(x)))(jnp.asarray(values))
            np.testing.assert_array_equal(mapped, expected(values, axis=1))
            assert found(jnp.asarray(values[-1])) == expected(values[-1])


@pytest.mark.parametrize("num_arms", [1, 5, 31, 32, 33, 40, 64, 136])
def test_bits_lie_in_words_in_index_order(num_arms):
    masks = np.random.default_rng(num_arms).random((20, num_arms)) < 0.5
    words = np.asarray(jax.vmap(pack_bits)(jnp.asarray(masks)))
    assert words.dtype == np.uint32
    bits = words[:, :, None] >> np.arange(32, dtype=np.uint32) & 1
    np.testing.assert_array_equal(bits.reshape(20, -1)[:, :num_arms], masks)
    assert not bits.reshape(20, -1)[:, num_arms:].any()
    np.testing.assert_array_equal(pack_bits(jnp.asarray(masks[3])), words[3])
