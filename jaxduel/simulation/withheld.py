"""Outcomes that policies are not told yet, where feedback is delayed."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import compensated
from jaxduel.numerics.target import for_accelerator
from jaxduel.policies.base import WITHHELD, Duel, Feedback, RewardFeedback
from jaxduel.policies.counts import FEW
from jaxduel.simulation.cells import Cell
from jaxduel.simulation.instances import Duels


class LateRewards(NamedTuple):
    """Rewards of pulls, summed so that sums do not stall (`jaxduel.numerics.compensated`)."""

    pulls: jax.Array  # (K,) int32
    total: jax.Array  # (K,) float32: the sum of the arm's rewards,
    carry: jax.Array  # (K,) float32: and what rounding left out


Withheld = Feedback | LateRewards
"""Outcomes of one seed, of the policy's arms."""


def nothing_withheld(cell: Cell) -> Withheld:
    """No outcomes."""
    num = cell.policy.num_arms
    if isinstance(cell.instance, Duels):
        table = jnp.zeros((num, num), jnp.int32)
        return Feedback(table, table)
    zeros = jnp.zeros(num, jnp.float32)
    return LateRewards(jnp.zeros(num, jnp.int32), zeros, zeros)


def withhold(so_far: Any, plan: Any, outcome: jax.Array) -> tuple[Withheld, jax.Array]:
    """The outcomes with one more, and what the policy is told in its place."""
    mode = "promise_in_bounds"
    if isinstance(plan, Duel):
        won, lost = (outcome > 0).astype(jnp.int32), (outcome < 0).astype(jnp.int32)
        more = Feedback(
            so_far.left_wins.at[plan.left, plan.right].add(won, mode=mode),
            so_far.right_wins.at[plan.left, plan.right].add(lost, mode=mode),
        )
        return more, jnp.int32(WITHHELD)
    arm, (pulls, total, carry) = plan.arm, so_far
    if for_accelerator() or len(pulls) <= FEW:
        here = jnp.arange(len(pulls), dtype=jnp.int32) == arm
        total, carry = compensated.add(total, carry, jnp.where(here, outcome, 0.0))
        return LateRewards(pulls + here, total, carry), jnp.float32(jnp.nan)
    sums = compensated.add(total[arm], carry[arm], outcome)
    more = LateRewards(
        pulls.at[arm].add(1, mode=mode),
        total.at[arm].set(sums[0], mode=mode),
        carry.at[arm].set(sums[1], mode=mode),
    )
    return more, jnp.float32(jnp.nan)


def feedback_of(withheld: Any) -> Feedback | RewardFeedback:
    """The outcomes as policies learn them."""
    if isinstance(withheld, Feedback):
        return withheld
    return RewardFeedback(withheld.pulls, compensated.value(withheld.total, withheld.carry))


def is_any_withheld(withheld: Any) -> jax.Array:
    """True if there are outcomes: () bool."""
    counts = withheld if isinstance(withheld, Feedback) else (withheld.pulls,)
    return jnp.any(jnp.stack(counts) != 0)
