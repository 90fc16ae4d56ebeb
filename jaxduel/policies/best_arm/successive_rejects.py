"""Successive rejects: a budget in K - 1 phases, each of which dismisses an arm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true
from jaxduel.numerics.float64 import in_float64, to_int32
from jaxduel.policies.arms.elimination import Rewards, no_rewards, pulls_made, with_round
from jaxduel.policies.base import Key, PullBatch
from jaxduel.policies.best_arm.keeping import keep_best, only_one
from jaxduel.policies.checks import require_horizon, require_pulls
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_GUARD = 1.0 - 1e-14
"""A whole number of pulls must come out as one, although rounded arithmetic may exceed it."""


class SuccessiveRejectsState(NamedTuple):
    """One seed's state."""

    arms: jax.Array  # (K,) bool: A_k, the arms that are left
    rewards: Rewards


@register("successive-rejects", label="successive rejects")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SuccessiveRejects:
    """Successive rejects, Audibert, Bubeck and Munos (COLT 2010), Figure 3: names the best arm with
    a budget of T pulls.

    Phase k = 1, ..., K - 1 pulls every arm that is left until it has

        n_k = ceil((T - K) / (c (K + 1 - k))),  c = 1/2 + 1/2 + 1/3 + ... + 1/K,

    pulls, and dismisses the arm of the smallest average of all its rewards, on ties one of them at
    random. The last arm is the answer, and takes what is left of the budget.

    A phase is a round. Phases that pull nothing, as n_k is what it was, dismiss their arms together
    with the phase before them; so there are at most K rounds. For T = K, where the formula says 0,
    every arm is pulled once.

    Attributes:
      num_arms: K; formulas count the active ones.
      active_arms: (K,) bool, the arms that exist.
      horizon: T, the budget, at least K.

    `update` draws the order of equal arms.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("successive-rejects", num_arms=3, horizon=1_003)
      >>> key = jax.random.key(0)
      >>> policy.act(policy.init(key), key).counts.tolist()  # c = 4/3; then 125 of either arm
      [250, 250, 250]
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for a horizon out of range."""
        require_horizon(self.horizon, "successive-rejects")
        require_pulls(self.horizon, self.active_arms, "successive-rejects")

    def init(self, key: Key) -> SuccessiveRejectsState:
        """All arms are left."""
        return SuccessiveRejectsState(jnp.asarray(self.active_arms), no_rewards(self.num_arms))

    def act(self, state: SuccessiveRejectsState, key: Key) -> PullBatch:
        """The phase, or what is left of the budget for the last arm."""
        size = count_true(state.arms)
        left = jnp.asarray(self.horizon, jnp.int32) - pulls_made(state.rewards)
        more = self._pulls()[size - 1] - state.rewards.pulls
        return PullBatch(jnp.where(state.arms, jnp.where(size == 1, left, more), 0))

    def update(
        self, state: SuccessiveRejectsState, plan: PullBatch, outcome: jax.Array, key: Key
    ) -> SuccessiveRejectsState:
        """Dismisses an arm, and one for each phase without a pull that follows."""
        rewards = with_round(state.rewards, plan, outcome)
        sizes, pulls = self._sizes(), self._pulls()
        size = count_true(state.arms)
        pulling = (sizes > 1) & (sizes < size) & (pulls > pulls[size - 1])
        following = jnp.max(jnp.where(pulling, sizes, 1))
        return SuccessiveRejectsState(keep_best(rewards, state.arms, following, key), rewards)

    def answer(self, state: SuccessiveRejectsState) -> jax.Array:
        """The last arm: () int32."""
        return only_one(state.arms)

    def _sizes(self) -> jax.Array:
        """1, ..., K, the sizes of A_k: (K,) int32."""
        return jnp.arange(1, self.num_arms + 1, dtype=jnp.int32)

    def _pulls(self) -> jax.Array:
        """n_k, by the size of A_k: (K,) int32."""

        def formula(horizon: Any, arms: Any, sizes: Any) -> jax.Array:
            c = jnp.sum(jnp.where(sizes <= arms, 1 / sizes, 0)) - 0.5
            return to_int32(jnp.maximum(jnp.ceil((horizon - arms) / (c * sizes) * _GUARD), 1))

        arms = count_true(jnp.asarray(self.active_arms))
        return in_float64(formula, self.horizon, arms, self._sizes())
