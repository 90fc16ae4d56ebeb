"""Choices: the largest number, a uniform member of a set, and a uniformly random order."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.lanes_last import lanes_last
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.reductions import largest, least
from jaxduel.numerics.target import for_accelerator
from jaxduel.numerics.threefry import bits

_WORD = 32

_FEW = 8
"""Up to this many numbers `lax.argmax` is the faster way."""


def masked_choice(mask: jax.Array, u: jax.Array) -> jax.Array:
    """Uniform choice of a member of a non-empty set, by one uniform number.

    It is member number floor(u |set|), counted from 0 in index order: uniform when u is. The mask
    is packed into 32-bit words and the member found by binary search over population counts, which
    on a CPU costs a fraction of a cumulative sum over the arms.

    Args:
      mask: (K,) bool, true for the members; at least one must be true (else the result is
        meaningless).
      u: () float32 in [0, 1).

    Returns:
      () int32, the index of the selected member.

    Example:
      >>> import jax.numpy as jnp
      >>> from jaxduel.numerics import masked_choice
      >>> members = jnp.array([False, True, False, True])
      >>> [int(masked_choice(members, jnp.float32(u))) for u in (0.2, 0.6)]
      [1, 3]
    """
    words = pack_bits(mask)
    counts = lax.population_count(words).astype(jnp.int32)
    ends = _prefix_sums(counts)
    size = ends[-1]
    wanted = jnp.minimum((u * size.astype(u.dtype)).astype(jnp.int32), size - 1)
    if len(ends) == 1:
        return nth_bit(words[0], wanted)
    starts = jnp.stack([jnp.zeros_like(size), *ends[:-1]])
    word = sum((wanted >= end).astype(jnp.int32) for end in ends[:-1])
    return word * _WORD + nth_bit(words[word], wanted - starts[word])


def count_true(mask: jax.Array) -> jax.Array:
    """The number of members of a set given as a (K, ...) bool mask: (...) int32.

    Example:
      >>> import jax.numpy as jnp
      >>> from jaxduel.numerics import count_true
      >>> int(count_true(jnp.array([False, True, True])))
      2
    """
    return jnp.sum(mask, axis=0, dtype=jnp.int32)


def first_largest(values: jax.Array) -> jax.Array:
    """The first index of the largest number.

    Vectorized: on a CPU `lax.argmax` runs in one lane after another, together with the work that
    makes the numbers.

    Args:
      values: (K,) float32, no NaN.

    Returns:
      () int32.
    """
    if for_accelerator() or len(values) <= _FEW:
        return lax.argmax(values, 0, jnp.int32)
    values = materialize(values, values[0] != values[0])  # never true: no NaN
    places = lax.iota(jnp.int32, len(values))
    return least(jnp.where(values == largest(values), places, len(values)))


def first_least(values: jax.Array) -> jax.Array:
    """The first index of the least number: see `first_largest`."""
    return first_largest(-values)


def pack_rows(mask: jax.Array) -> jax.Array:
    """The bits of a (K, ...) mask in words, lowest index in the lowest bit: (ceil(K / 32), ...)
    uint32."""
    num, *rest = mask.shape
    width = min(num, _WORD)
    whole = num // width * width  # the rest apart: XLA's loops do not vectorize where they pad
    parts = mask[:whole].reshape(-1, width, *rest), mask[None, whole:]
    return jnp.concatenate([_words(part) for part in parts if part.size > 0])


pack_bits = lanes_last(pack_rows)
"""`pack_rows`, for all lanes at once along the last axis."""


def _words(parts: jax.Array) -> jax.Array:
    """The words of the bits along the second axis: (W, ...) uint32."""
    places = lax.broadcasted_iota(jnp.uint32, parts.shape, 1)
    return jnp.sum(parts.astype(jnp.uint32) << places, axis=1, dtype=jnp.uint32)


def _prefix_sums(counts: jax.Array) -> list[jax.Array]:
    """Inclusive prefix sums of a few words' counts, unrolled."""
    ends = [counts[0]]
    for i in range(1, counts.shape[0]):
        ends.append(ends[-1] + counts[i])
    return ends


def nth_bit(bits: jax.Array, n: jax.Array) -> jax.Array:
    """The position of set bit number n (from 0) of a 32-bit word."""
    position = jnp.zeros_like(n)
    for width in (16, 8, 4, 2, 1):
        low = lax.population_count(bits & jnp.uint32((1 << width) - 1)).astype(jnp.int32)
        above = n >= low
        n = jnp.where(above, n - low, n)
        bits = jnp.where(above, bits >> width, bits)
        position = position + jnp.where(above, width, 0)
    return position


def random_order(mask: jax.Array, key: jax.Array) -> jax.Array:
    """The indices where a mask is true in uniformly random order, then the others.

    Args:
      mask: (N,) bool.
      key: used for nothing else.

    Returns:
      (N,) int32.
    """
    words = bits(key, mask.shape) >> 1
    last = jnp.uint32(2**32 - 1)
    return jnp.argsort(jnp.where(mask, words, last)).astype(jnp.int32)
