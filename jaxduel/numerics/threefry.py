"""Threefry-2x32: random words by position, as arithmetic that XLA fuses into its readers.

JAX's generator is the same function, but on a CPU it runs as a loop over arrays in memory, at three
times the cost, and of the two words of a block it keeps one. Here a block is a plain expression of
a seed and a position, so that a policy can say which word decides what. `fold_in`, `bits` and
`uniforms` give the numbers of `jax.random`, with less to compile and less to run.

Source: J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as
1, 2, 3" (2011).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.numerics.memory import materialize

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


class KeyWords(NamedTuple):
    """The 64 bits that key a policy's blocks in one step."""

    first: jax.Array  # uint32
    second: jax.Array  # uint32, of the same shape


def words_of(key: jax.Array) -> KeyWords:
    """The 64-bit seed of a step: the data of a Threefry key, else bits drawn from the key.

    Args:
      key: () typed JAX key of any implementation. It must not be used for anything else.
    """
    words = jax.random.key_data(key) if is_threefry(key) else bits(key, (2,))
    return KeyWords(words[0], words[1])


def is_threefry(key: jax.Array) -> bool:
    """True for a typed key of Threefry."""
    return jax.random.key_impl(key) == "threefry2x32"


def random_words(
    seed: KeyWords, position: jax.Array | int, stream: jax.Array | int
) -> tuple[jax.Array, jax.Array]:
    """The two random words at a position of a stream.

    Args:
      seed: the seed.
      position: uint32 or non-negative int32, any shape that broadcasts with the seed's.
      stream: the same; different streams are independent.

    Returns:
      Two uint32 arrays of the shape that all arguments broadcast to.
    """
    position, stream = (jnp.asarray(place).astype(jnp.uint32) for place in (position, stream))
    return _traced(seed.first, seed.second, position, stream)


def fold_in(key: jax.Array, number: jax.Array | int) -> jax.Array:
    """Folds a number into a key, as `jax.random.fold_in` does.

    Args:
      key: () typed JAX key of any implementation.
      number: () int32 or uint32.
    """
    if not is_threefry(key):
        return jax.random.fold_in(key, number)
    words = jnp.stack(random_words(words_of(key), 0, number))
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def bits(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """The words of `jax.random.bits`, whatever JAX's option `threefry_partitionable` is.

    Args:
      key: () typed JAX key of any implementation. It must not be used for anything else.
      shape: of at most 2^32 words.

    Returns:
      uint32 of that shape.
    """
    if not is_threefry(key):
        return jax.random.bits(key, shape, jnp.uint32)
    numbers = lax.iota(jnp.uint32, math.prod(shape)).reshape(shape)
    first, second = random_words(words_of(key), 0, numbers)
    return first ^ second


def uniforms(key: jax.Array, number: int) -> jax.Array:
    """The numbers of `jax.random.uniform(key, (number,))`, for a step of a policy.

    The words are kept in memory: XLA would draw them anew for every reader.

    Args:
      key: () typed JAX key of any implementation. It must not be used for anything else.
      number: number of uniforms.

    Returns:
      (number,) float32, multiples of 2^-23 in [0, 1).
    """
    words = bits(key, (number,)) >> jnp.uint32(9)
    return _in_unit_interval(materialize(words, words[0] > jnp.uint32(2**23)))


def uniform23(word: jax.Array) -> jax.Array:
    """A word as a float32 in [0, 1), a multiple of 2^-23, as `jax.random.uniform` makes it."""
    return _in_unit_interval(word >> jnp.uint32(9))


def host_fold_in(words: np.ndarray, number: np.ndarray) -> np.ndarray:
    """`fold_in` on the data of keys by NumPy, without compiling.

    Args:
      words: (..., 2) uint32, data of Threefry keys.
      number: int32 or uint32, of a shape (no scalar) that broadcasts with the keys' shape.

    Returns:
      (..., 2) uint32.
    """
    number = number.astype(np.uint32)
    drawn = _encrypted(words[..., 0], words[..., 1], np.zeros_like(number), number)
    return np.stack(drawn, axis=-1)


def host_bits(words: np.ndarray, number: int) -> np.ndarray:
    """The first words of `bits`, whatever the shape, by NumPy, without compiling.

    Args:
      words: (..., 2) uint32, data of Threefry keys.
      number: words for each key.

    Returns:
      (..., number) uint32.
    """
    drawn = host_fold_in(words[..., None, :], np.arange(number, dtype=np.uint32))
    return drawn[..., 0] ^ drawn[..., 1]


def _encrypted(first: Any, second: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Threefry's 20 rounds on two words, uint32 arrays of NumPy or JAX, with a two-word key."""
    keys = (first, second, first ^ second ^ np.uint32(_PARITY))
    x, y = keys[0] + x, keys[1] + y
    for number in range(5):
        for rotation in _ROTATIONS[number % 2]:
            x = x + y
            y = x ^ ((y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation)))
        x = x + keys[(number + 1) % 3]
        y = y + keys[(number + 2) % 3] + np.uint32(number + 1)
    return x, y


def uniform(word: jax.Array) -> jax.Array:
    """A word as a float32 in [0, 1), a multiple of 2^-24."""
    return (word >> jnp.uint32(8)).astype(jnp.int32).astype(jnp.float32) * jnp.float32(2.0**-24)


_traced = jax.jit(_encrypted)  # traced once for each shape, though many expressions use it


def _in_unit_interval(bits: jax.Array) -> jax.Array:
    """23 bits as a float32 in [0, 1)."""
    return bits.astype(jnp.int32).astype(jnp.float32) * jnp.float32(2.0**-23)
