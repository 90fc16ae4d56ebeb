"""What CW-RMED and ECW-RMED make of the outcomes: estimates, and what these demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import evidence_against_half, set_size
from jaxduel.policies.copeland_evidence import (
    Level,
    Standing,
    costs_of,
    ecw_due,
    ecw_level,
    ecw_levels,
    ecw_total,
    evidence_of,
    hopes,
    standing,
    trust,
)


class Estimates(NamedTuple):
    """What the outcomes say, pair by pair."""

    wins: jax.Array  # (K, K) int32: wins of i over j
    lead: jax.Array  # (K, K) float32: n_ij d(mu_ij, 1/2), negative where mu_ij < 1/2
    price: jax.Array  # (K, K) float32: 1 / d(mu_ij, 1/2); -n_ij where mu_ij = 1/2


class Demand(NamedTuple):
    """What the estimates demand, for every t to come."""

    winners: jax.Array  # () int32: how many empirical Copeland winners there are
    losses: jax.Array  # (K,) int32: L_i
    hopes: jax.Array  # (K,) float32: their smallest is an upper bound of their trust
    trust: jax.Array  # (K,) float32: up to which log t an empirical winner is sure enough; else -1
    best: jax.Array  # () int32: i* of line 11
    due: jax.Array  # (K, K) float32, symmetric: from which log t on n_ij < q*_ij log t
    levels: jax.Array  # (K,) float32: the costs of Theorem 5's levels, for the next search
    program: Any  # what the solver of CW-RMED goes on from; None for ECW-RMED


Allocate = Callable[[Demand, Standing], Demand]
"""Line 11: a function of a module, of the last demand and the standing."""

Adjust = Callable[[Demand, Estimates, jax.Array, jax.Array, jax.Array], Demand]
"""`adjust_ecw`."""


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
    evidence = evidence_against_half(wins, losses)
    n = (wins + losses).astype(jnp.float32)
    ahead = jnp.sign(wins - losses).astype(jnp.float32)
    return ahead * evidence, jnp.where(ahead != 0, n / jnp.maximum(evidence, 1e-30), -n)


def demand_with(
    allocate: Allocate, demand: Demand, estimates: Estimates, active: jax.Array
) -> Demand:
    """What new estimates demand; nobody is trusted before `trusts` has looked.

    Args:
      allocate: line 11.
      demand: the last one.
      estimates: the new ones.
      active: (K,) bool.
    """
    now = standing(estimates.lead, estimates.price, active)
    return allocate(demand, now)._replace(trust=jnp.full(len(active), -1.0, jnp.float32))


def allocate_ecw(demand: Demand, now: Standing) -> Demand:
    """Line 11 of ECW-RMED: the empirical winner of the smallest optimum, and that optimum."""
    arms = jnp.arange(len(now.losses), dtype=jnp.int32)

    def turn(carry: Any) -> Any:
        left, lowest, best, levels, highest = carry
        winner = lax.argmax(left, 0, jnp.int32)
        here = ecw_levels(now, winner, demand.levels)
        total = ecw_total(now, winner, here)
        better = total < lowest
        chosen = jax.tree.map(lambda x, y: jnp.where(better, x, y), (winner, here), (best, levels))
        bounds = hopes(now.lead[winner], now.evidence, now.losses, now.fewest)
        higher = jnp.min(bounds) > jnp.min(highest)
        highest = jnp.where(higher, bounds, highest)
        return left & (arms != winner), jnp.minimum(total, lowest), *chosen, highest

    levels = Level(demand.levels, demand.levels)
    nothing = jnp.full(len(arms), -1.0, jnp.float32)
    start = now.winners, jnp.float32(jnp.inf), jnp.int32(0), levels, nothing
    _, _, best, levels, highest = lax.while_loop(lambda carry: jnp.any(carry[0]), turn, start)
    due = jax.vmap(ecw_due, in_axes=(1, 1, None, 0), out_axes=1)
    due = due(now.lead, now.costs, best, levels)
    return Demand(
        winners=set_size(now.winners),
        losses=now.losses,
        hopes=highest,
        trust=demand.trust,
        best=best,
        due=jnp.minimum(due, due.T),
        levels=levels.cost,
        program=demand.program,
    )


def adjust_ecw(
    demand: Demand, estimates: Estimates, active: jax.Array, arm: jax.Array, needed: jax.Array
) -> Demand:
    """What `demand_with(allocate_ecw, ...)` gives where one pair alone has changed, but for who
    leads in it, and one winner is left: only what concerns the superiors of one arm changes.

    Args:
      demand: the last one.
      estimates: the new ones.
      active: (K,) bool.
      arm: () int32, the arm of the pair that is behind.
      needed: () bool; if false, the demand stays.
    """
    winner, losses = demand.best, demand.losses
    arms, fewest = jnp.arange(len(active), dtype=jnp.int32), losses[winner]
    lead = -estimates.lead[arm]
    costs = costs_of(lead, estimates.price[arm], losses, losses[arm], fewest)
    others = jnp.where(arms != winner, costs, jnp.inf)
    asked = needed & (arm != winner)
    level = ecw_level(others, losses[arm] - fewest + 1, asked, demand.levels[arm])
    due = jnp.where(lead > 0, ecw_due(lead, costs, winner, level), demand.due[arm])
    due = jnp.where(needed, due, demand.due[arm])
    bound = hopes(lead[winner], evidence_of(lead), losses[arm], fewest)
    mode, here = "promise_in_bounds", needed & (arms == arm)
    return demand._replace(
        hopes=jnp.where(here, bound, demand.hopes),
        trust=jnp.where(needed, -1.0, demand.trust),
        due=demand.due.at[arm].set(due, mode=mode).at[:, arm].set(due, mode=mode),
        levels=jnp.where(here, level.cost, demand.levels),
    )


def trusts(_: jax.Array, estimates: Estimates, active: jax.Array, log_t: jax.Array) -> jax.Array:
    """`Demand.trust`; one below log t is only known to be below it, as t does not go back."""
    arms = jnp.arange(len(active), dtype=jnp.int32)
    now = standing(estimates.lead, estimates.price, active)

    def turn(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        left, found = carry
        winner = lax.argmax(left, 0, jnp.int32)
        here = arms == winner
        return left & ~here, jnp.where(here, trust(now, winner, log_t), found)

    nobody = jnp.full(len(active), -1.0, jnp.float32)
    return lax.while_loop(lambda carry: jnp.any(carry[0]), turn, (now.winners, nobody))[1]
