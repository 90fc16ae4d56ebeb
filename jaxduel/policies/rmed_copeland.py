"""What CW-RMED and ECW-RMED share: estimates, the lists of pairs and the loop of Algorithm 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import evidence_against_half, set_size
from jaxduel.numerics.bernoulli import divergence_from_half
from jaxduel.numerics.seldom import seldom
from jaxduel.policies import arm_sets
from jaxduel.policies.base import Duel, Feedback
from jaxduel.policies.checks import require
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
from jaxduel.policies.counts import lesson


class Looping(Protocol):
    """What these functions read of a policy."""

    @property
    def num_arms(self) -> int:
        """K."""
        ...

    @property
    def active_arms(self) -> jax.Array:
        """(K,) bool, the arms that exist."""
        ...

    @property
    def alpha(self) -> float | jax.Array:
        """Line 4."""
        ...

    @property
    def beta(self) -> float | jax.Array:
        """Line 4."""
        ...


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


class LoopState(NamedTuple):
    """One seed's state. Lists of pairs are `arm_sets`: set i has the j <= i of pairs (i, j)."""

    estimates: Estimates
    demand: Demand
    stale: jax.Array  # () bool: whether outcomes have come that the demand does not know
    forced: jax.Array  # (ceil(K / 32), K) uint32: the pairs that line 4 has still to draw
    fewest: jax.Array  # () float32: at most the smallest n_ij; -1 if line 4 has to look at all
    queue: jax.Array  # (ceil(K / 32), K) uint32: L_R
    waiting: jax.Array  # (ceil(K / 32), K) uint32: L_N
    t: jax.Array  # () int32: comparisons made


Allocate = Callable[[Demand, Standing], Demand]
"""Line 11: a function of a module, of the last demand and the standing."""

Adjust = Callable[[Demand, Estimates, jax.Array, jax.Array, jax.Array], Demand]
"""`adjust_ecw`."""


def require_forcing(alpha: Any, beta: Any, where: str) -> None:
    """Raises InputError unless alpha > 0 and beta >= 0."""
    require(alpha, lambda a: a > 0, f"{where}: alpha must be positive")
    require(beta, lambda b: b >= 0, f"{where}: beta must not be negative")


def begin(policy: Looping, demand_of: Callable[..., Demand], program: Any) -> LoopState:
    """No comparisons; L_C = L_R = all pairs of different arms."""
    num = policy.num_arms
    active = jnp.asarray(policy.active_arms)
    nothing = jnp.zeros((num, num), jnp.float32)
    estimates = Estimates(jnp.zeros((num, num), jnp.int32), nothing, nothing)
    unknown = Demand(
        winners=jnp.int32(0),
        losses=jnp.zeros(num, jnp.int32),
        hopes=jnp.zeros(num, jnp.float32),
        trust=jnp.zeros(num, jnp.float32),
        best=jnp.int32(0),
        due=nothing,
        levels=jnp.zeros(num, jnp.float32),
        program=program,
    )
    demand = demand_of(unknown, estimates, active)
    unlooked = arm_sets.empty_sets(num), jnp.float32(-1)
    forced, fewest = _lacking(unlooked, estimates, active, line4_at(policy, jnp.int32(1)))
    return LoopState(
        estimates=estimates,
        demand=demand._replace(trust=_trusts(demand.trust, estimates, active, jnp.float32(0))),
        stale=jnp.array(False),
        forced=forced,
        fewest=fewest,
        queue=_pairs_where(active[:, None] & active),
        waiting=arm_sets.empty_sets(num),
        t=jnp.int32(0),
    )


def choose(state: LoopState) -> Duel:
    """The next pair of line 4, else of line 5."""
    return first(jnp.where(some(state.forced), state.forced, state.queue))


def first(pairs: jax.Array) -> Duel:
    """The first pair of a list that has any."""
    arms = jnp.arange(pairs.shape[1], dtype=jnp.int32)
    left = jnp.min(jnp.where(jnp.any(pairs != 0, axis=0), arms, arms[-1]))
    return Duel(left, arm_sets.lowest(pairs[:, left]))


def advance(
    policy: Looping,
    state: LoopState,
    plan: Duel,
    outcome: jax.Array,
    demand_of: Callable[..., Demand],
    adjusted: Adjust | None = None,
) -> LoopState:
    """Lines 6 to 18, after a comparison; line 4 of the next pass.

    Args:
      policy: the policy.
      state: before the comparison.
      plan: the comparison.
      outcome: of `plan`, as in `Policy.update`.
      demand_of: `demand_of(demand, estimates, active)`, a function of a module.
      adjusted: what `demand_of` gives after an outcome that changed no lead's sign, while there is
        one empirical winner, for less work; None if it always takes it all.
    """
    active = jnp.asarray(policy.active_arms)
    learnt = lesson(plan, outcome)
    estimates = _learn(state.estimates, learnt.winner, learnt.loser, learnt.amount)
    t = state.t + 1
    log_t = log_of(t)
    listed = ~some(state.forced)
    demand, stale = state.demand, state.stale | (learnt.amount > 0)
    small = jnp.array(False)
    if adjusted is not None:
        lead, before = (x.lead[learnt.winner, learnt.loser] for x in (estimates, state.estimates))
        small = listed & stale & ~state.stale & (lead * before > 0) & (demand.winners == 1)
        behind = jnp.where(lead > 0, learnt.loser, learnt.winner)
        demand = adjusted(demand, estimates, active, behind, small)
    renewed = listed & stale & ~small
    demand = seldom(demand_of, renewed, demand, estimates, active, effort=demand.winners)
    hopeful = listed & stale & (jnp.min(demand.hopes) >= log_t)
    trusts = seldom(_trusts, hopeful, demand.trust, estimates, active, log_t)
    demand = demand._replace(trust=trusts)

    drawn = arm_sets.only(plan.right, plan.left, policy.num_arms)
    queue, waiting, passed = next_lists(demand, state.queue, state.waiting, drawn, t)
    line4 = line4_at(policy, t + 1)
    price = estimates.price[learnt.winner, learnt.loser]
    must_look = (learnt.amount > 0) & _is_close(price, line4)
    known = state.forced & ~drawn, jnp.where(must_look, -1.0, state.fewest)
    begun = listed & passed & (known[1] < line4.least)
    forced, fewest = seldom(_lacking, begun, known, estimates, active, line4)
    return LoopState(
        estimates=estimates,
        demand=demand,
        stale=stale & ~listed,
        forced=forced,
        fewest=fewest,
        queue=jnp.where(listed, queue, state.queue),
        waiting=jnp.where(listed, waiting, state.waiting),
        t=t,
    )


def next_lists(
    demand: Demand, queue: jax.Array, waiting: jax.Array, drawn: jax.Array, t: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Lines 7 to 18 for a pair of the list: the lists after comparison number t, of `drawn`.

    Returns:
      L_R and L_N, and whether a pass ended, () bool: then L_N has become L_R.
    """
    confident, best = winner(demand, t)
    members = jnp.where(confident, jnp.uint32(0), _pairs_where(demand.due < log_of(t)))
    members = members | arm_sets.only(best, best, queue.shape[1])
    queue = queue & ~drawn
    waiting = waiting | (members & ~queue)
    passed = ~some(queue)
    return jnp.where(passed, waiting, queue), jnp.where(passed, jnp.uint32(0), waiting), passed


def winner(demand: Demand, t: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Whether an empirical winner is sure enough at t, and i*, of those or of line 11.

    Returns:
      () bool and () int32.
    """
    sure = demand.trust >= log_of(t)
    confident = jnp.any(sure)
    return confident, jnp.where(confident, lax.argmax(sure, 0, jnp.int32), demand.best)


def log_of(t: jax.Array) -> jax.Array:
    """log t, but positive."""
    return jnp.maximum(jnp.log(t.astype(jnp.float32)), 1e-9)


def some(pairs: jax.Array) -> jax.Array:
    """Whether a list has any pair: () bool."""
    return jnp.any(pairs != 0)


def told(
    policy: Looping, state: LoopState, feedback: Feedback, demand_of: Callable[..., Demand]
) -> LoopState:
    """The state after withheld outcomes became known."""
    active = jnp.asarray(policy.active_arms)
    wins = state.estimates.wins + feedback.wins()
    estimates = Estimates(wins, *lead_and_price(wins, wins.T))
    demand = demand_of(state.demand, estimates, active)
    demand = demand._replace(trust=_trusts(demand.trust, estimates, active, log_of(state.t)))
    return state._replace(
        estimates=estimates, demand=demand, stale=jnp.array(False), fewest=jnp.float32(-1)
    )


class Line4(NamedTuple):
    """The thresholds of line 4 for the comparison to come."""

    least: jax.Array  # alpha sqrt(log t)
    dear: jax.Array  # 1 / d(1/2 + beta / log log t, 1/2), infinite for beta = 0


def line4_at(policy: Looping, t: jax.Array) -> Line4:
    """The thresholds for comparison number t, from 1; log log t is taken to be at least 1."""
    log_t = jnp.log(t.astype(jnp.float32))
    slow = jnp.maximum(1.0, jnp.log(jnp.maximum(1.0, log_t)))
    close = jnp.minimum(2 * jnp.float32(policy.beta) / slow, 1.0)
    least = jnp.float32(policy.alpha) * jnp.sqrt(log_t)
    return Line4(least, 1 / divergence_from_half(close))


def lead_and_price(wins: jax.Array, losses: jax.Array) -> tuple[jax.Array, jax.Array]:
    """`Estimates.lead` and `.price` from counts, int32 of any shape; float32 of that shape."""
    evidence = evidence_against_half(wins, losses)
    n = (wins + losses).astype(jnp.float32)
    ahead = jnp.sign(wins - losses).astype(jnp.float32)
    return ahead * evidence, jnp.where(ahead != 0, n / jnp.maximum(evidence, 1e-30), -n)


def demand_with(
    allocate: Allocate, demand: Demand, estimates: Estimates, active: jax.Array
) -> Demand:
    """What new estimates demand; nobody is trusted before `_trusts` has looked.

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


def _trusts(_: jax.Array, estimates: Estimates, active: jax.Array, log_t: jax.Array) -> jax.Array:
    """`Demand.trust`; one below log t is only known to be below it, as t does not go back."""
    arms = jnp.arange(len(active), dtype=jnp.int32)
    now = standing(estimates.lead, estimates.price, active)

    def turn(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        left, trusts = carry
        winner = lax.argmax(left, 0, jnp.int32)
        here = arms == winner
        return left & ~here, jnp.where(here, trust(now, winner, log_t), trusts)

    nobody = jnp.full(len(active), -1.0, jnp.float32)
    return lax.while_loop(lambda carry: jnp.any(carry[0]), turn, (now.winners, nobody))[1]


def _pairs_where(mask: jax.Array) -> jax.Array:
    """The list of the pairs (i, j), j < i, with `mask[j, i]`."""
    arms = jnp.arange(mask.shape[0], dtype=jnp.int32)
    return arm_sets.sets_where(mask & (arms[:, None] < arms))


def _learn(
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


def _lacking(
    _: tuple[jax.Array, jax.Array], estimates: Estimates, active: jax.Array, line4: Line4
) -> tuple[jax.Array, jax.Array]:
    """The pairs of line 4 and, if there are none, the smallest n_ij.

    There will be none while that is enough, as long as no outcome makes a pair close: otherwise the
    second condition only gets weaker with t.
    """
    lead, price = estimates.lead, estimates.price
    n = jnp.where(price <= 0, -price, jnp.abs(lead) * price)
    pairs = _pairs_where(((n < line4.least) | _is_close(price, line4)) & active[:, None] & active)
    different = ~jnp.eye(len(active), dtype=bool) & active[:, None] & active
    fewest = jnp.min(jnp.where(different, n, jnp.inf))
    return pairs, jnp.where(some(pairs), -1.0, fewest)


def _is_close(price: jax.Array, line4: Line4) -> jax.Array:
    """Whether |mu_ij - 1/2| < beta / log log t, of `Estimates.price`: bool."""
    return (price > line4.dear) | ((price <= 0) & (line4.dear < jnp.inf))
