"""Forced comparisons, and the opponent of the lowest price, for RMED2 and RMED2FH."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.choice import first_least
from jaxduel.policies.base import Duel, Feedback, Quiet
from jaxduel.policies.counts import add_result, duel_result
from jaxduel.policies.rmed import lists

if TYPE_CHECKING:  # a circle for types alone: a Protocol would say the fields of both again
    from jaxduel.policies.rmed.rmed2 import RMED2
    from jaxduel.policies.rmed.rmed2fh import RMED2FH

_NEVER = jnp.iinfo(jnp.int32).max


class MainState(NamedTuple):
    """One seed's state, as far as both variants have it."""

    wins: jax.Array  # (K, K) int32: wins of i over j
    evidence: jax.Array  # (K, K) float32: n_ij d(mu_ij, 1/2) where mu_ij <= 1/2, else 0
    divergence: jax.Array  # (K,) float32: I_i, the row sums of the evidence
    made: jax.Array  # (K, K) int32: comparisons of (i, j), i < j, of known outcome or not
    fewest: jax.Array  # (K,) int32: the smallest of row i of `made`, j > i
    queue: jax.Array  # (K,) bool: L_R, the arms of this pass that are still to come
    waiting: jax.Array  # (K,) bool: L_N, the arms of the next pass
    t: jax.Array  # () int32: comparisons made


def begin(policy: RMED2 | RMED2FH) -> MainState:
    """No comparisons; all arms are on the list."""
    num = policy.num_arms
    wins = jnp.zeros((num, num), jnp.int32)
    begins_row = jnp.arange(num, dtype=jnp.int32) < count_true(policy.active_arms) - 1
    return MainState(
        wins=wins,
        evidence=jnp.zeros((num, num), jnp.float32),
        divergence=jnp.zeros(num, jnp.float32),
        made=wins,
        fewest=jnp.where(begins_row, jnp.int32(0), _NEVER),
        queue=jnp.asarray(policy.active_arms),
        waiting=jnp.zeros(num, bool),
        t=jnp.int32(0),
    )


def after_wins(policy: RMED2 | RMED2FH, wins: jax.Array, needed: jax.Array) -> MainState:
    """The state after the comparisons counted in `wins`, at the beginning of a pass.

    Args:
      policy: the policy.
      wins: (K, K) int32.
      needed: () int32, the comparisons that every pair must have now.
    """
    evidence, divergence = lists.evidence_of(wins)
    active, t = jnp.asarray(policy.active_arms), jnp.sum(wins, dtype=jnp.int32)
    made = jnp.triu(wins + wins.T)
    pairs = jnp.triu(active[:, None] & active, 1)
    members = lists.plausible(divergence, active, t, policy.scale, policy.exponent)
    return begin(policy)._replace(
        wins=wins,
        evidence=evidence,
        divergence=divergence,
        made=made,
        fewest=jnp.min(jnp.where(pairs, made, _NEVER), axis=1),
        queue=lists.queue_after(made, needed, members, active),
        t=t,
    )


def some_lack(state: MainState, needed: jax.Array) -> jax.Array:
    """True if some pair lacks comparisons: () bool."""
    return jnp.any(state.fewest < needed)


def choose(
    policy: RMED2 | RMED2FH,
    state: MainState,
    needed: jax.Array,
    left: jax.Array,
    price: jax.Array,
) -> Duel:
    """The first pair that lacks comparisons, else `left` and its opponent."""
    arms = jnp.arange(policy.num_arms, dtype=jnp.int32)
    row = lax.argmax(state.fewest < needed, 0, jnp.int32)
    lacking = (state.made[row] < needed) & (arms > row)
    column = jnp.min(jnp.where(lacking, arms, policy.num_arms - 1))

    wins, losses = state.wins[left], state.wins[:, left]
    others = policy.active_arms & (arms != left)
    best = lists.leader(state.divergence, policy.active_arms)
    price = jnp.where(others, price, jnp.inf)
    cheapest = first_least(price)
    exists = jnp.min(price) < jnp.inf
    n_ahead = jnp.where(others & (wins <= losses), wins + losses, -1)
    n_cheapest, n_best = n_ahead[cheapest], n_ahead[best]
    # a product: compilers change a quotient by a number that all lanes share, and with it the ties
    enough = n_best.astype(jnp.float32) * loglog(state.t + 1) > n_cheapest.astype(jnp.float32)
    takes = exists & (n_cheapest >= 0) & ((n_best < 0) | enough)
    right = jnp.where(takes, cheapest, lists.usual_opponent(wins, losses, others, best))
    forced = some_lack(state, needed)
    return Duel(jnp.where(forced, row, left), jnp.where(forced, column, right))


def price_of(
    wins: jax.Array, best: jax.Array, left: jax.Array, information: jax.Array
) -> jax.Array:
    """Regret per unit of information of every opponent of l, infinite where mu_lj >= 1/2.

    Args:
      wins: (K, K) int32, the estimates.
      best: () int32, i*.
      left: () int32, l.
      information: (K,) float32, d(mu_lj, 1/2) where mu_lj < 1/2, else 0.

    Returns:
      (K,) float32.
    """
    twice_delta = _advantage(wins[best], wins[:, best])
    regret = jnp.maximum(0.5 * (twice_delta[left] + twice_delta), 0.01)
    return jnp.where(information > 0, regret / information, jnp.inf)


def information_of(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """d(mu, 1/2) where mu < 1/2, else 0, from counts, to a relative error of 2e-6.

    It is computed from mu alone: equal means give equal numbers, so that ties are ties.
    """
    x = jnp.clip(-_advantage(wins, losses), 0, jnp.float32(1 - 2**-24))
    up, down = jnp.log1p(x), jnp.log1p(-x)
    near = jnp.log1p(-x * x) + x * (up - down)
    far = (1 + x) * up + (1 - x) * down
    return 0.5 * jnp.where(x < 0.5, near, far)


def _advantage(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """2 mu - 1 from counts, with its sign exact; 0 where there are none."""
    n = jnp.maximum(wins + losses, 1).astype(jnp.float32)
    return (wins - losses).astype(jnp.float32) / n


def advance(
    policy: RMED2 | RMED2FH, state: MainState, plan: Duel, outcome: jax.Array, forced: jax.Array
) -> MainState:
    """The state after a comparison; one that was forced leaves the lists as they are."""
    learnt = duel_result(plan, outcome)
    wins = add_result(state.wins, learnt)
    i, j = learnt.winner, learnt.loser
    evidence, divergence = lists.update_evidence(
        state.evidence, state.divergence, wins[i, j], wins[j, i], learnt
    )
    arms = jnp.arange(policy.num_arms, dtype=jnp.int32)
    row, column = jnp.minimum(plan.left, plan.right), jnp.maximum(plan.left, plan.right)
    made = state.made.at[row, column].add(row < column, mode="promise_in_bounds")
    fewest = jnp.min(jnp.where(policy.active_arms & (arms > row), made[row], _NEVER))
    t = state.t + 1
    members = lists.plausible(divergence, policy.active_arms, t, policy.scale, policy.exponent)
    queue, waiting = lists.next_lists(state.queue, state.waiting, plan.left, members, ~forced)
    return MainState(
        wins=wins,
        evidence=evidence,
        divergence=divergence,
        made=made,
        fewest=jnp.where(arms == row, fewest, state.fewest),
        queue=queue,
        waiting=waiting,
        t=t,
    )


def quiet(
    policy: RMED2 | RMED2FH,
    state: MainState,
    limit: jax.Array,
    needed: Callable[[jax.Array], jax.Array],
) -> tuple[MainState, Quiet]:
    """The comparisons of i* with itself that come next, and the state after them.

    b_l plays no part in them: i* has one only while another arm leads against it.

    Args:
      policy: the policy.
      state: before the run.
      limit: () int32, the most comparisons that the run may have.
      needed: the comparisons that every pair must have when number t is chosen: () int32 to ()
        int32, never falling.
    """
    fewest = jnp.min(state.fewest)
    after, run = lists.quiet_run(
        lists.Lists(state.queue, state.waiting, state.t),
        lambda arm: (state.wins[arm], state.wins[:, arm]),
        state.divergence,
        policy.active_arms,
        limit,
        lambda t: lists.bound(policy.active_arms, t, policy.scale, policy.exponent),
        lambda t: fewest < needed(t),
    )
    return state._replace(**after._asdict()), run


def told(state: MainState, feedback: Feedback) -> MainState:
    """The state after withheld outcomes became known."""
    wins, outcomes = state.wins, feedback.wins()
    evidence, divergence = lists.evidence_after(state.evidence, wins, outcomes)
    return state._replace(wins=wins + outcomes, evidence=evidence, divergence=divergence)


def loglog(t: jax.Array) -> jax.Array:
    """log(log t + 0.01)."""
    return jnp.log(jnp.log(t.astype(jnp.float32)) + 0.01)
