"""Threefry as arithmetic: the same function as JAX's."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import threefry_2x32

from jaxduel.numerics.threefry import (
    KeyWords,
    bits,
    fold_in,
    host_bits,
    host_fold_in,
    random_words,
    uniform,
    uniform23,
    uniforms,
    words_of,
)


def test_blocks_are_those_of_jax():
    key = jax.random.key_data(jax.random.key(7))
    position, stream = jnp.arange(50, dtype=jnp.uint32), jnp.arange(50, dtype=jnp.uint32) * 77
    expected = threefry_2x32(key, jnp.concatenate([position, stream]))
    found = random_words(KeyWords(key[0], key[1]), position, stream)
    assert np.array_equal(jnp.concatenate(found), expected)


KEYS = (jax.random.key(3), jax.random.fold_in(jax.random.key(2**32 - 1), 5))
PHILOX = jax.random.key(4, impl="philox4x32")


def test_bits_are_those_of_jax_here_and_on_the_host():
    for key in KEYS:
        for shape in ((1,), (2, 7), (2, 3, 5), (40_000,)):
            expected = np.asarray(jax.random.bits(key, shape, jnp.uint32))
            np.testing.assert_array_equal(bits(key, shape), expected)
            found = host_bits(np.asarray(jax.random.key_data(key)), expected.size)
            assert found.dtype == np.uint32
            assert np.array_equal(found.reshape(shape), expected)
    assert np.array_equal(bits(PHILOX, (5,)), jax.random.bits(PHILOX, (5,), jnp.uint32))


def test_uniform_numbers_are_those_of_jax():
    for key in (*KEYS, PHILOX):
        expected = jax.random.uniform(key, (300,), jnp.float32)
        for found in (uniforms(key, 300), uniform23(bits(key, (300,)))):
            assert found.dtype == jnp.float32
            assert np.array_equal(found, expected)


def test_keys_are_folded_as_by_jax_here_and_on_the_host():
    numbers = np.array([0, 1, -1, 2**31 - 1, -(2**31)], np.int32)
    for key in (*KEYS, PHILOX):
        expected = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, numbers)
        found = jax.vmap(fold_in, in_axes=(None, 0))(key, numbers)
        assert found.dtype == expected.dtype
        assert np.array_equal(*map(jax.random.key_data, (found, expected)))
        if key is not PHILOX:
            words = host_fold_in(np.asarray(jax.random.key_data(key)), numbers)
            assert np.array_equal(words, jax.random.key_data(expected))


def test_the_seed_of_a_threefry_key_is_the_key():
    key = jax.random.key(12)
    assert np.array_equal(jnp.stack(words_of(key)), jax.random.key_data(key))


def test_other_generators_give_seeds_that_differ_by_key():
    keys = jax.random.split(jax.random.key(0, impl="philox4x32"), 100)
    first, second = jax.vmap(words_of)(keys)
    assert first.dtype == second.dtype == jnp.uint32
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == 100


def test_uniform_numbers_lie_in_the_unit_interval():
    words = jnp.array([0, 255, 256, 2**31, 2**32 - 1], jnp.uint32)
    expected = np.array([0, 0, 2.0**-24, 0.5, 1 - 2.0**-24], np.float32)
    assert np.array_equal(uniform(words), expected)
    assert uniform(words).dtype == jnp.float32
