"""One coin for each pair of arms, tossed once and read from both sides.

The pairs i < j are the upper triangle of a (K, K) square. Its upper half stays where it is; its
lower half, turned by 180 degrees, fills the places below the diagonal of the upper one. This makes
ceil(K/2) rows of K coins. To be read from both sides, each column is packed into words: i and j
then find their coin by a shift, in place of a transposed read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.numerics.memory import materialize
from jaxduel.numerics.reductions import add_rows
from jaxduel.numerics.target import for_accelerator

_WORD = 32


def numbers_of(num: int) -> np.ndarray:
    """i K + j of the pair i < j that each coin is for: (ceil(K/2), K) int32.

    A coin on the diagonal is for an arm and itself; if K is odd, the coins before it in the last
    row are for pairs that have another coin: `unfolded` does not read them.
    """
    table = np.arange(num * num, dtype=np.int32).reshape(num, num)
    half = _half(num)
    return np.where(_stays(num), table[:half], table[::-1, ::-1][:half])


def folded(table: jax.Array) -> jax.Array:
    """The entries [i, j] of a (K, K) table where the coins of the pairs i < j lie: (ceil(K/2), K).

    A few operations that XLA fuses into the toss.
    """
    half = _half(len(table))
    return jnp.where(_stays(len(table)), table[:half], table[::-1, ::-1][:half])


def unfolded(coins: jax.Array) -> jax.Array:
    """True where i beats j, for both orders of each pair: (K, K) bool, arbitrary on the diagonal.

    Args:
      coins: (ceil(K/2), K) bool, True where i beats j for the pair i < j.
    """
    half, num = coins.shape
    words = _words(coins)
    i, j = np.arange(num)[:, None], np.arange(num)
    row_i, row_j = np.minimum(i, num - 1 - i), np.minimum(j, num - 1 - j)
    turned = [word[::-1] for word in words]
    above = jnp.where(i < half, _word_of(row_i, words), _word_of(row_i, turned))
    words, turned = ([word[:, None] for word in both] for both in (words, turned))
    below = jnp.where(j < half, _word_of(row_j, words), _word_of(row_j, turned))
    shift = np.where(i < j, row_i, row_j).astype(np.uint32) % _WORD
    return jnp.where(i < j, above, ~below) >> shift & 1 == 1


def losses_of(coins: jax.Array, active: jax.Array) -> jax.Array:
    """Number of active arms that each active arm loses to: (K,) int32.

    A coin counts against j in its column, or against i in its row, and the turned ones likewise for
    K - 1 - j and K - 1 - i: population counts of the packed columns and rows find all, in O(K).

    Args:
      coins: (ceil(K/2), K) bool, True where i beats j for the pair i < j.
      active: (K,) bool.
    """
    half, num = coins.shape
    row, column = np.indices(coins.shape)
    stays = row < column
    turned = (row > column) & (num - 1 - row > row)  # the others have another coin
    first, last = active[:half], active[::-1][:half]
    coins = lax.optimization_barrier(coins) if for_accelerator() else coins
    columns = materialize(_words(coins, add_rows), ~jnp.any(active))
    rows = _words(~coins.T)

    def lost(words: list[jax.Array], which: np.ndarray, others: jax.Array) -> jax.Array:
        among = _words(jnp.asarray(which) & others[:, None])
        both = [word & own for word, own in zip(words, among, strict=True)]
        numbers = [lax.population_count(word).astype(jnp.int32) for word in both]
        return sum(numbers[1:], numbers[0])

    by_row = jnp.pad(
        jnp.stack([lost(rows, stays.T, active), lost(rows, turned.T, active[::-1])]),
        ((0, 0), (0, num - half)),
    )
    upright = lost(columns, stays, first) + by_row[0]
    return upright + (lost(columns, turned, last) + by_row[1])[::-1]


def _sum(values: jax.Array) -> jax.Array:
    return jnp.sum(values, axis=0, dtype=values.dtype)


def _words(mask: jax.Array, add: Callable[[jax.Array], jax.Array] = _sum) -> list[jax.Array]:
    """The bits of each column of an (N, M) mask: ceil(N / 32) words, (M,) uint32.

    Args:
      mask: the mask.
      add: the sum of columns: `add_rows` where a mask lies in memory by rows, and the words stay
        in memory; fused with other work, or of a transposed mask, it takes longer than `_sum`.
    """
    num = len(mask)
    bits = np.uint32(1) << np.arange(num, dtype=np.uint32)[:, None] % _WORD
    return [
        add(jnp.where(mask[at], bits[at], jnp.uint32(0)))
        for at in (slice(first, first + _WORD) for first in range(0, num, _WORD))
    ]


def _word_of(row: np.ndarray, words: Sequence[jax.Array]) -> jax.Array:
    """The word that holds a row's bit, from the words of a column, or of several, from row 0 on."""
    found = words[0]
    for number, word in enumerate(words[1:], 1):
        found = jnp.where(row < number * _WORD, found, word)
    return found


def _half(num: int) -> int:
    return num - num // 2


def _stays(num: int) -> np.ndarray:
    """True where a coin lies at [i, j] of its pair i < j: (ceil(K/2), K) bool."""
    return np.arange(_half(num))[:, None] < np.arange(num)
