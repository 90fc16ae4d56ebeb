"""Win counts: their update by a duel's outcome, an arm's lead in them, upper confidence bounds."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics.target import for_accelerator
from jaxduel.policies.base import Duel

FEW = 8
"""Up to so many counts a CPU adds to all of them faster than it finds the one."""


class DuelResult(NamedTuple):
    """The effect of one duel on win counts: `winner` beat `loser` `amount` (0 or 1) times."""

    winner: jax.Array  # () int32
    loser: jax.Array  # () int32
    amount: jax.Array  # () int32


def duel_result(duel: Duel, outcome: jax.Array) -> DuelResult:
    """Reads an outcome: nothing is learnt from a withheld one, nor from an arm against itself."""
    left_won = outcome > 0
    taught = (outcome != 0) & (duel.left != duel.right)
    return DuelResult(
        winner=jnp.where(left_won, duel.left, duel.right),
        loser=jnp.where(left_won, duel.right, duel.left),
        amount=taught.astype(jnp.int32),
    )


def add_result(wins: jax.Array, learnt: DuelResult) -> jax.Array:
    """The (K, K) win counts after one duel."""
    return wins.at[learnt.winner, learnt.loser].add(learnt.amount, mode="promise_in_bounds")


def add_at(counts: jax.Array, arm: jax.Array, amount: jax.Array) -> jax.Array:
    """Counts with an amount added to one of them.

    Args:
      counts: (K,) int32.
      arm: () int32.
      amount: () int32 or bool.
    """
    amount = amount.astype(counts.dtype)
    if for_accelerator() or len(counts) <= FEW:
        return counts + jnp.where(jnp.arange(len(counts), dtype=jnp.int32) == arm, amount, 0)
    return counts.at[arm].add(amount, mode="promise_in_bounds")


def tally_of(wins: jax.Array) -> jax.Array:
    """(K, 2, K): row i holds the wins of i over each arm, then its losses to each.

    The losses are the transposed wins once more, so that all that is known of an arm lies side by
    side: columns are slow to read.
    """
    return jnp.stack((wins, wins.T), axis=1)


def add_to_tally(tally: jax.Array, learnt: DuelResult) -> jax.Array:
    """The tally after one duel."""
    arms = jnp.stack((learnt.winner, learnt.loser))
    kinds = jnp.arange(2, dtype=jnp.int32)
    return tally.at[arms, kinds, arms[::-1]].add(
        learnt.amount, mode="promise_in_bounds", unique_indices=True
    )


def lead_of(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """n (mu - 1/2)^2 with the sign of mu - 1/2, for n = wins + losses and mu = wins / n.

    An arm is surely better by a confidence bound mu - sqrt(b / n) > 1/2 where this is above b.

    Args:
      wins: int32 of any shape.
      losses: int32 of the same shape.

    Returns:
      float32 of that shape, 0 for n = 0; exactly antisymmetric in its arguments.
    """
    ahead = (wins - losses).astype(jnp.float32)
    return 0.25 * ahead * (jnp.abs(ahead) / jnp.maximum(wins + losses, 1).astype(jnp.float32))


def log_bound(alpha: jax.Array | float, number: jax.Array) -> jax.Array:
    """alpha log t of comparison t, its number from 1: the bound of `upper_bounds`."""
    return alpha * jnp.log(number.astype(jnp.float32))


def upper_bounds(
    wins: jax.Array, losses: jax.Array, bound: jax.Array, unseen: jax.Array | float = 2.0
) -> jax.Array:
    """u = wins / n + sqrt(bound / n) for n = wins + losses; `unseen` where n = 0.

    Args:
      wins: int32 of any shape.
      losses: int32 of the same shape.
      bound: () float32, alpha log t.
      unseen: 2 is RUCB's "x / 0 := 1" in both terms.

    Returns:
      float32 of that shape.
    """
    w = wins.astype(jnp.float32)
    n = w + losses.astype(jnp.float32)
    seen = n > 0
    return jnp.where(seen, (w + jnp.sqrt(bound * n)) / jnp.where(seen, n, 1.0), unseen)
