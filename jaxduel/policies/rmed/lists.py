"""Divergences, the list of arms and RMED1's choice of opponent, for all variants of RMED."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.numerics import count_true, evidence_against_half
from jaxduel.numerics.choice import first_least
from jaxduel.numerics.crossing import count_while_true
from jaxduel.numerics.marked import where_marked
from jaxduel.numerics.quotient import quotient
from jaxduel.numerics.sums import sum_in_order
from jaxduel.numerics.target import for_accelerator
from jaxduel.policies.base import Quiet
from jaxduel.policies.checks import require
from jaxduel.policies.counts import DuelResult

_LARGEST_SLACK = 1e38
"""Largest f(K), below the largest float32."""


def require_slack(policy: Any, where: str) -> None:
    """Raises InputError if a parameter of f(K) = scale K^exponent is negative, or f(K) too
    large."""
    require(policy.scale, lambda a: a >= 0, f"{where}: scale must not be negative")
    require(policy.exponent, lambda a: a >= 0, f"{where}: exponent must not be negative")
    arms = np.sum(policy.active_arms, axis=-1, dtype=np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        power = arms ** np.asarray(policy.exponent, np.float32)
        slack = policy.scale * power
    beyond = f"{where}: K^exponent and scale K^exponent must be at most {_LARGEST_SLACK:g}"
    for number in (power, slack):
        require(number, lambda f: f <= _LARGEST_SLACK, beyond)


def evidence_of(wins: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The evidence n_ij d(mu_ij, 1/2) where mu_ij <= 1/2, else 0, and its row sums I_i.

    Args:
      wins: (K, K) int32, wins of i over j.

    Returns:
      (K, K) and (K,) float32.
    """
    evidence = jnp.where(wins <= wins.T, evidence_against_half(wins, wins.T), 0.0)
    return evidence, sum_in_order(evidence, 1)


def evidence_after(
    evidence: jax.Array, wins: jax.Array, told: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """`evidence_of` the wins after late outcomes; only pairs that got some are recomputed.

    Args:
      evidence: (K, K) float32 before.
      wins: (K, K) int32 before.
      told: (K, K) int32, late wins of i over j.

    Returns:
      (K, K) and (K,) float32.
    """
    wins = wins + told
    behind, changed = wins <= wins.T, told + told.T > 0
    renewed = changed & behind
    evidence = where_marked(evidence_against_half, renewed, evidence, wins, wins.T)
    evidence = jnp.where(behind, evidence, 0.0)
    return evidence, sum_in_order(evidence, 1)


def update_evidence(
    evidence: jax.Array,
    divergence: jax.Array,
    won: jax.Array,
    lost: jax.Array,
    learnt: DuelResult,
) -> tuple[jax.Array, jax.Array]:
    """`evidence_of` the wins after `learnt`, from its result before.

    Two entries change, and their two rows are summed anew: O(K), no drift.

    Args:
      evidence: (K, K) float32 before.
      divergence: (K,) float32 before.
      won: () int32 after, wins of the winner of `learnt` over its loser.
      lost: () int32 after, wins of the loser over the winner.
      learnt: the duel between the two.

    Returns:
      (K, K) and (K,) float32.
    """
    i, j = learnt.winner, learnt.loser
    against = jnp.where(i == j, 0.0, evidence_against_half(won, lost))
    if for_accelerator():  # in one kernel
        arms, ahead = jnp.stack((i, j)), jnp.stack((won - lost, lost - won))
        evidence = evidence.at[arms, arms[::-1]].set(
            jnp.where(ahead <= 0, against, 0.0), mode="promise_in_bounds"
        )
    else:
        own, other = (jnp.where(ahead <= 0, against, 0.0) for ahead in (won - lost, lost - won))
        evidence = evidence.at[i, j].set(own, mode="promise_in_bounds")
        evidence = evidence.at[j, i].set(other, mode="promise_in_bounds")
    arms = jnp.arange(divergence.shape[0], dtype=jnp.int32)
    divergence = jnp.where(arms == i, sum_in_order(evidence[i], 0), divergence)
    return evidence, jnp.where(arms == j, sum_in_order(evidence[j], 0), divergence)


def leader(divergence: jax.Array, active_arms: jax.Array) -> jax.Array:
    """i* = argmin I_i over the active arms (ties: the lowest index): () int32."""
    return first_least(jnp.where(active_arms, divergence, jnp.inf))


def plausible(
    divergence: jax.Array,
    active_arms: jax.Array,
    t: jax.Array,
    scale: float | jax.Array,
    exponent: float | jax.Array,
) -> jax.Array:
    """True where J_j(t) holds, I_j - I_i* <= log t + f(K): (K,) bool."""
    return (
        _excess(divergence, active_arms) <= bound(active_arms, t, scale, exponent)
    ) & active_arms


def bound(
    active_arms: jax.Array, t: jax.Array, scale: float | jax.Array, exponent: float | jax.Array
) -> jax.Array:
    """log t + f(K), f(K) = scale K^exponent, K the number of active arms: () float32.

    It rounds the same wherever it is computed: the maximum, which changes no number, keeps
    compilers from fusing the product and the sum.
    """
    slack = jnp.maximum(scale * count_true(active_arms).astype(jnp.float32) ** exponent, 0.0)
    return jnp.log(t.astype(jnp.float32)) + slack


def _excess(divergence: jax.Array, active_arms: jax.Array) -> jax.Array:
    """I_j - I_i*: (K,) float32."""
    return divergence - jnp.min(jnp.where(active_arms, divergence, jnp.inf))


def next_lists(
    queue: jax.Array, waiting: jax.Array, left: jax.Array, members: jax.Array, listed: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """L_R and L_N after a comparison; when L_R is empty a new pass begins.

    Args:
      queue: (K,) bool, L_R before.
      waiting: (K,) bool, L_N before.
      left: () int32, the arm that was compared.
      members: (K,) bool, the plausible arms.
      listed: () bool, whether `left` came from the list (else the lists stay).

    Returns:
      L_R and L_N, each (K,) bool.
    """
    arms = jnp.arange(queue.shape[0], dtype=jnp.int32)
    queue = queue & ~(listed & (arms == left))
    waiting = waiting | (members & ~queue & listed)
    passed = ~jnp.any(queue)
    return jnp.where(passed, waiting, queue), waiting & ~passed


def usual_opponent(
    wins: jax.Array, losses: jax.Array, others: jax.Array, best: jax.Array
) -> jax.Array:
    """Algorithm 2: i* if it is in O_l or O_l is empty, else the arm against which l does worst.

    Args:
      wins: (K,) int32, wins of l over each arm.
      losses: (K,) int32, wins of each arm over l.
      others: (K,) bool, the active arms other than l.
      best: () int32, i*.

    Returns:
      () int32.
    """
    ahead = others & (wins <= losses)
    n = jnp.maximum(wins + losses, 1).astype(jnp.float32)
    mean = jnp.where(wins + losses > 0, quotient(wins.astype(jnp.float32), n), 0.5)
    worst = first_least(jnp.where(others, mean, jnp.inf))
    return jnp.where(ahead[best] | ~jnp.any(ahead), best, worst)


def queue_after(
    made: jax.Array, needed: jax.Array | int, members: jax.Array, active_arms: jax.Array
) -> jax.Array:
    """L_R of a state made from counts alone: a new pass over the plausible arms.

    While no pair has more than `needed` comparisons, it holds all arms, as at the start.

    Args:
      made: int32 of any shape, comparisons of pairs.
      needed: () int32, comparisons that every pair must have before the first pass.
      members: (K,) bool, the plausible arms.
      active_arms: (K,) bool.

    Returns:
      (K,) bool.
    """
    return jnp.where(jnp.any(made > needed), members, active_arms)


class Lists(NamedTuple):
    """The lists at time t."""

    queue: jax.Array  # (K,) bool: L_R
    waiting: jax.Array  # (K,) bool: L_N
    t: jax.Array  # () int32: comparisons made


def quiet_run(
    lists: Lists,
    counts_of: Callable[[jax.Array], Iterable[jax.Array]],
    divergence: jax.Array,
    active_arms: jax.Array,
    limit: jax.Array,
    bound_of: Callable[[jax.Array], jax.Array],
    forced: Callable[[jax.Array], jax.Array],
) -> tuple[Lists, Quiet]:
    """The comparisons of i* with itself that come next, and the lists after them.

    Where O_i* is empty, i* meets itself in its turn, which teaches nothing: later lists depend on t
    alone. Its turn may end a pass. Then i* may be alone on the list until log t + f(K) reaches the
    smallest I_j - I_i* of the others; these join, and the next pass begins.

    Args:
      lists: before the run.
      counts_of: wins of an arm over each other, and its losses to each: two (K,) int32.
      divergence: (K,) float32.
      active_arms: (K,) bool.
      limit: () int32, the most comparisons that the run may have.
      bound_of: `bound` at a time, () int32 to () float32.
      forced: whether comparison number t is not from the list, () int32 to () bool; once true,
        always.

    Returns:
      The lists and the run.
    """
    arms = jnp.arange(divergence.shape[0], dtype=jnp.int32)
    best = leader(divergence, active_arms)
    others = active_arms & (arms != best)
    won, lost = counts_of(best)
    leads = ~jnp.any(others & (won <= lost))
    excess = _excess(divergence, active_arms)
    nearest = jnp.min(jnp.where(others, excess, jnp.inf))
    end = lists.t + limit

    def one(lists: Lists) -> Lists:
        queue, waiting, t = lists
        later = jnp.where(t < end, t + 1, t)
        plays = leads & (t < end) & (lax.argmax(queue, 0, jnp.int32) == best) & ~forced(later)
        members = active_arms & (excess <= bound_of(later))
        return Lists(*next_lists(queue, waiting, best, members, plays), t + plays)

    lists, begin = one(lists), lists.t
    alone = leads & ~jnp.any((lists.queue | lists.waiting) & (arms != best))
    n = count_while_true(
        lambda t: (nearest > bound_of(t)) & ~forced(t),
        lists.t,
        jnp.where(alone, end - lists.t, 0),
    )
    lists = one(one(lists._replace(t=lists.t + n)))
    return lists, Quiet(best, lists.t - begin)
