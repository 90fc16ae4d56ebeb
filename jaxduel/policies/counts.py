"""Win counts: their update by a duel's outcome, and an arm's lead in them."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.policies.base import Duel


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
