"""D-TS as one would write it first: every theta drawn with `jax.random.beta`. The yardstick."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.policies.base import Duel


class PlainState(NamedTuple):
    wins: jax.Array  # (K, K) int32
    t: jax.Array  # () int32


@jax.tree_util.register_dataclass
@dataclass(frozen=True, kw_only=True)
class PlainDTS:
    """Algorithm 1 of Wu and Liu (NIPS 2016), line by line; with `plus`, section 4.3; without
    `self_duels`, the second arm is the best of the others."""

    num_arms: int = field(metadata={"static": True})
    active_arms: Any
    alpha: Any = 0.51
    plus: bool = field(default=False, metadata={"static": True})
    self_duels: bool = field(default=True, metadata={"static": True})
    assumes = ()

    def init(self, key):
        return PlainState(jnp.zeros((self.num_arms, self.num_arms), jnp.int32), jnp.int32(0))

    def act(self, state, key):
        first, second, tie = jax.random.split(key, 3)
        wins = state.wins.astype(jnp.float32)
        n = wins + wins.T
        own = jnp.eye(self.num_arms, dtype=bool)
        seen = jnp.where(n > 0, n, 1.0)
        log_t = jnp.log((state.t + 1).astype(jnp.float32))
        mean = jnp.where(n > 0, wins / seen, 1.0)
        radius = jnp.where(n > 0, jnp.sqrt(self.alpha * log_t / seen), 1.0)
        upper = jnp.where(own, 0.5, mean + radius)
        lower = jnp.where(own, 0.5, mean - radius)
        scores = jnp.sum(upper > 0.5, axis=1)
        candidates = scores == jnp.max(scores)
        above = jnp.triu(jax.random.beta(first, wins + 1, wins.T + 1), 1)
        theta = above + jnp.tril(1 - above.T, -1)
        votes = jnp.sum((theta > 0.5) & ~own, axis=1)
        tied = candidates & (votes == jnp.max(jnp.where(candidates, votes, -1)))
        if self.plus:
            loss = jnp.max(votes) - 0.5 * (votes[:, None] + votes)
            divergence = jnp.log(2.0) + theta * jnp.log(theta) + (1 - theta) * jnp.log1p(-theta)
            regret = jnp.sum(jnp.where(own, 0.0, loss / divergence), axis=1)
            tied &= regret == jnp.min(jnp.where(tied, regret, jnp.inf))
        order = jax.random.uniform(tie, (self.num_arms,), jnp.float32)
        left = jnp.argmax(jnp.where(tied, order, -1.0)).astype(jnp.int32)
        fresh = jax.random.beta(second, wins[:, left] + 1, wins[left] + 1)
        fresh = jnp.where(own[left], 0.5, fresh)
        among = (lower[:, left] <= 0.5) & (self.self_duels | ~own[left])
        right = jnp.argmax(jnp.where(among, fresh, -1.0)).astype(jnp.int32)
        return Duel(left, right)

    def update(self, state, plan, outcome, key):
        left, right = plan
        told = (left != right).astype(jnp.int32)
        wins = state.wins.at[left, right].add(told * (outcome > 0))
        wins = wins.at[right, left].add(told * (outcome < 0))
        return PlainState(wins, state.t + 1)
