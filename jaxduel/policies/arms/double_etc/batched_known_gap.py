"""Batched double explore-then-commit for two arms whose gap is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from jaxduel.numerics.float64 import to_int32
from jaxduel.policies.arms.double_etc.stages import (
    DoubleETCState,
    KnownGapSettings,
    known_gap_lengths,
    leader_pulls,
    of_known_gap,
    planned,
)
from jaxduel.policies.arms.elimination import pulls_made
from jaxduel.policies.base import Key, PullBatch
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


@register("detc-batched-known-gap", "DETC, batched, known gap")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DETCBatchedKnownGap(KnownGapSettings):
    """DETC batched known gap, Jin, Xu, Xiao and Gu (COLT 2021), Algorithm 4: two arms whose gap is
    known, in O(1) batches in expectation.

    As Algorithm 1 (`DETCKnownGap`), but stage III tests only after

        t = ceil(tau_0 + k (2 sqrt(log(T D^2)) + 4) / (2 (1 - e)^2 D^2)), k = 1, 2, ...

    pulls of 2', with tau_0 = log(T D^2) / (2 (1 - e)^2 D^2). Stages I, II and IV are a batch each,
    and a batch has a pull at least.

    Draws nothing: given the rewards it is deterministic. Ties of means go to the first arm.

    Attributes: those of `KnownGapSettings`.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("detc-batched-known-gap", num_arms=2, horizon=10_000, gap=0.5)
      >>> result = jd.simulate(policy, jd.problems.gaussian([0.5, 0.0]), num_seeds=100)
      >>> int(result.batches.min())
      4
    """

    def act(self, state: DoubleETCState, key: Key) -> PullBatch:
        """A whole stage, or the pulls up to the next test of stage III."""
        lengths = known_gap_lengths(self)
        return planned(
            state,
            self.active_arms,
            self.horizon,
            explore=lengths.explore,
            lead=lengths.commit_at - leader_pulls(state),
            challenge=jnp.maximum(self._test_at(state.rounds + 1) - pulls_made(state.fresh), 1),
        )

    def _test_at(self, number: jax.Array) -> jax.Array:
        """Pulls of stage III at its k-th test: () int32."""

        def formula(horizon: Any, gap: Any, epsilon: Any, number: Any) -> jax.Array:
            scale = 2 * (1 - epsilon) ** 2 * gap**2
            log_term = jnp.log(horizon * gap**2)
            return to_int32(jnp.ceil((log_term + number * (2 * jnp.sqrt(log_term) + 4)) / scale))

        return of_known_gap(formula, self, number)
