"""The optimum over R_winner (2) of Komiyama et al. (ICML 2016), inside a step: a simplex method.

Variables are e_ij = q_ij d(mu_ij, 1/2), one for each pair. The method walks over vertices of the
polyhedron {e >= 0, some constraints of (2)}, from e = 0 on: as long as the vertex violates a
constraint, the most violated one is found by sorting and becomes one of those that define the
vertex (a step of the dual simplex method, the constraints being generated when they are needed).
Only the P constraints that define the vertex are represented, P = K (K - 1) / 2.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.policies.copeland_rmed.evidence import Standing, members, tightest

TOLERANCE = 1e-4
"""Tolerated violation of a constraint "at least 1", or of e >= 0."""
_SPREAD = 1e-4
"""Largest relative perturbation of costs; it breaks ties, so that the walk does not cycle."""
_TURNS = 24
"""Most turns of the walk, per arm."""


class Vertex(NamedTuple):
    """A vertex, optimal for the constraints that define it.

    With s the slacks of these, e = e0 + M s, and the cost is a constant plus (M' c) s, where
    M' c >= 0.
    """

    e: jax.Array  # (P,) float32: e0
    moves: jax.Array  # (P, P) float32: M
    ahead: jax.Array  # (K, K) bool: True where `Standing.lead` was positive when it was found
    found: jax.Array  # () bool: True if it satisfies all constraints of (2)
    stalls: jax.Array  # () int32: times that the walk was given up


def no_vertex(num_arms: int) -> Vertex:
    """The vertex e = 0 from which the walk begins, not `found`."""
    pairs = num_arms * (num_arms - 1) // 2
    return Vertex(
        e=jnp.zeros(pairs, jnp.float32),
        moves=jnp.eye(pairs, dtype=jnp.float32),
        ahead=jnp.zeros((num_arms, num_arms), bool),
        found=jnp.array(False),
        stalls=jnp.int32(0),
    )


class _Walk(NamedTuple):
    """The dual simplex method on its way."""

    turns: jax.Array  # () int32: pivots made
    e: jax.Array  # (P,) float32, as in `Vertex`
    moves: jax.Array  # (P, P) float32, as in `Vertex`
    rates: jax.Array  # (P,) float32: cost of each move per unit of slack
    violated: jax.Array  # () bool: whether a constraint was found to be violated


def optimal_vertex(last: Vertex, now: Standing, winner: jax.Array, wanted: jax.Array) -> Vertex:
    """A vertex of the smallest cost.

    The last one is kept while nobody overtakes another and no move from it has a negative cost.
    Otherwise the walk begins anew.

    Args:
      last: the last one.
      now: the standing.
      winner: () int32, the only empirical Copeland winner.
      wanted: () bool; if False, there is no walk, and the result is not `found`.
    """
    num = len(now.losses)
    rows, columns = _pairs(num)
    pairs = len(rows)
    ahead = now.lead > 0
    spread = 1 + _SPREAD * ((lax.iota(jnp.float32, pairs) * 0.618034) % 1)
    costs = jnp.minimum(now.costs[rows, columns], now.costs[columns, rows])
    costs = jnp.where(jnp.isfinite(costs), costs, 1.0) * spread

    rates = jnp.sum(costs[:, None] * last.moves, axis=0)
    level = jnp.sum(costs * last.e)
    same = last.found & wanted & jnp.all(ahead == last.ahead)
    keeps = same & jnp.all(rates >= -1e-5 * level)

    def turn(at: _Walk) -> _Walk:
        turns, e, moves, rates, _ = at
        lowest = lax.argmin(e, 0, jnp.int32)
        negative = e[lowest] < -TOLERANCE
        table = table_of(jnp.maximum(e, 0.0), num)
        worst = tightest(now, winner, table, jnp.float32(-jnp.inf))
        of_winner, of_rival = members(now, winner, table, worst)
        by_winner = (rows == winner) & of_winner[columns] | (columns == winner) & of_winner[rows]
        by_rival = (rows == worst.rival) & of_rival[columns]
        by_rival = by_rival | (columns == worst.rival) & of_rival[rows]
        itself = jnp.arange(pairs, dtype=jnp.int32) == lowest
        row = jnp.where(negative, itself, by_winner | by_rival)
        short = jnp.where(negative, -e[lowest], 1 - jnp.sum(jnp.where(row, e, 0.0)))
        violated = short > TOLERANCE

        gains = jnp.sum(jnp.where(row[:, None], moves, 0.0), axis=0)
        useful = gains > 1e-3
        ratios = jnp.where(useful, jnp.maximum(rates, 0.0) / jnp.where(useful, gains, 1.0), jnp.inf)
        leaving = lax.argmin(ratios, 0, jnp.int32)
        step = moves[:, leaving] / gains[leaving]
        here = jnp.arange(pairs, dtype=jnp.int32) == leaving
        new_moves = moves - step[:, None] * jnp.where(here, gains - 1, gains)
        ratio = ratios[leaving]
        new_rates = jnp.where(here, ratio, jnp.maximum(rates - ratio * gains, 0.0))
        possible = violated & jnp.any(useful)
        return _Walk(
            turns=jnp.where(possible, turns + 1, jnp.where(violated, limit, turns)),
            e=jnp.where(possible, e + step * short, e),
            moves=jnp.where(possible, new_moves, moves),
            rates=jnp.where(possible, new_rates, rates),
            violated=violated,
        )

    limit = _TURNS * num

    fresh = no_vertex(num)
    walk = wanted & ~keeps
    begin = _Walk(jnp.int32(0), fresh.e, fresh.moves, costs, walk)
    end = lax.while_loop(lambda at: at.violated & (at.turns < limit), turn, begin)
    return Vertex(
        e=jnp.where(keeps, last.e, end.e),
        moves=jnp.where(keeps, last.moves, end.moves),
        ahead=ahead,
        found=wanted & ~end.violated,
        stalls=last.stalls + (walk & end.violated),
    )


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
