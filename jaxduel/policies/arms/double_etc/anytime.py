"""Double explore-then-commit for two arms without a horizon."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.policies.arms.double_etc.stages import challenge_radius
from jaxduel.policies.arms.elimination import (
    Rewards,
    best_of,
    means_of,
    no_rewards,
    pulls_made,
    with_round,
)
from jaxduel.policies.base import Key, Pull, PullBatch, RewardFeedback
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class DETCAnytimeState(NamedTuple):
    """One seed's state."""

    rewards: Rewards
    epoch: jax.Array  # () int32: r
    leader: jax.Array  # (K,) bool: 1' of the epoch
    explores: jax.Array  # () bool: whether the epoch still pulls 2'
    arm: jax.Array  # () int32: the arm that comes next


@register("detc-anytime", "DETC, anytime")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DETCAnytime:
    """DETC anytime, Jin, Xu, Xiao and Gu (COLT 2021), Algorithm 6: two arms, no horizon.

    Each arm once; then epochs r = 1, 2, ..., the r-th until more than 2^(r+1) pulls are made. It
    begins with 1', the arm pulled most, and pulls the other, 2', while |mu_1' - mu_2'| < sqrt(2/n
    log(x (log^2 x + 1))), x = r 2^r / n, where n counts the pulls of 2' and means are of all pulls
    of an arm; then the arm of the larger mean to the end of the epoch. No log below 0 counts. With
    delays pulls and means are of known rewards.

    Draws nothing: given the rewards it is deterministic. Ties go to the first arm. A step costs
    O(K).

    Attributes:
      num_arms: K; two arms are active.
      active_arms: (K,) bool, the arms that exist.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("detc-anytime", num_arms=2)
      >>> result = jd.simulate(policy, jd.problems.gaussian([0.5, 0.0]), 1_000, num_seeds=10)
      >>> result.plays[:, -1].sum(axis=-1).tolist()
      [1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000]
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array

    assumes: ClassVar[tuple[str, ...]] = ()
    max_arms: ClassVar[int] = 2

    def init(self, key: Key) -> DETCAnytimeState:
        """No pulls; the first arm comes, then as 2' the second."""
        none = no_rewards(self.num_arms)
        return DETCAnytimeState(
            rewards=none,
            epoch=jnp.int32(1),
            leader=_first_largest(none.pulls, jnp.asarray(self.active_arms)),
            explores=jnp.bool_(True),
            arm=jnp.int32(0),
        )

    def act(self, state: DETCAnytimeState, key: Key) -> Pull:
        """The arm that was decided on."""
        return Pull(state.arm)

    def update(
        self, state: DETCAnytimeState, plan: Pull, outcome: jax.Array, key: Key
    ) -> DETCAnytimeState:
        """The state with the reward, and the arm that comes next."""
        pulled = jnp.arange(self.num_arms, dtype=jnp.int32) == plan.arm
        counts = (pulled & ~jnp.isnan(outcome)).astype(jnp.int32)
        return self._given(state, counts, jnp.where(counts > 0, outcome, 0.0))

    def learn(self, state: DETCAnytimeState, feedback: RewardFeedback) -> DETCAnytimeState:
        """The state with rewards that were withheld, and the arm that comes next."""
        return self._given(state, feedback.pulls, feedback.totals)

    def _given(
        self, state: DETCAnytimeState, pulls: jax.Array, totals: jax.Array
    ) -> DETCAnytimeState:
        """The next epoch if this one is over, the test, and the arm that comes next."""
        active = jnp.asarray(self.active_arms)
        rewards = with_round(state.rewards, PullBatch(pulls), totals)
        past = jnp.maximum(pulls_made(rewards) - 1, 0)
        last = 31 - lax.clz(past)  # the r with 2^r < t <= 2^(r + 1): some are missed with delays
        epoch = jnp.maximum(state.epoch, last)
        over = epoch > state.epoch
        leader = jnp.where(over, _first_largest(rewards.pulls, active), state.leader)
        other = active & ~leader
        n = jnp.sum(jnp.where(other, rewards.pulls, 0), dtype=jnp.int32)
        distance = jnp.abs(jnp.max(means_of(rewards, leader)) - jnp.max(means_of(rewards, other)))
        r = epoch.astype(jnp.float32)
        undecided = (distance < challenge_radius(n, r * jnp.exp2(r))) | (n == 0)
        chooses = over | state.explores
        chosen = jnp.where(undecided, other, best_of(rewards, active))
        return DETCAnytimeState(
            rewards=rewards,
            epoch=epoch,
            leader=leader,
            explores=chooses & undecided,
            arm=jnp.where(chooses, lax.argmax(chosen, 0, jnp.int32), state.arm),
        )


def _first_largest(numbers: jax.Array, active: jax.Array) -> jax.Array:
    """The active arm of the largest number, on ties the first: (K,) bool."""
    largest = lax.argmax(jnp.where(active, numbers, -1), 0, jnp.int32)
    return jnp.arange(numbers.shape[0], dtype=jnp.int32) == largest
