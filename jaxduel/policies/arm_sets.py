"""Sets of arms as bits: K sets of K arms, which a policy changes and counts in O(K) words.

Sets are (ceil(K / 32), K) uint32: bit k % 32 of word [k // 32, i] says that arm k is in set i. A
single set is its column, (ceil(K / 32),) uint32.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.choice import nth_bit
from jaxduel.numerics.threefry import KeyWords, random_words, uniform

_WORD = 32


def empty_sets(num_arms: int) -> jax.Array:
    """K empty sets."""
    return jnp.zeros((-(-num_arms // _WORD), num_arms), jnp.uint32)


def sets_where(mask: jax.Array) -> jax.Array:
    """The sets of a (K, K) bool mask: `mask[k, i]` says whether k is in set i."""
    num = mask.shape[0]
    bits = mask.astype(jnp.uint32) << (jnp.arange(num, dtype=jnp.uint32)[:, None] % _WORD)
    whole = num // _WORD * _WORD  # the rest apart: XLA's loops do not vectorize where they pad
    parts = bits[:whole].reshape(-1, _WORD, num), bits[None, whole:]
    sums = [jnp.sum(part, axis=1, dtype=jnp.uint32) for part in parts if part.size > 0]
    return jnp.concatenate(sums)


def alone(arm: jax.Array, num_arms: int) -> jax.Array:
    """A single set of one arm; it is empty for arm -1."""
    place = arm - _WORD * jnp.arange(-(-num_arms // _WORD), dtype=jnp.int32)
    bit = jnp.uint32(1) << (place & (_WORD - 1)).astype(jnp.uint32)
    return jnp.where((place >= 0) & (place < _WORD), bit, jnp.uint32(0))


def only(arm: jax.Array, owner: jax.Array, num_arms: int) -> jax.Array:
    """K sets that are empty, but for `arm` in the set of `owner`."""
    columns = jnp.arange(num_arms, dtype=jnp.int32)
    rows = jnp.arange(-(-num_arms // _WORD), dtype=jnp.int32)[:, None]
    return jnp.where((rows == arm // _WORD) & (columns == owner), _bit(arm), jnp.uint32(0))


def contains(sets: jax.Array, arm: jax.Array, owner: jax.Array) -> jax.Array:
    """True if `arm` is in the set of `owner`: () bool."""
    word = sets.at[arm // _WORD, owner].get(mode="promise_in_bounds")
    return word & _bit(arm) != 0


def sizes(sets: jax.Array) -> jax.Array:
    """Number of arms in each set: (K,) int32."""
    return jnp.sum(lax.population_count(sets), axis=0, dtype=jnp.int32)


def as_mask(one: jax.Array, num_arms: int) -> jax.Array:
    """A single set as a mask: (K,) bool."""
    bits = (one[:, None] >> jnp.arange(_WORD, dtype=jnp.uint32)) & jnp.uint32(1)
    return bits.ravel()[:num_arms] != 0


def lowest(one: jax.Array) -> jax.Array:
    """The lowest arm of a single set that is not empty: () int32."""
    number = lax.argmax(one != 0, 0, jnp.int32)
    word = one[number]
    below = (word & (~word + jnp.uint32(1))) - jnp.uint32(1)
    return number * _WORD + lax.population_count(below).astype(jnp.int32)


def random_arm(sets: jax.Array, size: jax.Array, u: jax.Array) -> jax.Array:
    """A uniformly random arm of a set, or of each of several.

    Args:
      sets: (W,) or (W, N) uint32; the result for an empty set is meaningless.
      size: () or (N,) int32, the number of arms in the set.
      u: () or (N,) float32, uniform in [0, 1).

    Returns:
      () or (N,) int32: arm number floor(u size), from 0 in index order.
    """
    n = number_below(size, u)
    word, first, rest = sets[0], jnp.zeros_like(n), n
    passed = lax.population_count(sets[0]).astype(jnp.int32)
    for number in range(1, sets.shape[0]):
        beyond = n >= passed
        word = jnp.where(beyond, sets[number], word)
        first = jnp.where(beyond, number * _WORD, first)
        rest = jnp.where(beyond, n - passed, rest)
        passed = passed + lax.population_count(sets[number]).astype(jnp.int32)
    return first + nth_bit(word, rest)


def random_pair(sets: jax.Array, u: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(i, k) uniform among all k in set i, by two uniform numbers; there must be some."""
    size = sizes(sets)
    arms = jnp.arange(len(size), dtype=jnp.int32)
    ends = jnp.sum(jnp.where(arms[:, None] <= arms, size[:, None], 0), axis=0, dtype=jnp.int32)
    i = jnp.sum(ends[:-1] <= number_below(ends[-1], u), dtype=jnp.int32)
    return i, random_arm(sets[:, i], size[i], v)


def random_subsets(sets: jax.Array, most: jax.Array, seed: KeyWords, stream: int) -> jax.Array:
    """The sets, larger ones cut to a uniformly random subset of `most` arms, drawn one by one.

    Args:
      sets: (W, K) uint32.
      most: () int32, at least 0.
      seed: of the random words.
      stream: of the random words.
    """
    words, num = sets.shape
    arms, rows = jnp.arange(num, dtype=jnp.int32), jnp.arange(words, dtype=jnp.int32)[:, None]
    larger = sizes(sets) > most
    turns = jnp.where(jnp.any(larger), most, 0)

    def turn(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        number, rest, kept = carry
        u = uniform(random_words(seed, number * num + arms, stream)[0])
        arm = random_arm(rest, sizes(rest), u)
        one = jnp.where(rows == arm // _WORD, _bit(arm), jnp.uint32(0))
        return number + 1, rest & ~one, kept | one

    begin = jnp.int32(0), sets, jnp.zeros_like(sets)
    kept = lax.while_loop(lambda carry: carry[0] < turns, turn, begin)[2]
    return jnp.where(larger, kept, sets)


def number_below(size: jax.Array, u: jax.Array) -> jax.Array:
    """One of 0 .. size - 1, int32, from a uniform number in [0, 1)."""
    return jnp.minimum((u * size.astype(jnp.float32)).astype(jnp.int32), size - 1)


def _bit(arm: jax.Array) -> jax.Array:
    """The bit of its word that stands for an arm."""
    return jnp.uint32(1) << (arm % _WORD).astype(jnp.uint32)
