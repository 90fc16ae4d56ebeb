"""Estimates of CW-RMED and ECW-RMED, and the exploration that they demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true, evidence_against_half
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.marked import where_marked
from jaxduel.policies.copeland_rmed.evidence import (
    Level,
    Standing,
    confidence_bounds,
    confident_until,
    costs_of,
    ecw_due,
    ecw_level,
    ecw_levels,
    ecw_total,
    evidence_of,
    standing,
)


class Estimates(NamedTuple):
    """Win counts and evidence of every pair."""

    wins: jax.Array  # (K, K) int32: wins of i over j
    lead: jax.Array  # (K, K) float32: n_ij d(mu_ij, 1/2), negative where mu_ij < 1/2
    price: jax.Array  # (K, K) float32: 1 / d(mu_ij, 1/2); -n_ij where mu_ij = 1/2


class Demand(NamedTuple):
    """Winners and exploration that the estimates demand, for every t to come."""

    winners: jax.Array  # () int32: number of empirical Copeland winners
    losses: jax.Array  # (K,) int32: L_i
    evidence: jax.Array  # (K,) float32: of the superiors of each arm together, as in `Standing`
    confidence_bound: jax.Array  # () float32: an upper bound of all confident_until
    confident_until: jax.Array  # (K,) float32: the largest log t at which the counts are in R_i of
    # an empirical winner i; else -1
    best: jax.Array  # () int32: i* of line 11
    due_log_t: jax.Array  # (K, K) float32, symmetric: the log t above which n_ij < q*_ij log t
    levels: jax.Array  # (K, K) float32: [i1, i2], the costs of Theorem 5's levels where i1 is an
    # empirical winner; elsewhere an earlier value; the next search begins there
    program: Any  # the last vertex of CW-RMED's solver, its next start; None for ECW-RMED


Allocate = Callable[[Demand, Standing], Demand]
"""Line 11: a module-level function of the last demand and the standing."""

Adjust = Callable[[Demand, Estimates, jax.Array, jax.Array], tuple[Demand, jax.Array]]
"""The signature of `adjust_ecw`."""


def learn(
    estimates: Estimates, winner: jax.Array, loser: jax.Array, amount: jax.Array
) -> Estimates:
    """The estimates after one duel: two entries of each table change."""
    wins = estimates.wins.at[winner, loser].add(amount, mode="promise_in_bounds")
    lead, price = lead_and_price(wins[winner, loser], wins[loser, winner])
    itself = winner == loser
    lead, price = jnp.where(itself, 0.0, lead), jnp.where(itself, 0.0, price)
    mode = "promise_in_bounds"
    leads = estimates.lead.at[winner, loser].set(lead, mode=mode)
    prices = estimates.price.at[winner, loser].set(price, mode=mode)
    return Estimates(
        wins=wins,
        lead=leads.at[loser, winner].set(-lead, mode=mode),
        price=prices.at[loser, winner].set(price, mode=mode),
    )


def lead_and_price(wins: jax.Array, losses: jax.Array) -> tuple[jax.Array, jax.Array]:
    """`Estimates.lead` and `.price` from counts, int32 of any shape; float32 of that shape."""
    return _weighed(wins, losses, evidence_against_half(wins, losses))


def heard(estimates: Estimates, outcomes: jax.Array) -> Estimates:
    """The estimates after late outcomes, (K, K) int32 wins of i over j."""
    wins = estimates.wins + outcomes
    changed, evidence = (outcomes + outcomes.T) > 0, jnp.abs(estimates.lead)
    evidence = where_marked(evidence_against_half, changed, evidence, wins, wins.T)
    return Estimates(wins, *_weighed(wins, wins.T, evidence))


def _weighed(
    wins: jax.Array, losses: jax.Array, evidence: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """`lead_and_price`, given the evidence against equal arms."""
    n = (wins + losses).astype(jnp.float32)
    ahead = jnp.sign(wins - losses).astype(jnp.float32)
    return ahead * evidence, jnp.where(ahead != 0, n / jnp.maximum(evidence, 1e-30), -n)


def demand_with(
    allocate: Allocate, demand: Demand, estimates: Estimates, active: jax.Array
) -> Demand:
    """The demand of new estimates; no winner is trusted before `when_confident` is called.

    Args:
      allocate: line 11.
      demand: the previous demand.
      estimates: the new estimates.
      active: (K,) bool.
    """
    now = standing(estimates.lead, estimates.price, active)
    return allocate(demand, now)._replace(confident_until=jnp.full(len(active), -1.0, jnp.float32))


class _Search(NamedTuple):
    """The search for i* among the empirical winners."""

    left: jax.Array  # (K,) bool: winners not looked at
    lowest: jax.Array  # () float32: the smallest optimum so far
    best: jax.Array  # () int32: the winner of that optimum
    level: Level  # its levels, (K,) each
    confidence_bound: jax.Array  # () float32, as in `Demand`
    levels: jax.Array  # (K, K) float32, as in `Demand`


def allocate_ecw(demand: Demand, now: Standing) -> Demand:
    """Line 11 of ECW-RMED: the empirical winner of the smallest optimum, and that optimum."""
    arms = jnp.arange(len(now.losses), dtype=jnp.int32)

    def turn(at: _Search) -> _Search:
        winner = lax.argmax(at.left, 0, jnp.int32)
        here = ecw_levels(now, winner, at.levels[winner])
        total = ecw_total(now.costs[winner], here.cost)
        better = total < at.lowest
        bounds = confidence_bounds(now.lead[winner], now.evidence, now.losses, now.fewest)
        return _Search(
            left=at.left & (arms != winner),
            lowest=jnp.minimum(total, at.lowest),
            best=jnp.where(better, winner, at.best),
            level=jax.tree.map(lambda x, y: jnp.where(better, x, y), here, at.level),
            confidence_bound=jnp.maximum(at.confidence_bound, jnp.min(bounds)),
            levels=at.levels.at[winner].set(here.cost),
        )

    nothing = jnp.zeros(len(arms), jnp.float32)
    begin = _Search(
        left=now.winners,
        lowest=jnp.float32(jnp.inf),
        best=jnp.int32(0),
        level=Level(nothing, nothing),
        confidence_bound=jnp.float32(-jnp.inf),
        levels=demand.levels,
    )
    found = lax.while_loop(lambda at: jnp.any(at.left), turn, begin)
    due = jax.vmap(ecw_due, in_axes=(1, 1, None, 0), out_axes=1)
    due = due(now.lead, now.costs, found.best, found.level)
    return Demand(
        winners=count_true(now.winners),
        losses=now.losses,
        evidence=now.evidence,
        confidence_bound=found.confidence_bound,
        confident_until=demand.confident_until,
        best=found.best,
        due_log_t=jnp.minimum(due, due.T),
        levels=found.levels,
        program=demand.program,
    )


def adjust_ecw(
    demand: Demand, estimates: Estimates, arm: jax.Array, needed: jax.Array
) -> tuple[Demand, jax.Array]:
    """`demand_with(allocate_ecw, ...)` at less cost, after a change of one pair's counts.

    The leader of the pair must be the same as before. Then only the demand on one arm's superiors
    changes, unless i* does.

    Args:
      demand: the previous demand.
      estimates: the new estimates.
      arm: () int32, the arm of the pair that is behind.
      needed: () bool; if false, the demand stays.

    Returns:
      The demand, and whether it is wrong because i* is another arm now: () bool.
    """
    losses, arms = demand.losses, jnp.arange(len(demand.losses), dtype=jnp.int32)
    lead = -estimates.lead[arm]
    costs = costs_of(lead, estimates.price[arm], losses, losses[arm], jnp.min(losses))
    evidence = jnp.where(arms == arm, evidence_of(lead), demand.evidence)
    changed = _Changed(arm, costs, evidence, losses)
    several = demand.winners > 1
    best, winner = demand.best, jnp.where(needed & ~several, demand.best, arm)
    rows = estimates.lead[winner], estimates.price[winner], demand.levels[winner]
    alone = _weigh(changed, winner, rows)
    column = jnp.where(arms == best, alone.level.cost, demand.levels[:, arm])
    one = _Weighed(alone.confidence_bound, best, alone.level, column)
    tables = estimates.lead, estimates.price, demand.levels
    now = compacted_cond(
        _weigh_all, needed & several, one, changed, table=tables, effort=demand.winners
    )
    due = jnp.where(lead > 0, ecw_due(lead, costs, best, now.level), demand.due_log_t[arm])
    due = jnp.where(needed, due, demand.due_log_t[arm])
    column = jnp.where(needed, now.column, demand.levels[:, arm])
    mode = "promise_in_bounds"
    adjusted = demand._replace(
        evidence=jnp.where(needed, evidence, demand.evidence),
        confidence_bound=jnp.where(needed, now.confidence_bound, demand.confidence_bound),
        confident_until=jnp.where(needed, -1.0, demand.confident_until),
        due_log_t=demand.due_log_t.at[arm].set(due, mode=mode).at[:, arm].set(due, mode=mode),
        levels=demand.levels.at[:, arm].set(column, mode=mode),
    )
    return adjusted, needed & (now.best != best)


class _Changed(NamedTuple):
    """The numbers that an outcome changed."""

    arm: jax.Array  # () int32: the arm whose superiors it concerns
    costs: jax.Array  # (K,) float32: of comparing it with j, infinite where j does not lead
    evidence: jax.Array  # (K,) float32, as in `Demand`
    losses: jax.Array  # (K,) int32


class _Candidate(NamedTuple):
    """Bound, optimum and level of an empirical winner after an outcome."""

    confidence_bound: jax.Array  # () float32: an upper bound of its confident_until
    total: jax.Array  # () float32: its optimum
    level: Level  # of the arm that the outcome concerns


class _Weighed(NamedTuple):
    """Bound, i* and levels of all empirical winners after an outcome."""

    confidence_bound: jax.Array  # () float32, as in `Demand`
    best: jax.Array  # () int32: i*
    level: Level  # of the arm that the outcome concerns, for i*
    column: jax.Array  # (K,) float32: the costs of its levels, for all empirical winners


def _weigh(
    changed: _Changed, winner: jax.Array, rows: tuple[jax.Array, jax.Array, jax.Array]
) -> _Candidate:
    """Evaluates an empirical winner, by its rows of leads, prices and levels. If the winner is the
    changed arm, no level is searched for."""
    arm, costs, evidence, losses = changed
    lead, price, levels = rows
    arms, fewest = jnp.arange(len(losses), dtype=jnp.int32), jnp.min(losses)
    others = jnp.where(arms != winner, costs, jnp.inf)
    level = ecw_level(others, losses[arm] - fewest + 1, arm != winner, levels[arm])
    own = costs_of(lead, price, losses[winner], losses, fewest)
    total = ecw_total(own, jnp.where(arms == arm, level.cost, levels))
    return _Candidate(jnp.min(confidence_bounds(lead, evidence, losses, fewest)), total, level)


def _weigh_all(weighed: _Weighed, changed: _Changed, read: Callable[..., Any]) -> _Weighed:
    """Evaluates all empirical winners; `read(i1)` gives the rows of i1."""
    arms, losses = jnp.arange(len(changed.losses), dtype=jnp.int32), changed.losses

    def turn(carry: Any) -> Any:
        left, lowest, found = carry
        winner = lax.argmax(left, 0, jnp.int32)
        here = _weigh(changed, winner, read(winner))
        better = here.total < lowest
        found = _Weighed(
            confidence_bound=jnp.maximum(found.confidence_bound, here.confidence_bound),
            best=jnp.where(better, winner, found.best),
            level=jax.tree.map(lambda x, y: jnp.where(better, x, y), here.level, found.level),
            column=jnp.where(arms == winner, here.level.cost, found.column),
        )
        return left & (arms != winner), jnp.minimum(here.total, lowest), found

    worst = jnp.float32(jnp.inf)
    start = losses == jnp.min(losses), worst, weighed._replace(confidence_bound=-worst)
    return lax.while_loop(lambda carry: jnp.any(carry[0]), turn, start)[2]


def when_confident(
    _: jax.Array, estimates: Estimates, active: jax.Array, log_t: jax.Array
) -> jax.Array:
    """`Demand.confident_until`; an entry below log t may be inexact, as t does not go back."""
    arms = jnp.arange(len(active), dtype=jnp.int32)
    now = standing(estimates.lead, estimates.price, active)

    def turn(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        left, found = carry
        winner = lax.argmax(left, 0, jnp.int32)
        here = arms == winner
        return left & ~here, jnp.where(here, confident_until(now, winner, log_t), found)

    nobody = jnp.full(len(active), -1.0, jnp.float32)
    return lax.while_loop(lambda carry: jnp.any(carry[0]), turn, (now.winners, nobody))[1]
