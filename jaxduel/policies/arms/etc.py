"""ETC: explore, then commit, in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.policies.arms.elimination import (
    Rewards,
    best_of,
    means_of,
    no_rewards,
    pulls_made,
    spread,
    with_round,
)
from jaxduel.policies.arms.grids import GridSettings, batches_of, next_batch, pulls_of_batch
from jaxduel.policies.base import Key, PullBatch
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class ETCState(NamedTuple):
    """One seed's state."""

    arms: jax.Array  # (K,) bool: all that exist, or the winner once it is decided
    rewards: Rewards
    batch: jax.Array  # () int32: m of the batch that comes next, from 1


@register("etc")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class ETC(GridSettings):
    """Explore-then-commit, "Batched bandit problems" (Perchet, Rigollet, Chassang and Snowberg,
    Annals of Statistics 2016), as the program behind Figure 1 (d) of "Batched Multi-armed Bandits"
    (Gao et al., 2019) has it. At most M batches.

    Batches pull all arms equally often until a winner is decided, which takes all that is left in
    one batch. Batch 1 explores. Before batch m >= 2, after t pulls, it is decided for the larger
    sum of rewards if |S_1 - S_2| / t > sqrt(4 log(2 T / t) / t), and before batch M >= 3 in any
    case. For M = 2 nothing is forced, as in that program: an undecided second batch explores too.
    With M = 1 all pulls explore.

    For more arms than two, half the lead of the largest average reward over the second largest
    stands for |S_1 - S_2| / t, which for two arms with equal pulls is the same number; the arm of
    the largest average wins, on ties the lowest number.

    Rounding is that of BaSE (`GridSettings`).

    Attributes: those of `GridSettings`. Draws nothing: given the rewards it is deterministic.

    Example:
      >>> import jax
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("etc", num_arms=2, horizon=1_000, grid=[100, 1_000])
      >>> key = jax.random.key(0)
      >>> policy.act(policy.init(key), key).counts.tolist()  # explores
      [50, 50]
    """

    assumes: ClassVar[tuple[str, ...]] = ()

    def init(self, key: Key) -> ETCState:
        """Nothing is decided."""
        return ETCState(jnp.asarray(self.active_arms), no_rewards(self.num_arms), jnp.int32(1))

    def act(self, state: ETCState, key: Key) -> PullBatch:
        """The batch, shared by all arms or given to the winner."""
        amount = pulls_of_batch(self, state.batch, pulls_made(state.rewards), state.arms)
        return spread(state.arms, amount)

    def update(self, state: ETCState, plan: PullBatch, outcome: jax.Array, key: Key) -> ETCState:
        """The decision before the next batch."""
        rewards = with_round(state.rewards, plan, outcome)
        done = pulls_made(rewards)
        batch, last = next_batch(self, state.batch, done), batches_of(self)
        best = best_of(rewards, state.arms)
        means = means_of(rewards, state.arms)
        half_lead = 0.5 * (jnp.max(means) - jnp.max(jnp.where(best, -jnp.inf, means)))
        t = jnp.maximum(done, 1).astype(jnp.float32)
        log_ratio = jnp.log(2.0 * (jnp.float32(self.horizon) / t))
        decided = (half_lead > jnp.sqrt(4.0 * log_ratio / t)) | ((batch == last) & (last >= 3))
        return ETCState(jnp.where(decided, best, state.arms), rewards, batch)
