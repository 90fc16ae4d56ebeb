"""Sequential halving: a budget in rounds, each of which keeps the better half of the arms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.float64 import in_float64, to_int32
from jaxduel.policies.arms.elimination import Rewards, no_rewards, with_round
from jaxduel.policies.base import Key, PullBatch
from jaxduel.policies.best_arm.keeping import keep_best, only_one
from jaxduel.policies.checks import require_horizon, require_pulls, require_whole
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_GUARD = 1.0 - 1e-13
"""A whole number of arms must come out as one, although rounded arithmetic may exceed it."""


class SequentialHalvingState(NamedTuple):
    """One seed's state."""

    arms: jax.Array  # (K,) bool: S_r, the arms that are left
    rewards: Rewards  # of the round, or of all rounds
    round: jax.Array  # () int32: r of the round that comes next, from 0
    made: jax.Array  # () int32: pulls made


@register("sequential-halving", label="sequential halving")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SequentialHalving:
    """Sequential halving, Karnin, Koren and Somekh (ICML 2013), Algorithm 3: names the best arm
    with a budget of T pulls.

    Rounds r = 0, ..., B - 1, B = ceil(log2 K), pull each of the arms that are left, S_r,
    t_r = floor(T / (|S_r| B)) times and keep the ceil(|S_r| / 2) of the largest averages of the
    rewards in this round. The last arm is the answer, and takes the pulls that are left, which the
    paper does not make. Of equal arms, as many as fit are kept at random.

    Other numbers of rounds are not in the paper. They share the budget in the same way, and after r
    of them

        ceil(K 2^(-r ceil(log2 K) / B))

    arms are left: one after B rounds, and half of them after each if B = ceil(log2 K), so that this
    is the paper's algorithm then; with B = 1 all arms are pulled equally often. If B exceeds
    ceil(log2 K) some rounds may drop no arm. With `keep_rewards=True` averages are of all rounds so
    far, as most programs have it.

    Attributes:
      num_arms: K; formulas count the active ones.
      active_arms: (K,) bool, the arms that exist.
      horizon: T, the budget, at least K B.
      num_batches: B; None for ceil(log2 K). The answer's pulls may be one batch more.
      keep_rewards: whether the rewards of earlier rounds count.

    `update` draws the order of equal arms.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("sequential-halving", num_arms=5, horizon=1_000)
      >>> key = jax.random.key(0)
      >>> policy.act(policy.init(key), key).counts.tolist()  # then 111 of 3 arms, 166 of 2
      [66, 66, 66, 66, 66]
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    num_batches: int | jax.Array | None = None
    keep_rewards: bool = field(default=False, metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ()

    def validate(self) -> None:
        """Raises InputError for a horizon or a number of batches out of range."""
        name = "sequential-halving"
        require_horizon(self.horizon, name)
        least = f"{name}: num_batches must be a whole number of at least 1"
        require_whole(self.num_batches, 1, least)
        batches = self.num_batches
        if batches is None:
            batches = np.ceil(np.log2(np.sum(np.asarray(self.active_arms), axis=-1))).astype(int)
        require_pulls(self.horizon, self.active_arms, name, batches)

    def init(self, key: Key) -> SequentialHalvingState:
        """All arms are left."""
        none = jnp.int32(0)
        arms = jnp.asarray(self.active_arms)
        return SequentialHalvingState(arms, no_rewards(self.num_arms), none, none)

    def act(self, state: SequentialHalvingState, key: Key) -> PullBatch:
        """The round, or what is left of the budget for the last arm."""
        horizon, size = jnp.asarray(self.horizon, jnp.int32), count_true(state.arms)
        each = horizon // (size * self._batches())
        return PullBatch(jnp.where(state.arms, jnp.where(size == 1, horizon - state.made, each), 0))

    def update(
        self, state: SequentialHalvingState, plan: PullBatch, outcome: jax.Array, key: Key
    ) -> SequentialHalvingState:
        """Keeps the better arms."""
        before = state.rewards if self.keep_rewards else no_rewards(self.num_arms)
        rewards = with_round(before, plan, outcome)
        return SequentialHalvingState(
            arms=keep_best(rewards, state.arms, self._kept(state.round + 1), key),
            rewards=rewards,
            round=state.round + 1,
            made=state.made + jnp.sum(plan.counts, dtype=jnp.int32),
        )

    def answer(self, state: SequentialHalvingState) -> jax.Array:
        """The last arm: () int32."""
        return only_one(state.arms)

    def _halvings(self) -> jax.Array:
        """ceil(log2 K): () int32."""
        return 32 - lax.clz(count_true(jnp.asarray(self.active_arms)) - 1)

    def _batches(self) -> jax.Array:
        """B: () int32."""
        if self.num_batches is None:
            return self._halvings()
        return jnp.asarray(self.num_batches, jnp.int32)

    def _kept(self, rounds: jax.Array) -> jax.Array:
        """The number of arms that are left after so many rounds: () int32."""

        def formula(arms: Any, halvings: Any, batches: Any, rounds: Any) -> jax.Array:
            shrunk = arms * jnp.exp2(-halvings * jnp.minimum(rounds / batches, 1))
            return to_int32(jnp.ceil(shrunk * _GUARD))

        arms = count_true(jnp.asarray(self.active_arms))
        return in_float64(formula, arms, self._halvings(), self._batches(), rounds)
