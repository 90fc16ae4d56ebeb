"""Successive elimination: BaSE with as many batches as it can use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true
from jaxduel.policies.arms.elimination import (
    Rewards,
    no_rewards,
    pulls_made,
    spread,
    survivors,
    with_round,
)
from jaxduel.policies.base import Key, PullBatch
from jaxduel.policies.checks import require, require_horizon
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class SuccessiveEliminationState(NamedTuple):
    """One seed's state."""

    arms: jax.Array  # (K,) bool: A, the arms that are left
    rewards: Rewards


@register("successive-elimination", label="successive elimination")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SuccessiveElimination:
    """Successive elimination, "Batched Multi-armed Bandits" (Gao, Han, Ren and Zhou, 2019), Section
    2.1, the case M = T.

    Algorithm 1 with a batch for each sweep: every arm of A is pulled once, in order of number (line
    a), then arm i goes if max_A Ybar - Ybar_i >= sqrt(gamma log(T K) / tau) (line b), Ybar over all
    pulls of an arm, tau of them each. Nothing commits. The last sweep stops at T; an arm that is
    alone takes all that is left in one batch. The idea is of Even-Dar, Mannor and Mansour (2006),
    this form of the test of Perchet and Rigollet (2013).

    A sweep is one round of the simulation, so a run costs as many rounds as the second best arm
    needs pulls to go, at most T / 2.

    Attributes:
      num_arms: K; the test counts the active ones.
      active_arms: (K,) bool, the arms that exist.
      horizon: T, pulls in all.
      gamma: the width of the test, positive; the paper's 1.

    Draws nothing: given the rewards it is deterministic.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("successive-elimination", num_arms=3, horizon=10_000, gamma=0.5)
      SuccessiveElimination(num_arms=3, horizon=10000, gamma=0.5)
      >>> jd.policies.describe("successive-elimination").plays
      'batches of pulls of arms with rewards'
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    gamma: float | jax.Array = 1.0

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require_horizon(self.horizon, "successive-elimination")
        require(self.gamma, lambda x: x > 0, "successive-elimination: gamma must be positive")

    def init(self, key: Key) -> SuccessiveEliminationState:
        """A is the set of all arms."""
        return SuccessiveEliminationState(jnp.asarray(self.active_arms), no_rewards(self.num_arms))

    def act(self, state: SuccessiveEliminationState, key: Key) -> PullBatch:
        """Line a."""
        remaining = jnp.asarray(self.horizon, jnp.int32) - pulls_made(state.rewards)
        size = count_true(state.arms)
        amount = jnp.where(size == 1, remaining, jnp.minimum(size, remaining))
        return spread(state.arms, amount)

    def update(
        self,
        state: SuccessiveEliminationState,
        plan: PullBatch,
        outcome: jax.Array,
        key: Key,
    ) -> SuccessiveEliminationState:
        """Line b."""
        rewards = with_round(state.rewards, plan, outcome)
        arms = survivors(rewards, state.arms, self.gamma, self.horizon, self.active_arms)
        return SuccessiveEliminationState(arms, rewards)
