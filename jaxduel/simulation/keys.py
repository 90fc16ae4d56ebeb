"""Keys: a seed's key is fold_in(root, seed index); it is split into named streams, and each stream
is folded with the index of the comparison (or of the round), from 1.

Hence a number drawn for comparison t of a seed depends on the root, the seed's index, the stream
and t alone: not on chunks, blocks, devices, the other seeds, or on whether a run was resumed.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.arguments import require_known
from jaxduel.errors import InputError
from jaxduel.numerics.threefry import bits, fold_in, host_bits, host_fold_in, is_threefry
from jaxduel.simulation.compiling import compiled_once
from jaxduel.simulation.devices import placed

ENVIRONMENT, POLICY, INIT, SHUFFLE, QUIET, SHARES = _STREAMS = range(6)
"""Streams: outcomes, `act` and `update`, `init`, the order of the arms, the lengths of quiet runs,
and the arms of those that have several."""

GENERATORS = ("threefry2x32", "philox4x32")
"""PRNGs whose numbers do not change under vmap, on any device."""
_UNSTABLE = ("rbg", "unsafe_rbg")
"""PRNGs that under vmap draw all numbers from the first key: a seed's would depend on its block."""


def is_key(value: Any) -> TypeGuard[jax.Array]:
    """True for typed JAX keys."""
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def root_key(seed: int | jax.Array, prng: str = GENERATORS[0]) -> jax.Array:
    """The root of all keys of a simulation.

    Args:
      seed: an integer from 0 to 2^32 - 1, or a typed JAX key, which is taken as it is.
      prng: one of `GENERATORS`; ignored for a key.

    Raises:
      InputError: as `require_root`.
    """
    require_root(seed, prng)
    if is_key(seed):
        return seed
    prng = str(prng)  # of NumPy's strings, which JAX does not know
    if prng == "threefry2x32":  # `jax.random.key`, without compiling
        words: Any = np.array([0, seed], np.uint32)
        return jax.random.wrap_key_data(words, impl=prng)
    return jax.random.key(int(seed), impl=prng)


def host_generator(key: jax.Array) -> np.random.Generator:
    """NumPy's generator by a key, for numbers in float64, and where JAX would compile for seconds
    for each shape.

    Raises:
      InputError: as `require_root`.
    """
    return np.random.default_rng(np.asarray(jax.random.bits(root_key(key), (8,))))


def require_root(seed: Any, prng: str) -> None:
    """Raises InputError for an unknown generator, a seed out of range, several keys, or one whose
    numbers change under vmap."""
    if is_key(seed):
        if seed.ndim > 0:
            raise InputError(f"seed must be one key, not an array of the shape {seed.shape}.")
        if (kind := str(jax.random.key_impl(seed))) in _UNSTABLE:
            raise InputError(
                f"seed must not be a key of {kind}, whose numbers change under vmap: give an "
                f"integer, or a key of {' or '.join(GENERATORS)}."
            )
        return
    require_known("random number generator", prng, GENERATORS)
    try:
        exact = int(seed) == seed
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise InputError(
            "seed must be a whole number or a typed JAX key, as jax.random.key makes one, not "
            f"{seed!r}."
        )
    if not 0 <= int(seed) < 2**32:
        raise InputError(f"seed must be from 0 to 2^32 - 1, not {seed}.")


def streams(root: jax.Array, indices: np.ndarray, number: int) -> tuple[list[jax.Array], Any]:
    """The keys of all streams of some seeds, and random words of their stream SHUFFLE.

    NumPy computes those of Threefry, in far less time than a program for it takes to compile.

    Args:
      root: () typed key, or (C,), one for each cell.
      indices: (...) int32, of the seeds; (C, L) if there are several roots.
      number: of words for each seed.

    Returns:
      (...) typed keys for each stream, in the order of their names, and (..., number) uint32.
    """
    if not is_threefry(root):
        return _streams(root, indices, number=number)
    words_of_roots = np.asarray(jax.random.key_data(root))
    if root.ndim:
        words_of_roots = words_of_roots[:, None]
    seeds = host_fold_in(words_of_roots, indices)
    names = np.arange(len(_STREAMS)).reshape(-1, *(1 for _ in indices.shape))
    words = host_fold_in(seeds, names)
    keys = [jax.random.wrap_key_data(x, impl="threefry2x32") for x in words]  # type: ignore[arg-type]
    return keys, host_bits(words[SHUFFLE], number)


def folded(keys: jax.Array, number: int) -> jax.Array:
    """Keys, (...), with an int32 folded into each; by NumPy where they are Threefry's."""
    if not is_threefry(keys):
        return _folded(keys, np.int32(number))
    numbers = np.full(keys.shape, number, np.int32)
    words: Any = host_fold_in(np.asarray(jax.random.key_data(keys)), numbers)
    return placed(jax.random.wrap_key_data(words, impl="threefry2x32"), keys)


@compiled_once
def _folded(keys: jax.Array, number: jax.Array) -> jax.Array:
    """`folded` for any generator, by JAX."""
    drawn = jax.vmap(fold_in, in_axes=(0, None))(keys.ravel(), number)
    return drawn.reshape(keys.shape)


@compiled_once(static_argnames="number")
def _streams(root: jax.Array, indices: jax.Array, *, number: int) -> tuple[list[jax.Array], Any]:
    """`streams` for any generator, by JAX."""

    def of_seed(root: jax.Array, index: jax.Array) -> tuple[list[jax.Array], jax.Array]:
        seed = fold_in(root, index)
        keys = [fold_in(seed, name) for name in _STREAMS]
        return keys, bits(keys[SHUFFLE], (number,))

    roots = jnp.broadcast_to(root[:, None] if root.ndim else root, indices.shape)
    drawn = jax.vmap(of_seed)(roots.ravel(), indices.ravel())
    return jax.tree.map(lambda x: x.reshape(*indices.shape, *x.shape[1:]), drawn)
