"""Win counts: how a duel's outcome enters them."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.policies.base import Duel


class Lesson(NamedTuple):
    """What one duel taught: `winner` beat `loser` `amount` (0 or 1) times."""

    winner: jax.Array  # () int32
    loser: jax.Array  # () int32
    amount: jax.Array  # () int32


def lesson(duel: Duel, outcome: jax.Array) -> Lesson:
    """Reads an outcome: nothing is learnt from a withheld one, nor from an arm against itself."""
    left_won = outcome > 0
    taught = (outcome != 0) & (duel.left != duel.right)
    return Lesson(
        winner=jnp.where(left_won, duel.left, duel.right),
        loser=jnp.where(left_won, duel.right, duel.left),
        amount=taught.astype(jnp.int32),
    )


def add_lesson(wins: jax.Array, learnt: Lesson) -> jax.Array:
    """The (K, K) win counts after one duel."""
    return wins.at[learnt.winner, learnt.loser].add(learnt.amount, mode="promise_in_bounds")
