"""What the variants of RMED share: divergences, the list of arms and RMED1's choice of opponent."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import evidence_against_half, set_size
from jaxduel.policies.checks import require
from jaxduel.policies.counts import Lesson


def require_slack(scale: Any, exponent: Any, where: str) -> None:
    """Raises InputError unless f(K) = scale K^exponent has numbers that are not negative."""
    require(scale, lambda a: a >= 0, f"{where}: scale must not be negative")
    require(exponent, lambda a: a >= 0, f"{where}: exponent must not be negative")


def weigh(wins: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The evidence n_ij d(mu_ij, 1/2) where mu_ij <= 1/2, else 0, and its row sums I_i.

    Args:
      wins: (K, K) int32, wins of i over j.

    Returns:
      (K, K) and (K,) float32.
    """
    evidence = jnp.where(wins <= wins.T, evidence_against_half(wins, wins.T), 0.0)
    return evidence, jnp.sum(evidence, axis=1)


def reweigh(
    evidence: jax.Array, divergence: jax.Array, wins: jax.Array, learnt: Lesson
) -> tuple[jax.Array, jax.Array]:
    """What `weigh(wins)` gives, from what it gave before `learnt` entered the wins.

    Two entries change; the two rows that they are in are summed anew: O(K), no drift.

    Args:
      evidence: (K, K) float32 before.
      divergence: (K,) float32 before.
      wins: (K, K) int32 after.
      learnt: the duel between.

    Returns:
      (K, K) and (K,) float32.
    """
    i, j = learnt.winner, learnt.loser
    w, losses = wins[i, j], wins[j, i]
    against = jnp.where(i == j, 0.0, evidence_against_half(w, losses))
    evidence = evidence.at[i, j].set(jnp.where(w <= losses, against, 0.0), mode="promise_in_bounds")
    evidence = evidence.at[j, i].set(jnp.where(w >= losses, against, 0.0), mode="promise_in_bounds")
    arms = jnp.arange(wins.shape[0], dtype=jnp.int32)
    divergence = jnp.where(arms == i, jnp.sum(evidence[i]), divergence)
    return evidence, jnp.where(arms == j, jnp.sum(evidence[j]), divergence)


def leader(divergence: jax.Array, active_arms: jax.Array) -> jax.Array:
    """i* = argmin I_i over the active arms (ties: the lowest index): () int32."""
    return lax.argmin(jnp.where(active_arms, divergence, jnp.inf), 0, jnp.int32)


def plausible(
    divergence: jax.Array,
    active_arms: jax.Array,
    t: jax.Array,
    scale: float | jax.Array,
    exponent: float | jax.Array,
) -> jax.Array:
    """J_j(t): I_j - I_i* <= log t + scale K^exponent, K the number of active arms: (K,) bool."""
    slack = scale * set_size(active_arms).astype(jnp.float32) ** exponent
    bound = jnp.log(t.astype(jnp.float32)) + slack
    smallest = jnp.min(jnp.where(active_arms, divergence, jnp.inf))
    return (divergence - smallest <= bound) & active_arms


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
    mean = jnp.where(wins + losses > 0, wins.astype(jnp.float32) / n, 0.5)
    worst = lowest(jnp.where(others, mean, jnp.inf))
    return jnp.where(ahead[best] | ~jnp.any(ahead), best, worst)


def lowest(values: jax.Array) -> jax.Array:
    """The first index of the smallest of (K,) values: () int32.

    `lax.argmin` finds it too, but on a CPU one arm at a time, and slowly where K is large and the
    values take work.
    """
    num = values.shape[0]
    arms = jnp.arange(num, dtype=jnp.int32)
    return jnp.min(jnp.where(values == jnp.min(values), arms, num - 1))
