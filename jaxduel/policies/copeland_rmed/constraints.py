"""The linear program over R_winner (2) of Komiyama et al. (ICML 2016), in variables e.

Variables are e_ij = q_ij d(mu_ij, 1/2), one for each of the P = K (K - 1) / 2 pairs. Each must be
at least 0, and for each i2, I and S of (2) the sum of some e_ij must be at least 1.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.policies.copeland_rmed.evidence import Standing, members, tightest

_SPREAD = 1e-4
"""Largest relative perturbation of costs; it breaks ties, so that no method cycles."""
_NOBODY = -1
"""The rival of a constraint e >= 0."""


class Row(NamedTuple):
    """A constraint: the e of some pairs sum to at least 1, or the e of one pair is at least 0."""

    pairs: jax.Array  # (P,) bool
    rival: jax.Array  # () int32: i2; -1 for e >= 0
    own: jax.Array  # (K,) bool: I


class Defining(NamedTuple):
    """The P constraints that define a vertex, with the data that `outdated` needs."""

    rivals: jax.Array  # (P,) int32, as in `Row`
    own: jax.Array  # (P, K) bool, as in `Row`


def at_zero(num_arms: int) -> Defining:
    """The constraints that define e = 0."""
    pairs = num_arms * (num_arms - 1) // 2
    return Defining(jnp.full(pairs, _NOBODY, jnp.int32), jnp.zeros((pairs, num_arms), bool))


def pair_costs(now: Standing) -> jax.Array:
    """The cost of the e of each pair: (P,) float32."""
    rows, columns = _pairs(len(now.losses))
    spread = 1 + _SPREAD * ((lax.iota(jnp.float32, len(rows)) * 0.618034) % 1)
    costs = jnp.minimum(now.costs[rows, columns], now.costs[columns, rows])
    return jnp.where(jnp.isfinite(costs), costs, 1.0) * spread


def bound_row(pair: jax.Array, num_arms: int) -> Row:
    """The constraint e >= 0 of a pair, () int32."""
    pairs = lax.iota(jnp.int32, num_arms * (num_arms - 1) // 2)
    return Row(pairs == pair, jnp.int32(_NOBODY), jnp.zeros(num_arms, bool))


def tightest_row(now: Standing, winner: jax.Array, e: jax.Array) -> Row:
    """The constraint of (2) with the smallest sum.

    Args:
      now: the standing.
      winner: () int32.
      e: (P,) float32; negative entries count as 0.
    """
    num = len(now.losses)
    rows, columns = _pairs(num)
    table = table_of(jnp.maximum(e, 0.0), num)
    worst = tightest(now, winner, table, jnp.float32(-jnp.inf))
    own, superior = members(now, winner, table, worst)
    of_winner = (rows == winner) & own[columns] | (columns == winner) & own[rows]
    of_rival = (rows == worst.rival) & superior[columns]
    of_rival = of_rival | (columns == worst.rival) & superior[rows]
    return Row(of_winner | of_rival, worst.rival, own)


def outdated(defining: Defining, ahead: jax.Array, now: Standing, winner: jax.Array) -> jax.Array:
    """Marks constraints of an earlier standing that no longer exist, for the same winner and L^(1).

    There is a constraint for each I of at most L^(2) - L^(1) + 1 arms that the winner beats, and
    each S of superiors of i2; |S| follows from L_i2, L^(1), |I| and whether i2 is in I.

    Args:
      defining: the constraints.
      ahead: (K, K) bool, who led in the earlier standing.
      now: the standing.
      winner: () int32.

    Returns:
      (P,) bool.
    """
    rivals, own = defining
    leads = now.lead > 0
    changed = jnp.any(leads != ahead, axis=0)[rivals]
    lost = jnp.any(own & ~leads[winner], axis=1)
    large = jnp.sum(own, axis=1, dtype=jnp.int32) > now.second - now.fewest + 1
    return (rivals != _NOBODY) & (changed | lost | large)


def table_of(e: jax.Array, num_arms: int) -> jax.Array:
    """e of every pair: (K, K) float32, symmetric, 0 on the diagonal."""
    arms = lax.iota(jnp.int32, num_arms)
    one, other = arms[:, None], arms
    larger, smaller = jnp.maximum(one, other), jnp.minimum(one, other)
    number = jnp.where(one == other, 0, larger * (larger - 1) // 2 + smaller)
    return jnp.where(one == other, 0.0, e[number])


def _pairs(num_arms: int) -> tuple[jax.Array, jax.Array]:
    """The arms of every pair, the one with the larger number first: (P,) int32 each.

    Computed, not looked up in an array of constants, which `compacted_cond` does not allow.
    """
    number = lax.iota(jnp.int32, num_arms * (num_arms - 1) // 2)
    begins = lax.iota(jnp.int32, num_arms - 1)
    begins = begins * (begins + 1) // 2
    larger = jnp.sum(number[:, None] >= begins, axis=1, dtype=jnp.int32)
    return larger, number - larger * (larger - 1) // 2
