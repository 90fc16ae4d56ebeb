"""SCOMP: a seed set against the active arms, then PCOMP if the seeds turn out to be suboptimal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import random_member, set_size
from jaxduel.policies.base import Batch, Key
from jaxduel.policies.batched import (
    BatchedSettings,
    account,
    all_pairs,
    beaten_by_kl,
    commit,
    comparisons_per_pair,
    keep_survivors,
    margin,
    round_means,
)
from jaxduel.policies.checks import require
from jaxduel.policies.pcomp import survivors_of_all_pairs
from jaxduel.pytrees import register_dataclass


class SCOMPState(NamedTuple):
    """One seed's state."""

    active: jax.Array  # (K,) bool: A, or A' after the switch
    seeds: jax.Array  # (K,) bool: S; empty once PCOMP has taken over
    wins: jax.Array  # (K, K) int32: wins of i over j, all rounds
    batch: jax.Array  # () int32: r, from 1
    remaining: jax.Array  # () int32: comparisons left of T
    rounds: jax.Array  # () int32: batches used


@dataclass(frozen=True, kw_only=True)
class SeededSettings(BatchedSettings):
    """`BatchedSettings` and how seeds are sampled.

    Attributes:
      seed_probability: each arm is a seed with this probability, 1 / sqrt(K) if None (Theorem 3.2);
        K^(-2/3) gives SCOMP the worst-case bound of Theorem 3.3. An empty sample is replaced by one
        uniform arm.
    """

    seed_probability: float | jax.Array | None = None

    assumes: ClassVar[tuple[str, ...]] = ("sst", "sti")

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        BatchedSettings.validate(self)
        name = type(self).__name__.lower()
        require(
            self.seed_probability,
            lambda p: (p >= 0) & (p <= 1),
            f"{name}: seed_probability must be in [0, 1]",
        )


@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SCOMP(SeededSettings):
    """SCOMP, "Batched Dueling Bandits" (2022), Algorithm 2. At most B + 1 batches.

    Round r compares every seed with every active arm c_r times (line 5). If an active arm beats all
    seeds with p_hat > 1/2 + 3 gamma_r, PCOMP takes over on A' = {j : p_hat_ji > 1/2 + gamma_r for
    all seeds i} with the budget that is left, beginning with batch r again (lines 9 to 15): hence B
    + 1. Otherwise arms that lose surely are eliminated, from A and from S (lines 6 to 8, or the KL
    criterion). The switch is tested before the elimination; a round that switches eliminates
    nothing. Where the seeds have all been eliminated (by the KL criterion, or by a cycle among
    seeds), PCOMP goes on with A at r + 1.

    Attributes: see `SeededSettings` and `BatchedSettings`.

    `init` reads K + 1 uniform numbers of its key (who is a seed; the arm that replaces an empty
    sample). Nothing else is drawn.
    """

    def init(self, key: Key) -> SCOMPState:
        """Lines 2 and 3."""
        num = self.num_arms
        return SCOMPState(
            active=jnp.asarray(self.active_arms),
            seeds=sample_seeds(self, key),
            wins=jnp.zeros((num, num), jnp.int32),
            batch=jnp.int32(1),
            remaining=jnp.asarray(self.horizon, jnp.int32),
            rounds=jnp.int32(0),
        )

    def act(self, state: SCOMPState, key: Key) -> Batch:
        """Line 5, or line 4 of PCOMP."""
        del key
        pairs = all_pairs(state.active)
        seeded = state.seeds[:, None] | state.seeds[None, :]
        pairs = jnp.where(jnp.any(state.seeds), pairs & seeded, pairs)
        size = comparisons_per_pair(self, state.batch)
        return commit(pairs, state.active, size, state.remaining)

    def update(self, state: SCOMPState, plan: Batch, outcome: jax.Array, key: Key) -> SCOMPState:
        """Lines 6 to 13, or lines 5 to 8 of PCOMP."""
        del key
        active, seeds = state.active, state.seeds
        seeding = jnp.any(seeds)
        wins = state.wins + outcome
        gamma = margin(self, comparisons_per_pair(self, state.batch))
        mean = round_means(outcome)

        def beats_all_seeds(by: jax.Array) -> jax.Array:
            return active & jnp.all((mean > 0.5 + by) | ~seeds[None, :], axis=1)

        switch = seeding & jnp.any(beats_all_seeds(3.0 * gamma))
        if self.elimination == "hoeffding":
            beaten = jnp.any((mean > 0.5 + 3.0 * gamma) & seeds[:, None], axis=0)
        else:
            beaten = beaten_by_kl(self, active, wins)
        seeded = jnp.where(switch, beats_all_seeds(gamma), keep_survivors(active, beaten))
        paired = survivors_of_all_pairs(self, active, state.batch, wins, outcome)
        active = jnp.where(seeding, seeded, paired)
        remaining, rounds = account(state.remaining, state.rounds, plan)
        return SCOMPState(
            active=active,
            seeds=seeds & active & ~switch,
            wins=wins,
            batch=state.batch + jnp.where(switch, 0, 1),
            remaining=remaining,
            rounds=rounds,
        )


def sample_seeds(settings: SeededSettings, key: Key) -> jax.Array:
    """The seed set S, never empty (line 3): (K,) bool."""
    active = jnp.asarray(settings.active_arms)
    size = set_size(active).astype(jnp.float32)
    given = settings.seed_probability
    probability = 1.0 / jnp.sqrt(size) if given is None else jnp.asarray(given, jnp.float32)
    u = jax.random.uniform(key, (settings.num_arms + 1,), jnp.float32)
    sampled = active & (u[:-1] < probability)
    one = jnp.arange(settings.num_arms, dtype=jnp.int32) == random_member(active, u[-1])
    return jnp.where(jnp.any(sampled), sampled, one)
