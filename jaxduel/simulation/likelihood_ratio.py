"""Rewards seen while a seed runs, and the generalised likelihood ratio, by which it is clear that
an arm is the best.

Papers: Kaufmann and Koolen, "Mixture martingales revisited with applications to sequential tests
and confidence intervals" (JMLR 22, 2021); Garivier and Kaufmann, "Optimal best arm identification
with fixed confidence" (COLT 2016), for the statistic. With n_i pulls of arm i, the average m_i and
the divergence d of the rewards' law, the ratio of arm a, of the largest average, against arm b is

    Z_ab = min over m of n_a d(m_a, m) + n_b d(m_b, m),

of Bernoulli rewards at the average m of both arms together, of Gaussian ones with known standard
deviations (m_a - m_b)^2 / (2 (std_a^2 / n_a + std_b^2 / n_b)). The rule names a once for every b

    Z_ab >= level + c(n_a) + c(n_b),

of Gaussian rewards with c(n) = 2 log(4 + log n) (Corollary 10 of the first paper), of Bernoulli
ones with c(n) = 3 log(1 + log n) (Theorem 7); `jaxduel.votes.stopping.level_of` has the level.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.policies.base import Pull, PullBatch
from jaxduel.simulation.cells import Cell
from jaxduel.simulation.instances import GaussianArms

_NEAR = 0.3
_SERIES = tuple((-1) ** k / (k * (k - 1)) for k in range(2, 16))
"""Coefficients of u^2, u^3, ... in (1 + u) log(1 + u) - u; for |u| <= 0.3 the omitted terms are
below 1e-8 of the sum."""


class Pulled(NamedTuple):
    """Pulls and rewards of arms."""

    pulls: jax.Array  # (K,) int32
    rewards: Any  # as `Instance.no_outcomes`


def no_pulls(cell: Cell) -> Pulled:
    """No pulls of the cell's arms."""
    zeros = jnp.zeros(cell.policy.num_arms, jnp.int32)
    return Pulled(zeros, cell.instance.no_outcomes())


def with_pulls(
    cell: Cell, arms: jax.Array, pulled: Pulled, plan: Pull | PullBatch, outcome: jax.Array
) -> Pulled:
    """The pulls and rewards with those of a plan; arms as in the seed's `Setup`."""
    rewards = cell.instance.add_outcome(pulled.rewards, arms, plan, outcome, None)
    if isinstance(plan, PullBatch):
        return Pulled(pulled.pulls + plan.counts, rewards)
    return Pulled(pulled.pulls.at[plan.arm].add(1, mode="promise_in_bounds"), rewards)


def clearly_best(cell: Cell, arms: jax.Array, pulled: Pulled) -> tuple[jax.Array, jax.Array]:
    """True if the rule names an arm, and the arm of the largest average: () bool, () int32.

    Args:
      cell: the cell, with arms whose rewards are Gaussian or 0 and 1.
      arms: (K,) int32, as in the seed's `Setup`.
      pulled: the pulls and rewards so far; an arm without pulls is never clear of another.
    """
    n = jnp.maximum(pulled.pulls, 1).astype(jnp.float32)
    active = jnp.asarray(cell.policy.active_arms)
    if isinstance(cell.instance, GaussianArms):
        averages = cell.instance.means[arms] + pulled.rewards / n
        best = _largest(averages, active)
        variance = jnp.square(cell.instance.std[arms]) / n
        lead = averages[best] - averages
        ratio = jnp.square(lead) / (2.0 * (variance[best] + variance))
        needed = 2.0 * jnp.log(4.0 + jnp.log(n))
    else:
        ones = pulled.rewards.ones.astype(jnp.float32)
        zeros = (pulled.pulls - pulled.rewards.ones).astype(jnp.float32)
        best = _largest(ones / n, active)
        ratio = _bernoulli_ratio(ones, zeros, best)
        needed = 3.0 * jnp.log(1.0 + jnp.log(n))
    is_clear = ratio >= jnp.asarray(cell.poll.needed) + needed[best] + needed
    others = active & (jnp.arange(len(n)) != best)
    return jnp.all((is_clear & (pulled.pulls > 0)) | ~others) & (pulled.pulls[best] > 0), best


def _largest(averages: jax.Array, active: jax.Array) -> jax.Array:
    """The active arm of the largest average, of several the first: () int32."""
    return jnp.argmax(jnp.where(active, averages, -jnp.inf)).astype(jnp.int32)


def _bernoulli_ratio(ones: jax.Array, zeros: jax.Array, best: jax.Array) -> jax.Array:
    """Z of the best arm against each, of counts of rewards of 1 and 0, (K,) float32 each.

    Averages that lead by little, near 0 or near 1, are told apart by the rarer reward.
    """
    n, tiny = jnp.maximum(ones + zeros, 1.0), jnp.float32(1e-30)
    own, share = n[best] / (n[best] + n), n / (n[best] + n)
    p = (ones[best] + ones) / (n[best] + n)
    q = (zeros[best] + zeros) / (n[best] + n)
    up, down = ones / n, zeros / n
    lead = jnp.where(p < q, up[best] - up, down - down[best])

    def divergence(more: jax.Array) -> jax.Array:
        """kl(p + more, p): with h(u) = (1 + u) log(1 + u) - u it is p h(more / p) + q h(-more / q),
        as the linear terms cancel."""
        return p * _h(more / jnp.maximum(p, tiny)) + q * _h(-more / jnp.maximum(q, tiny))

    return n[best] * divergence(lead * share) + n * divergence(-lead * own)


def _h(u: jax.Array) -> jax.Array:
    """(1 + u) log(1 + u) - u, u >= -1."""
    near = jnp.zeros_like(u)
    for coefficient in reversed(_SERIES):
        near = (near + coefficient) * u
    up = jnp.maximum(1.0 + u, jnp.float32(1e-30))
    return jnp.where(jnp.abs(u) <= _NEAR, near * u, up * jnp.log(up) - u)
