"""PCOMP: all pairs of active arms, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from jaxduel.policies.base import Batch, Key
from jaxduel.policies.batched_dueling.rounds import (
    BatchedSettings,
    BatchedState,
    account,
    all_pairs,
    beaten_by_hoeffding,
    beaten_by_kl,
    commit,
    comparisons_per_pair,
    keep_survivors,
    terms_of,
)
from jaxduel.policies.checks import require_whole
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


@register("pcomp")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class PCOMP(BatchedSettings):
    """PCOMP, "Batched Dueling Bandits" (2022), Algorithm 1. At most B batches.

    In round r every pair of active arms is compared c_r = floor(q^(r + tau - 1)) times (lines 3,
    4); arms that lose surely are eliminated (lines 5 to 7, or the KL criterion). One arm left plays
    itself: its last batch takes all that remains of T.

    Attributes:
      tau: index of the first batch, 1 unless another algorithm hands over.

    The other attributes are those of `BatchedSettings`. Draws nothing: given the outcomes it is
    deterministic.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("pcomp", num_arms=3, horizon=10_000, num_batches=4)
      >>> key = jax.random.key(0)
      >>> policy.act(policy.init(key), key).counts.tolist()  # c_1 = 10,000^(1/4)
      [[0, 10, 10], [0, 0, 10], [0, 0, 0]]
    """

    tau: int | jax.Array = 1

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        BatchedSettings.validate(self)
        require_whole(self.tau, 1, "pcomp: tau must be a whole number of at least 1")

    def init(self, key: Key) -> BatchedState:
        """Line 2."""
        num = self.num_arms
        return BatchedState(
            active=jnp.asarray(self.active_arms),
            wins=jnp.zeros((num, num), jnp.int32),
            batch=jnp.asarray(self.tau, jnp.int32),
            remaining=jnp.asarray(self.horizon, jnp.int32),
            rounds=jnp.int32(0),
        )

    def act(self, state: BatchedState, key: Key) -> Batch:
        """Line 4."""
        size = comparisons_per_pair(self, state.batch)
        return commit(all_pairs(state.active), state.active, size, state.remaining)

    def update(
        self, state: BatchedState, plan: Batch, outcome: jax.Array, key: Key
    ) -> BatchedState:
        """Lines 5 to 8."""
        wins = state.wins + outcome
        remaining, rounds = account(state.remaining, state.rounds, plan)
        terms = terms_of(self)
        if self.elimination == "hoeffding":
            beaten = beaten_by_hoeffding(self, state.active, state.batch, outcome, terms)
        else:
            beaten = beaten_by_kl(self, state.active, wins, terms)
        return BatchedState(
            active=keep_survivors(state.active, beaten),
            wins=wins,
            batch=state.batch + 1,
            remaining=remaining,
            rounds=rounds,
        )
