"""Batched double explore-then-commit for two arms whose gap is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics.float64 import in_float64, to_int32
from jaxduel.policies.arms.double_etc.stages import (
    CHALLENGE,
    DoubleETCState,
    UnknownGapSettings,
    after_round,
    are_apart,
    committed,
    first_state,
    is_told_apart,
    leader_pulls,
    planned,
    theta,
    with_anchor,
    with_leader,
)
from jaxduel.policies.arms.elimination import pulls_made
from jaxduel.policies.base import Key, PullBatch
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class DETCBatchedState(NamedTuple):
    """One seed's state."""

    stages: DoubleETCState
    gap: jax.Array  # () float32: D', from the first test of stage III on


@register("detc-batched", "DETC, batched")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DETCBatched(UnknownGapSettings):
    """DETC batched, Jin, Xu, Xiao and Gu (COLT 2021), Algorithm 5: two arms whose gap is not known,
    in O(1) batches in expectation.

    As Algorithm 2 (`DETC`) with T_1 = log^2 T, but

    - Stage I tests only after t = 2 k sqrt(log T) pulls, k = 1, 2, ...
    - Stage III tests after N_1 = 2 log T / loglog T pulls of 2', where D' = |mu' - theta|, then
      after (2/D'^2) N_2 log(T log^3 T) + (k/D'^2) N_2 (log T)^(2/3) of them, k = 1, 2, ..., with
      N_2 = (1 + (log T)^(-1/4))^2. It ends with log^2 T pulls, whatever the tests say.

    Numbers of pulls are rounded up (those of stage I for each arm), and a batch has a pull at
    least. Stages II and IV are a batch each.

    Draws nothing: given the rewards it is deterministic. Ties of means go to the first arm.

    Attributes: those of `UnknownGapSettings`.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("detc-batched", num_arms=2, horizon=1_000_000)
      >>> key = jax.random.key(0)
      >>> policy.act(policy.init(key), key).counts.tolist()  # sqrt(log T) = 3.7
      [4, 4]
    """

    def init(self, key: Key) -> DETCBatchedState:
        """The beginning of stage I."""
        return DETCBatchedState(first_state(self.active_arms), jnp.float32(0))

    def act(self, state: DETCBatchedState, key: Key) -> PullBatch:
        """The pulls up to the next test, or a whole stage."""
        stages = state.stages
        _, commit_at = self.first_commitment()
        explore_to, challenge_to, _ = self._ends(stages.rounds, state.gap)
        made = pulls_made(stages.fresh)
        return planned(
            stages,
            self.active_arms,
            self.horizon,
            explore=jnp.maximum(explore_to - made, 2),
            lead=commit_at - leader_pulls(stages),
            challenge=jnp.maximum(challenge_to - made, 1),
        )

    def update(
        self, state: DETCBatchedState, plan: PullBatch, outcome: jax.Array, key: Key
    ) -> DETCBatchedState:
        """The tests, and the turns between the stages."""
        t_1, commit_at = self.first_commitment()
        active, stages = self.active_arms, after_round(state.stages, plan, outcome)
        first_test = (stages.stage == CHALLENGE) & (stages.rounds == 1)
        gap = jnp.where(first_test, jnp.abs(stages.anchor - theta(stages, active)), state.gap)
        stages = with_leader(stages, active, are_apart(stages.rewards, active, t_1))
        stages = with_anchor(stages, commit_at)
        *_, most = self._ends(stages.rounds, gap)
        decided = is_told_apart(stages, active, self.horizon) | (pulls_made(stages.fresh) >= most)
        return DETCBatchedState(committed(stages, active, decided), gap)

    def _ends(self, rounds: jax.Array, gap: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Pulls of the stage with which the round after so many ends, in stage I and in stage III,
        and the most in stage III: () int32 each."""

        def formula(horizon: Any, rounds: Any, gap: Any) -> tuple[jax.Array, ...]:
            log = jnp.log(horizon)
            most = jnp.maximum(jnp.ceil(log**2), 1)
            n_1 = jnp.where(log > 1, 2 * log / jnp.log(jnp.maximum(log, 1.01)), 1)
            n_2 = (1 + log**-0.25) ** 2
            later = n_2 / gap**2 * (2 * (log + 3 * jnp.log(log)) + rounds * log ** (2 / 3))
            at = jnp.ceil(jnp.where(rounds == 0, n_1, later))
            explore = 2 * jnp.ceil((rounds + 1) * jnp.sqrt(log))
            return to_int32(explore), to_int32(jnp.clip(at, 1, most)), to_int32(most)

        return in_float64(formula, self.horizon, rounds, gap)
