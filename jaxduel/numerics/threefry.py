"""Threefry-2x32 as arithmetic: random words by position, fused into what reads them.

JAX's own generator is the same function, but on a CPU it runs as a loop over arrays in memory, at
three times the cost, and of the two words of a block it keeps one. Here a block is a plain
expression of a seed and a position, so that a policy can say which word decides what.

Source: J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as
1, 2, 3" (2011).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


class Seed(NamedTuple):
    """The 64 bits that key a policy's blocks in one step."""

    first: jax.Array  # uint32
    second: jax.Array  # uint32, of the same shape


def seed_of(key: jax.Array) -> Seed:
    """The seed of a step: what a Threefry key consists of, else 64 bits drawn from the key.

    Args:
      key: () typed JAX key of any implementation. It must not be used for anything else.
    """
    if jax.random.key_impl(key) == "threefry2x32":
        words = jax.random.key_data(key)
    else:
        words = jax.random.bits(key, (2,), jnp.uint32)
    return Seed(words[0], words[1])


def block(
    seed: Seed, position: jax.Array | int, stream: jax.Array | int
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
    return _encrypted(seed.first, seed.second, position, stream)


def host_words(key: jax.Array, number: int) -> np.ndarray:
    """The first words of `jax.random.bits(key, shape)`, computed by NumPy: nothing is compiled.

    Args:
      key: () typed Threefry key.
      number: how many.

    Returns:
      (number,) uint32. JAX's words do not depend on the shape, unless its option
      `threefry_partitionable` is off: then they are others.
    """
    first, second = np.asarray(jax.random.key_data(key))[:, None]
    x, y = _encrypted(first, second, np.zeros(1, np.uint32), np.arange(number, dtype=np.uint32))
    return x ^ y


def _encrypted(first: Any, second: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Threefry's 20 rounds on two words, uint32 arrays of NumPy or JAX, with a key of two."""
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
