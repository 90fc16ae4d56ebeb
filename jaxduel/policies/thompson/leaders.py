"""Probabilities that each of a few candidates of D-TS wins the vote."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.sums import sum_in_order

MOST_CANDIDATES = 3
"""Most candidates whose law is summed up: votes among them fall in at most 2^3 ways."""

_PAIRS = tuple(itertools.combinations(range(MOST_CANDIDATES), 2))
_PAIRS_OF = tuple(
    tuple((n, pair) for n, pair in enumerate(_PAIRS) if i in pair) for i in range(MOST_CANDIDATES)
)
_OTHERS = tuple(tuple(j for j in range(MOST_CANDIDATES) if j != i) for i in range(MOST_CANDIDATES))
_UNROLLED = 8


def few(candidates: jax.Array) -> jax.Array:
    """True if there are few enough candidates for `chances_to_lead`: () bool."""
    return count_true(candidates) <= MOST_CANDIDATES


def chances_to_lead(tail: jax.Array, candidates: jax.Array, active: jax.Array) -> jax.Array:
    """Probability of each candidate to be drawn uniformly from the candidates with most votes.

    Votes of different pairs are independent. Votes among candidates may fall in eight ways; given
    one of these ways, the candidates' numbers of votes are independent sums of independent coins.
    All terms are positive, so that small probabilities are relatively accurate.

    Args:
      tail: (K, K) float32, `jaxduel.numerics.signed_tail` of theta_ij: P(theta_ij > 1/2) is s
        where s > 0, else 1 + s.
      candidates: (K,) bool, from one to `MOST_CANDIDATES` of them.
      active: (K,) bool, the arms that vote.

    Returns:
      (K,) float32 that sum to 1, zero except for candidates.
    """
    ranks = jnp.arange(MOST_CANDIDATES, dtype=jnp.int32)
    place = jnp.cumsum(candidates, dtype=jnp.int32) - 1
    which = candidates & (place == ranks[:, None])
    exists = jnp.any(which, axis=1)
    arms = [lax.argmax(which[rank], 0, jnp.int32) for rank in range(MOST_CANDIDATES)]
    rows = jnp.stack([tail[arm] for arm in arms])
    exactly, fewer = _shifted_laws(rows, exists, active & ~candidates)
    among = jnp.stack([rows[i][arms[j]] for i, j in _PAIRS])
    second = jnp.stack([exists[j] for _, j in _PAIRS])
    if_won, if_lost = jnp.where(second, _above(among), 0.0), jnp.where(second, _above(-among), 1.0)
    ways = lax.iota(jnp.int32, 2 ** len(_PAIRS))[:, None] >> lax.iota(jnp.int32, len(_PAIRS))
    first_wins = ways & 1 == 0  # (ways, pairs)
    chances = jnp.prod(jnp.where(first_wins, if_won, if_lost), axis=1)
    won = jnp.stack(
        [
            sum((first_wins[:, n] == (i == pair[0])).astype(jnp.int32) for n, pair in _PAIRS_OF[i])
            for i in range(MOST_CANDIDATES)
        ],
        axis=1,
    )
    own, below = exactly[won, ranks], fewer[won, ranks]  # (ways, C, K)
    f, below_f = (jnp.stack([x[:, one] for one, _ in _OTHERS], axis=1) for x in (own, below))
    g, below_g = (jnp.stack([x[:, two] for _, two in _OTHERS], axis=1) for x in (own, below))
    alone, tied = below_f * below_g, (f * below_g + below_f * g) / 2 + f * g / 3
    leads = sum_in_order(chances[:, None, None] * own * (alone + tied), 0)
    return jnp.sum(jnp.where(which, sum_in_order(leads, 1)[:, None], 0.0), axis=0)


def _above(s: jax.Array) -> jax.Array:
    """P(theta > 1/2) of a signed tail."""
    return jnp.where(s < 0, 1.0 + s, s)


def _shifted_laws(
    rows: jax.Array, exists: jax.Array, voters: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The probabilities that candidates win exactly v votes, and fewer, v = 0 .. K - 1, given 0, 1,
    ... votes won elsewhere.

    Args:
      rows: (C, K) float32, signed tails of candidates.
      exists: (C,) bool; a candidate that does not exist never wins v votes, and always fewer.
      voters: (K,) bool, the arms against which votes count.

    Returns:
      Two (C, C, K) float32 arrays, the votes won elsewhere first.
    """
    num, count = rows.shape[1], rows.shape[0]

    def with_vote(law: jax.Array, vote: tuple[jax.Array, ...]) -> tuple[jax.Array, None]:
        s, counts = vote
        win, lose = jnp.where(counts, _above(s), 0.0), jnp.where(counts, _above(-s), 1.0)
        return law * lose[:, None] + _later(law, 1) * win[:, None], None

    nothing = jnp.zeros((count, num), jnp.float32).at[:, 0].set(1.0)
    law, _ = lax.scan(with_vote, nothing, (rows.T, voters), unroll=_UNROLLED)
    below = _later(jnp.cumsum(law, axis=1), 1)
    there = exists[:, None]
    exactly = jnp.stack([jnp.where(there, _later(law, won), 0.0) for won in range(count)])
    fewer = jnp.stack([jnp.where(there, _later(below, won), 1.0) for won in range(count)])
    return exactly, fewer


def _later(law: jax.Array, by: int) -> jax.Array:
    """The law moved from v to v + `by`, along the last axis."""
    return jnp.pad(law, ((0, 0), (by, 0)))[:, : law.shape[1]]
