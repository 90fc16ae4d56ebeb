"""Double explore-then-commit for K arms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true
from jaxduel.numerics.float64 import in_float64, to_int32
from jaxduel.policies.arms.double_etc.stages import (
    AGAIN,
    CHALLENGE,
    COMMIT,
    LEAD,
    DoubleETCState,
    after_round,
    challenge_radius,
    first_state,
    planned,
    theta,
    turned,
    with_leader,
)
from jaxduel.policies.arms.elimination import best_of, means_of
from jaxduel.policies.base import Key, PullBatch
from jaxduel.policies.checks import require_horizon
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


@register("detc-arms", "DETC, K arms")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DETCArms:
    """DETC arms, Jin, Xu, Xiao and Gu (COLT 2021), Algorithm 7: K arms.

    - Stage I pulls every arm until more than K sqrt(log T) pulls are made.
    - Stage II pulls 1', the arm of the largest mean, log^2 T times more; mu' is the mean of these.
    - Stage III pulls each other arm i in turn, t times, at least once, while |mu' - theta_i| <
      sqrt(2/t log(T/t (log^2(T/t) + 1))) and t < log^2 T; theta_i is the mean of these pulls. It
      has failed if t reaches log^2 T for any arm.
    - Stage IV pulls 1' to the end if mu' >= theta_i for all i and stage III has not failed. Else it
      pulls every arm log^2 T times, and the arm of the largest mean of these to the end.

    Numbers of pulls are rounded up. Stages I, II and IV are a round or two each; in stage III,
    where a test follows each pull, a pull is a round. Draws nothing: given the rewards it is
    deterministic. Ties of means go to the lowest number.

    Attributes:
      num_arms: K; formulas count the active ones.
      active_arms: (K,) bool, the arms that exist.
      horizon: T, pulls in all.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("detc-arms", num_arms=3, horizon=1_000_000)
      >>> key = jax.random.key(0)
      >>> policy.act(policy.init(key), key).counts.tolist()  # sqrt(log T) = 3.7
      [4, 4, 4]
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for a horizon out of range."""
        require_horizon(self.horizon, "detc-arms")

    def init(self, key: Key) -> DoubleETCState:
        """The beginning of stage I."""
        return first_state(self.active_arms)

    def act(self, state: DoubleETCState, key: Key) -> PullBatch:
        """A whole stage, or a pull of the arm that stage III explores."""
        sweeps, most = self._lengths()
        left = self._unexplored(state)
        size = count_true(self.active_arms)
        return planned(
            state,
            self.active_arms,
            self.horizon,
            explore=sweeps * size,
            lead=most,
            challenger=left & (jnp.cumsum(left, dtype=jnp.int32) == 1),
            again=most * size,
        )

    def update(
        self, state: DoubleETCState, plan: PullBatch, outcome: jax.Array, key: Key
    ) -> DoubleETCState:
        """The turns between the stages."""
        active, (_, most) = self.active_arms, self._lengths()
        before, state = state.stage, after_round(state, plan, outcome)
        challenges = before == CHALLENGE
        explored = challenges & ~jnp.any(self._unexplored(state))
        reached = jnp.any(active & ~state.leader & (state.fresh.pulls >= most))
        stays = explored & (state.anchor >= theta(state, active)) & ~reached
        best, mean = best_of(state.fresh, active), jnp.max(means_of(state.fresh, state.leader))
        state = with_leader(state, active)
        state = state._replace(anchor=jnp.where(before == LEAD, mean, state.anchor))
        state = turned(state, before == LEAD, CHALLENGE)
        state = turned(state, stays, COMMIT)
        state = turned(state, explored & ~stays, AGAIN)
        return turned(state, before == AGAIN, COMMIT, best)

    def _unexplored(self, state: DoubleETCState) -> jax.Array:
        """The arms that stage III has still to pull: (K,) bool."""
        _, most = self._lengths()
        t = state.fresh.pulls
        distance = jnp.abs(state.anchor - means_of(state.fresh, self.active_arms))
        over = (t > 0) & ((distance >= challenge_radius(t, self.horizon)) | (t >= most))
        return self.active_arms & ~state.leader & ~over

    def _lengths(self) -> tuple[jax.Array, jax.Array]:
        """Pulls of an arm in stage I, and log^2 T, one at least: () int32 each."""

        def formula(horizon: Any) -> tuple[jax.Array, jax.Array]:
            log = jnp.log(horizon)
            most = jnp.maximum(jnp.ceil(log**2), 1)
            return to_int32(jnp.floor(jnp.sqrt(log)) + 1), to_int32(most)

        return in_float64(formula, self.horizon)
