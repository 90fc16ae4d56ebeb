"""Threefry as arithmetic: the same function as JAX's."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import threefry_2x32

from jaxduel.numerics.threefry import Seed, block, host_words, seed_of, uniform


def test_blocks_are_those_of_jax():
    key = jax.random.key_data(jax.random.key(7))
    position, stream = jnp.arange(50, dtype=jnp.uint32), jnp.arange(50, dtype=jnp.uint32) * 77
    expected = threefry_2x32(key, jnp.concatenate([position, stream]))
    found = block(Seed(key[0], key[1]), position, stream)
    assert np.array_equal(jnp.concatenate(found), expected)


def test_words_of_the_host_are_those_of_jax():
    for key in (jax.random.key(3), jax.random.fold_in(jax.random.key(2**32 - 1), 5)):
        for shape in ((1,), (2, 7), (2, 3, 5), (40_000,)):
            expected = np.asarray(jax.random.bits(key, shape, jnp.uint32))
            found = host_words(key, expected.size)
            assert found.dtype == np.uint32
            assert np.array_equal(found.reshape(shape), expected)


def test_the_seed_of_a_threefry_key_is_the_key():
    key = jax.random.key(12)
    assert np.array_equal(jnp.stack(seed_of(key)), jax.random.key_data(key))


def test_other_generators_give_seeds_that_differ_by_key():
    keys = jax.random.split(jax.random.key(0, impl="philox4x32"), 100)
    first, second = jax.vmap(seed_of)(keys)
    assert first.dtype == second.dtype == jnp.uint32
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == 100


def test_uniform_numbers_lie_in_the_unit_interval():
    words = jnp.array([0, 255, 256, 2**31, 2**32 - 1], jnp.uint32)
    expected = np.array([0, 0, 2.0**-24, 0.5, 1 - 2.0**-24], np.float32)
    assert np.array_equal(uniform(words), expected)
    assert uniform(words).dtype == jnp.float32
