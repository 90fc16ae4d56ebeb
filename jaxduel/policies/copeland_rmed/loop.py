"""Lists of pairs and the loop of Algorithm 1, shared by CW-RMED and ECW-RMED."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.errors import unknown_name
from jaxduel.numerics.bernoulli import divergence_from_half
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.memory import materialize
from jaxduel.policies import arm_sets
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.checks import require
from jaxduel.policies.copeland_rmed.demands import (
    Adjust,
    Demand,
    Estimates,
    heard,
    lead_and_price,
    learn,
    when_confident,
)
from jaxduel.policies.counts import duel_result
from jaxduel.policies.registry import name_of

LINE4 = ("retest", "pass")
"""Readings of line 4: tested before every comparison, or before every pass."""


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """The parameters of CW-RMED and ECW-RMED.

    Attributes:
      num_arms: K; in the formulas, the number of active arms.
      active_arms: (K,) bool, the arms that exist.
      alpha: line 4, positive. 3 in the paper.
      beta: line 4, at least 0. 0.01 in the paper's experiments (by the authors' rebuttal; its
        first version printed 0.1).
      line4: "retest" tests line 4 before every comparison, by the paper's words ("at the beginning
        of each round [...] it immediately draws that pair"); "pass" tests it once a pass, and then
        compares all pairs that lack comparisons once each. The two differ little except with
        delays, where counts are of known outcomes: "retest" compares one pair until outcomes come.
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    alpha: float | jax.Array = 3.0
    beta: float | jax.Array = 0.01
    line4: str = field(default="retest", metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ("no ties",)
    demand_of: ClassVar[Callable[..., Demand]]
    """The demand of new estimates, by line 11: `demand_of(demand, estimates, active)`."""
    adjusted: ClassVar[Adjust | None] = None
    """Does the work of `demand_of`, at less cost, after an outcome that changed no lead's sign."""

    def validate(self) -> None:
        """Raises InputError unless alpha > 0, beta >= 0 and `line4` is one of `LINE4`."""
        name = name_of(self)
        require(self.alpha, lambda a: a > 0, f"{name}: alpha must be positive")
        require(self.beta, lambda b: b >= 0, f"{name}: beta must not be negative")
        if self.line4 not in LINE4:
            raise unknown_name("line4", self.line4, LINE4)

    def init(self, key: Key) -> LoopState:
        """No comparisons; all pairs are on the list."""
        return begin(self)

    def from_wins(self, wins: jax.Array, key: Key) -> LoopState:
        """The comparisons counted in `wins`; a pass begins, over the pairs of lines 7 to 15."""
        return begin(self, wins)

    def act(self, state: LoopState, key: Key) -> Duel:
        """The next pair of line 4, else of lines 5 and 6."""
        return first(jnp.where(some(state.forced), state.forced, state.queue))

    def update(self, state: LoopState, plan: Duel, outcome: jax.Array, key: Key) -> LoopState:
        """Lines 7 to 18."""
        return advance(self, state, plan, outcome)

    def learn(self, state: LoopState, feedback: Feedback) -> LoopState:
        """Takes in withheld outcomes; the lists stay."""
        return told(self, state, feedback)

    def program(self) -> Any:
        """The state of line 11's linear program; None if it has none."""
        return None


class LoopState(NamedTuple):
    """One seed's state. Lists of pairs are `arm_sets`: set i has the j <= i of pairs (i, j)."""

    estimates: Estimates
    demand: Demand
    stale: jax.Array  # () bool: True if outcomes have come that the demand does not know
    forced: jax.Array  # (ceil(K / 32), K) uint32: pairs of line 4; the first surely is one
    fewest: jax.Array  # () float32: bounds n_ij of all others below; -1 if line 4 must test all
    queue: jax.Array  # (ceil(K / 32), K) uint32: L_R
    waiting: jax.Array  # (ceil(K / 32), K) uint32: L_N
    t: jax.Array  # () int32: comparisons made


def begin(policy: LoopSettings, wins: jax.Array | None = None) -> LoopState:
    """The state at the beginning of a pass, after the comparisons counted in `wins`.

    `wins` is (K, K) int32; None for no comparisons. Before the first comparison L_C = L_R = all
    pairs of different arms. Later they are the pairs that lines 7 to 15 list for these counts.
    """
    num = policy.num_arms
    active = jnp.asarray(policy.active_arms)
    nothing = jnp.zeros((num, num), jnp.float32)
    if wins is None:  # no constants: XLA would compute their demand while compiling, slowly
        wins = materialize(jnp.zeros((num, num), jnp.int32), ~jnp.any(active))
    estimates, t = _estimates(wins), jnp.sum(wins, dtype=jnp.int32)
    unknown = Demand(
        winners=jnp.int32(0),
        losses=jnp.zeros(num, jnp.int32),
        evidence=jnp.zeros(num, jnp.float32),
        confidence_bound=jnp.float32(0),
        confident_until=jnp.zeros(num, jnp.float32),
        best=jnp.int32(0),
        due_log_t=nothing,
        levels=nothing,
        program=policy.program(),
    )
    demand = policy.demand_of(unknown, estimates, active)
    demand = demand._replace(
        confident_until=when_confident(demand.confident_until, estimates, active, jnp.float32(0))
    )
    empty = arm_sets.empty_sets(num)
    forced, fewest = _lacking((empty, jnp.float32(-1)), estimates, active, line4_at(policy, t + 1))
    listed, waiting, _ = next_lists(demand, empty, empty, empty, t)
    return LoopState(
        estimates=estimates,
        demand=demand,
        stale=jnp.array(False),
        forced=forced,
        fewest=fewest,
        queue=jnp.where(t > 0, listed, _pairs_where(active[:, None] & active)),
        waiting=waiting,
        t=t,
    )


def first(pairs: jax.Array) -> Duel:
    """The first pair of a list that is not empty."""
    arms = jnp.arange(pairs.shape[1], dtype=jnp.int32)
    left = jnp.min(jnp.where(jnp.any(pairs != 0, axis=0), arms, arms[-1]))
    return Duel(left, arm_sets.lowest(pairs[:, left]))


def advance(
    policy: LoopSettings,
    state: LoopState,
    plan: Duel,
    outcome: jax.Array,
) -> LoopState:
    """Lines 6 to 18, after a comparison; line 4 before the next one, or the next pass.

    Args:
      policy: the policy.
      state: before the comparison.
      plan: the comparison.
      outcome: of `plan`, as in `Policy.update`.
    """
    active = jnp.asarray(policy.active_arms)
    learnt = duel_result(plan, outcome)
    estimates = learn(state.estimates, learnt.winner, learnt.loser, learnt.amount)
    t = state.t + 1
    log_t = log_of(t)
    listed = ~some(state.forced)
    demand, stale = state.demand, state.stale | (learnt.amount > 0)
    small = jnp.array(False)
    if policy.adjusted is not None:
        lead, before = (x.lead[learnt.winner, learnt.loser] for x in (estimates, state.estimates))
        small = listed & stale & ~state.stale & (lead * before > 0)
        behind = jnp.where(lead > 0, learnt.loser, learnt.winner)
        demand, insufficient = policy.adjusted(demand, estimates, behind, small)
        small = small & ~insufficient
    demand = _renewed(policy, demand, estimates, log_t, listed & stale, small)
    drawn = arm_sets.only(plan.right, plan.left, policy.num_arms)
    queue, waiting, passed = next_lists(demand, state.queue, state.waiting, drawn, t)
    line4 = line4_at(policy, t + 1)
    forced, fewest, unsure = _after(policy, state, plan, estimates, line4)
    looks = line4_comes(policy, listed & passed) & unsure
    forced, fewest = compacted_cond(_lacking, looks, (forced, fewest), estimates, active, line4)
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
    members = jnp.where(confident, jnp.uint32(0), _pairs_where(demand.due_log_t < log_of(t)))
    members = members | arm_sets.only(best, best, queue.shape[1])
    queue = queue & ~drawn
    waiting = waiting | (members & ~queue)
    passed = ~some(queue)
    return jnp.where(passed, waiting, queue), jnp.where(passed, jnp.uint32(0), waiting), passed


def winner(demand: Demand, t: jax.Array) -> tuple[jax.Array, jax.Array]:
    """True if some empirical winner is confident at t; and i*, the first such, else line 11's.

    Returns:
      () bool and () int32.
    """
    sure = demand.confident_until >= log_of(t)
    confident = jnp.any(sure)
    return confident, jnp.where(confident, lax.argmax(sure, 0, jnp.int32), demand.best)


def log_of(t: jax.Array) -> jax.Array:
    """log t, at least 1e-9."""
    return jnp.maximum(jnp.log(t.astype(jnp.float32)), 1e-9)


def some(pairs: jax.Array) -> jax.Array:
    """True if a list has any pair: () bool."""
    return jnp.any(pairs != 0)


def told(policy: LoopSettings, state: LoopState, feedback: Feedback) -> LoopState:
    """The state after withheld outcomes became known."""
    active, outcomes = jnp.asarray(policy.active_arms), feedback.wins()
    some_outcome = jnp.any(outcomes > 0)
    estimates = heard(state.estimates, outcomes)
    forced, fewest = state.forced, jnp.where(some_outcome, -1.0, state.fewest)
    if policy.line4 == "retest":
        line4 = line4_at(policy, state.t + 1)
        known = forced, fewest
        forced, fewest = compacted_cond(_lacking, some_outcome, known, estimates, active, line4)
    stale = state.stale | some_outcome
    new, log_t = stale & ~some(forced), log_of(state.t)
    return state._replace(
        estimates=estimates,
        demand=_renewed(policy, state.demand, estimates, log_t, new),
        stale=stale & ~new,
        forced=forced,
        fewest=fewest,
    )


def _renewed(
    policy: LoopSettings,
    demand: Demand,
    estimates: Estimates,
    log_t: jax.Array,
    new: jax.Array,
    adjusted: jax.Array | bool = False,
) -> Demand:
    """The demand at log t, recomputed if the estimates are `new`, () bool. If it is `adjusted` to
    them, () bool, only `confident_until` is recomputed."""
    renewed, winners = new & ~jnp.asarray(adjusted), demand.winners
    active = jnp.asarray(policy.active_arms)
    demand = compacted_cond(policy.demand_of, renewed, demand, estimates, active, effort=winners)
    hopeful = new & (demand.confidence_bound >= log_t)
    until = demand.confident_until
    until = compacted_cond(when_confident, hopeful, until, estimates, active, log_t)
    return demand._replace(confident_until=until)


def _estimates(wins: jax.Array) -> Estimates:
    """The estimates of win counts alone."""
    return Estimates(wins, *lead_and_price(wins, wins.T))


class Line4(NamedTuple):
    """The thresholds of line 4 for the comparison to come."""

    least: jax.Array  # alpha sqrt(log t)
    dear: jax.Array  # 1 / d(1/2 + beta / log log t, 1/2), infinite for beta = 0, 0 for all pairs


def line4_comes(policy: LoopSettings, passed: jax.Array) -> jax.Array:
    """True if line 4 comes before the next comparison, given whether a pass ended: () bool."""
    return passed | (policy.line4 == "retest")


def line4_at(policy: LoopSettings, t: jax.Array) -> Line4:
    """The thresholds for comparison number t, from 1; log log t is taken to be at least 1."""
    log_t = jnp.log(t.astype(jnp.float32))
    slow = jnp.maximum(1.0, jnp.log(jnp.maximum(1.0, log_t)))
    close = 2 * jnp.float32(policy.beta) / slow
    dear = jnp.where(close > 1.0, 0.0, 1 / divergence_from_half(jnp.minimum(close, 1.0)))
    return Line4(jnp.float32(policy.alpha) * jnp.sqrt(log_t), dear)


def _pairs_where(mask: jax.Array) -> jax.Array:
    """The list of the pairs (i, j), j < i, with `mask[j, i]`."""
    arms = jnp.arange(mask.shape[0], dtype=jnp.int32)
    return arm_sets.sets_where(mask & (arms[:, None] < arms))


def _after(
    policy: LoopSettings, state: LoopState, drawn: Duel, estimates: Estimates, line4: Line4
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The pairs of line 4 once `drawn` has been compared, judged by that pair alone.

    If line 4 is "retest", a pair that still lacks comparisons stays; if it is "pass", the pair was
    compared once for this pass and leaves.

    Returns:
      `forced`; `fewest`; and whether all pairs must be tested, () bool: a pair that is not `forced`
      may lack comparisons, or the first `forced` one no longer does.
    """
    itself = arm_sets.only(drawn.right, drawn.left, policy.num_arms)
    n, close = _needs(estimates.lead[drawn], estimates.price[drawn], line4)
    again, different = policy.line4 == "retest", drawn.left != drawn.right
    stays = again & different & ((n < line4.least) | close)
    forced = jnp.where(stays, state.forced | itself, state.forced & ~itself)
    fewest = jnp.where(some(state.forced), jnp.minimum(state.fewest, n), state.fewest)
    fewest = jnp.where(stays | ~different, state.fewest, jnp.where(close, -1.0, fewest))
    following = first(forced)
    n, close = _needs(estimates.lead[following], estimates.price[following], line4)
    idle = again & some(forced) & (n >= line4.least) & ~close
    return forced, fewest, idle | (fewest < line4.least)


def _lacking(
    _: tuple[jax.Array, jax.Array], estimates: Estimates, active: jax.Array, line4: Line4
) -> tuple[jax.Array, jax.Array]:
    """The pairs of line 4, and the smallest n_ij of all others.

    The list stays complete while that smallest n_ij is enough and no outcome makes a pair close:
    without outcomes, closeness only gets rarer with t.
    """
    n, close = _needs(estimates.lead, estimates.price, line4)
    different = ~jnp.eye(len(active), dtype=bool) & active[:, None] & active
    lacking = ((n < line4.least) | close) & different
    return _pairs_where(lacking), jnp.min(jnp.where(different & ~lacking, n, jnp.inf))


def _needs(lead: jax.Array, price: jax.Array, line4: Line4) -> tuple[jax.Array, jax.Array]:
    """n_ij of pairs, and whether |mu_ij - 1/2| < beta / log log t, from parts of `Estimates`."""
    n = jnp.where(price <= 0, -price, jnp.abs(lead) * price)
    return n, (price > line4.dear) | ((price <= 0) & (line4.dear < jnp.inf))
