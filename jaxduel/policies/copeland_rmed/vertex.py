"""The optimum over R_winner (2) of Komiyama et al. (ICML 2016), inside a step: a simplex method.

A vertex of the polyhedron of (2) is where P constraints hold with equality; only these are
represented, and others are found by sorting when they are needed. A step of the dual method goes to
where the most violated constraint holds, a step of the primal method along the move that saves the
most, as far as the constraints allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.policies.copeland_rmed.constraints import (
    Defining,
    Row,
    at_zero,
    bound_row,
    outdated,
    pair_costs,
    tightest_row,
)
from jaxduel.policies.copeland_rmed.evidence import Standing

TOLERANCE = 1e-4
"""Tolerated violation of a constraint "at least 1", or of e >= 0."""
_SAVING = 1e-5
"""Least share of the cost, per unit of slack, that a move must save to be worth a step."""
_PIVOT, _SMALL = 1e-3, 1e-5
"""The smallest pivot, and the size below which an entry of a move counts as 0."""
_TURNS = 64
"""Most steps to a vertex, per arm."""
_AGE = 128
"""Steps per arm after which the method restarts from e = 0: rounding adds up."""


class Vertex(NamedTuple):
    """A vertex, optimal for the constraints that define it.

    With s the slacks of these constraints, e = e0 + M s, and the cost is a constant plus (M' c) s,
    where M' c >= 0.
    """

    e: jax.Array  # (P,) float32: e0
    moves: jax.Array  # (P, P) float32: M
    defining: Defining  # the constraints
    age: jax.Array  # () int32: steps from e = 0 to it
    ahead: jax.Array  # (K, K) bool: True where `Standing.lead` was positive when it was found
    found: jax.Array  # () bool: True if it is optimal for all constraints of (2), as they are now
    stalls: jax.Array  # () int32: how often none was found


def no_vertex(num_arms: int) -> Vertex:
    """The vertex e = 0, not `found`."""
    pairs = num_arms * (num_arms - 1) // 2
    return Vertex(
        e=jnp.zeros(pairs, jnp.float32),
        moves=jnp.eye(pairs, dtype=jnp.float32),
        defining=at_zero(num_arms),
        age=jnp.int32(0),
        ahead=jnp.zeros((num_arms, num_arms), bool),
        found=jnp.array(False),
        stalls=jnp.int32(0),
    )


def optimal_vertex(last: Vertex, now: Standing, winner: jax.Array, wanted: jax.Array) -> Vertex:
    """A vertex of the smallest cost.

    While no arm overtakes another, the last vertex satisfies all constraints: it is kept if no move
    from it has a negative cost; otherwise the primal method goes on from it. If arms have overtaken
    others, but the winner and its number of losses are the same, outdated constraints are released
    first; then the dual method goes on, with negative costs taken as 0, and the primal method from
    there. Otherwise, or if the vertex is old, the dual method begins at e = 0, where no cost is
    negative.

    Args:
      last: the last vertex.
      now: the standing.
      winner: () int32, the only empirical Copeland winner.
      wanted: () bool; if False, the last vertex is returned, as not `found`.
    """
    costs = pair_costs(now)
    same = (last.age > 0) & jnp.all((now.lead > 0) == last.ahead)
    keeps = same & ~_can_save(costs, last.e, _rates(costs, last.moves))
    new = compacted_cond(_solved, wanted & ~keeps, last, now, winner, together=1)
    return new._replace(found=wanted & (keeps | new.found))


class _At(NamedTuple):
    """The simplex method in progress; fields as in `Vertex`."""

    turns: jax.Array  # () int32: steps made
    e: jax.Array
    moves: jax.Array
    defining: Defining
    rates: jax.Array  # (P,) float32: cost of each move per unit of slack
    goes_on: jax.Array  # () bool: False once there is nothing left to do


class _Tried(NamedTuple):
    """Attempts to find a vertex: from the last one, then from e = 0."""

    at: _At
    age: jax.Array  # () int32, as in `Vertex`
    found: jax.Array  # () bool
    goes_on: jax.Array  # () bool: whether another attempt is needed


class _Reach(NamedTuple):
    """An upper bound of how far a move can go."""

    length: jax.Array  # () float32
    row: Row  # the constraint that ends it
    shorter: jax.Array  # () bool: whether the last constraint looked at has shortened it


def _solved(last: Vertex, now: Standing, winner: jax.Array) -> Vertex:
    """`optimal_vertex` where the last vertex is not kept."""
    num = len(now.losses)
    limit = _TURNS * num
    costs = pair_costs(now)

    def stale(defining: Defining) -> jax.Array:
        return outdated(defining, last.ahead, now, winner)

    def release(at: _At) -> _At:
        """Releases an outdated constraint: its slack falls until some e is 0."""
        leaving = lax.argmax(stale(at.defining), 0, jnp.int32)
        first, length = _room(at.e, -at.moves[:, leaving])
        new = _stepped(at, bound_row(first, num), leaving, -length, limit)
        return new._replace(goes_on=jnp.any(stale(new.defining)))

    def repair(at: _At) -> _At:
        """A step of the dual method."""
        lowest = lax.argmin(at.e, 0, jnp.int32)
        negative = at.e[lowest] < -TOLERANCE
        row = _select(negative, bound_row(lowest, num), tightest_row(now, winner, at.e))
        short = jnp.where(negative, 0.0, 1.0) - jnp.sum(jnp.where(row.pairs, at.e, 0.0))
        gains = _gains(at.moves, row)
        useful = gains > _PIVOT
        ratios = jnp.where(useful, at.rates / jnp.where(useful, gains, 1.0), jnp.inf)
        leaving = lax.argmin(ratios, 0, jnp.int32)
        length = jnp.where(useful[leaving], short / gains[leaving], jnp.inf)
        new = _stepped(at, row, leaving, length, limit)
        new = new._replace(rates=jnp.maximum(new.rates, 0.0))
        return _select(short > TOLERANCE, new, at._replace(goes_on=jnp.array(False)))

    def slide(at: _At) -> _At:
        """A step of the primal method."""
        entering = lax.argmin(at.rates, 0, jnp.int32)
        move = at.moves[:, entering]

        def shorten(reach: _Reach) -> _Reach:
            row = tightest_row(now, winner, at.e + reach.length * move)
            slope = jnp.sum(jnp.where(row.pairs, move, 0.0))
            spare = jnp.maximum(jnp.sum(jnp.where(row.pairs, at.e, 0.0)) - 1, 0.0)
            length = spare / -slope
            violated = spare + reach.length * slope < -TOLERANCE
            shorter = violated & (length < reach.length)
            nearer = _Reach(length, row, shorter)
            return _select(shorter, nearer, reach._replace(shorter=shorter))

        first, length = _room(at.e, move)
        begin = _Reach(length, bound_row(first, num), jnp.array(True))
        reach = lax.while_loop(lambda reach: reach.shorter, shorten, begin)
        new = _stepped(at, reach.row, entering, reach.length, limit)
        new = new._replace(rates=_rates(costs, new.moves))
        return new._replace(goes_on=_can_save(costs, new.e, new.rates))

    def go(step: Callable[[_At], _At], at: _At, begins: jax.Array) -> _At:
        """Makes steps; `goes_on` is True at the end if the method is given up."""
        begun = at._replace(goes_on=begins)
        return lax.while_loop(lambda at: at.goes_on & (at.turns < limit), step, begun)

    def attempt(tried: _Tried) -> _Tried:
        at = go(release, tried.at, jnp.any(stale(tried.at.defining)))
        failed = at.goes_on
        at = at._replace(rates=jnp.maximum(_rates(costs, at.moves), 0.0))
        at = go(repair, at, ~failed)
        failed = failed | at.goes_on
        at = at._replace(rates=_rates(costs, at.moves))
        at = go(slide, at, ~failed & _can_save(costs, at.e, at.rates))
        failed = failed | at.goes_on
        return _Tried(
            at=_select(failed, zero, at),
            age=jnp.where(failed, 0, tried.age + at.turns),
            found=~failed,
            goes_on=failed & (tried.age > 0),
        )

    arms = lax.iota(jnp.int32, num)
    losses = jnp.where(now.losses < num, jnp.sum(last.ahead, axis=0, dtype=jnp.int32), num)
    second = jnp.min(jnp.where(arms == winner, num, losses))
    stands = (losses[winner] == now.fewest) & (second > now.fewest) & (last.age < _AGE * num)
    origin = no_vertex(num)
    unused = jnp.zeros(len(costs), jnp.float32)
    zero = _At(jnp.int32(0), origin.e, origin.moves, origin.defining, unused, jnp.array(False))
    there = zero._replace(e=last.e, moves=last.moves, defining=last.defining)
    age = jnp.where(stands, last.age, 0)
    begin = _Tried(_select(stands, there, zero), age, jnp.array(False), jnp.array(True))
    end = lax.while_loop(lambda tried: tried.goes_on, attempt, begin)
    return Vertex(
        e=end.at.e,
        moves=end.at.moves,
        defining=end.at.defining,
        age=end.age,
        ahead=(now.lead > 0) & end.found,
        found=end.found,
        stalls=last.stalls + ~end.found,
    )


def _select(condition: jax.Array, one: Any, other: Any) -> Any:
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), one, other)


def _rates(costs: jax.Array, moves: jax.Array) -> jax.Array:
    """Cost of each move per unit of slack: (P,) float32."""
    return jnp.sum(costs[:, None] * moves, axis=0)


def _can_save(costs: jax.Array, e: jax.Array, rates: jax.Array) -> jax.Array:
    return jnp.min(rates) < -_SAVING * jnp.sum(costs * e)


def _gains(moves: jax.Array, row: Row) -> jax.Array:
    """Change of a constraint's sum by each move, per unit of slack: (P,) float32."""
    return jnp.sum(jnp.where(row.pairs[:, None], moves, 0.0), axis=0)


def _room(e: jax.Array, move: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The pair whose e a move takes to 0 first, and the length of the move until then."""
    falls = move < -_SMALL
    lengths = jnp.where(falls, jnp.maximum(e, 0.0) / jnp.where(falls, -move, 1.0), jnp.inf)
    first = lax.argmin(lengths, 0, jnp.int32)
    return first, lengths[first]


def _stepped(at: _At, row: Row, leaving: jax.Array, length: jax.Array, limit: int) -> _At:
    """Follows a move until a constraint holds, which replaces the constraint that is left.

    Args:
      at: where it begins.
      row: the constraint.
      leaving: () int32, the number of the move, and of the constraint left.
      length: () float32, of the move; where it is infinite, or the pivot is small, the method is
        given up.
      limit: number of steps at which the method is given up.
    """
    gains = _gains(at.moves, row)
    here = lax.iota(jnp.int32, len(gains)) == leaving
    move, pivot = at.moves[:, leaving], gains[leaving]
    ratio = at.rates[leaving] / pivot
    rivals, own = at.defining
    new = _At(
        turns=at.turns + 1,
        e=at.e + length * move,
        moves=at.moves - (move / pivot)[:, None] * jnp.where(here, gains - 1, gains),
        defining=Defining(
            jnp.where(here, row.rival, rivals), jnp.where(here[:, None], row.own, own)
        ),
        rates=jnp.where(here, ratio, at.rates - ratio * gains),
        goes_on=at.goes_on,
    )
    possible = (jnp.abs(pivot) > _PIVOT) & jnp.isfinite(length)
    return _select(possible, new, at._replace(turns=jnp.int32(limit)))
