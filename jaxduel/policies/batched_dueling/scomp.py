"""SCOMP: a seed set against the active arms, then PCOMP if the seeds turn out to be suboptimal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics.pairs import across
from jaxduel.policies.base import Batch, Key
from jaxduel.policies.batched_dueling.rounds import (
    Terms,
    account,
    all_pairs,
    beaten_by_hoeffding,
    beaten_in_round,
    commit,
    comparisons_per_pair,
    evidence_between,
    keep_survivors,
    kl_threshold,
    losers,
    margin,
    round_means,
    terms_of,
)
from jaxduel.policies.batched_dueling.seeds import (
    SeededSettings,
    leads,
    sample_seeds,
    switches_by_kl,
    terms_after,
)
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class SCOMPState(NamedTuple):
    """One seed's state."""

    active: jax.Array  # (K,) bool: A, or A' after the switch
    seeds: jax.Array  # (K,) bool: S; empty once PCOMP has taken over
    wins: jax.Array  # (K, K) int32: wins of i over j, all rounds
    batch: jax.Array  # () int32: r, from 1
    remaining: jax.Array  # () int32: comparisons left of T
    rounds: jax.Array  # () int32: batches used
    terms: Terms  # K and T: the run's, then those that PCOMP was called with
    cyclic: jax.Array  # () bool: the last elimination would have left no arm


PRINTED = (3.0, 1.0)
"""Margins of the switch and of A' in gamma_r: lines 9 and 10."""


@register("scomp")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SCOMP(SeededSettings):
    """SCOMP, "Batched Dueling Bandits" (2022), Algorithm 2. At most B + 1 batches.

    Round r compares every seed with every active arm c_r times (line 5). If an active arm beats all
    seeds (line 9; see `switch`), PCOMP takes over on A', the arms that lead against all seeds (line
    10; see `width`), with the budget that is left, beginning with batch r again (lines 11 to 15):
    hence B + 1. Otherwise arms that lose surely are eliminated, from A and from S (lines 6 to 8, or
    the KL criterion). The switch is tested before the elimination; a round that switches eliminates
    nothing. Where the seeds have all been eliminated (each by another arm under the KL criterion,
    or by a cycle among seeds), PCOMP goes on with A at r + 1.

    Attributes: see `SeededSettings` and `BatchedSettings`.

    `init` reads K + 1 uniform numbers of its key (who is a seed; the arm that replaces an empty
    sample). Nothing else is drawn.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("scomp", num_arms=6, horizon=10_000, num_batches=4, seed_probability=0.5)
      SCOMP(num_arms=6, horizon=10000, num_batches=4, seed_probability=0.5)
      >>> jd.policies.describe("scomp").assumes
      ('strong stochastic transitivity (SST)', 'the stochastic triangle inequality (STI)')
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
            terms=terms_of(self),
            cyclic=jnp.bool_(False),
        )

    def act(self, state: SCOMPState, key: Key) -> Batch:
        """Line 5, or line 4 of PCOMP."""
        size = comparisons_per_pair(self, state.batch)
        return commit(self._pairs(state), state.active, size, state.remaining)

    def update(self, state: SCOMPState, plan: Batch, outcome: jax.Array, key: Key) -> SCOMPState:
        """Lines 6 to 13, or lines 5 to 8 of PCOMP."""
        active, seeds = state.active, state.seeds
        seeding, wins = jnp.any(seeds), state.wins + outcome
        gamma = margin(self, comparisons_per_pair(self, state.batch), state.terms)
        lead = round_means(across(outcome), outcome)  # of the arm of a column over that of a row
        if self.elimination == "hoeffding":
            by_seeds = beaten_in_round(outcome, seeds, 0.5 + PRINTED[0] * gamma)
            by_all = beaten_by_hoeffding(self, active, state.batch, outcome, state.terms)
            beaten = jnp.where(seeding, by_seeds, by_all)
        else:
            # other pairs are as in the round before, where their losers went
            changed = self._pairs(state._replace(seeds=seeds & ~state.cyclic))
            evidence = evidence_between(wins, changed)
            beaten = losers(evidence, kl_threshold(self, state.terms))
            if switches_by_kl(self):
                lead = evidence

        def over_all_seeds(ahead: jax.Array) -> jax.Array:
            return active & jnp.all(ahead | ~seeds[:, None], axis=0)

        switching, joining = leads(self, state.terms, lead, gamma, PRINTED)
        switch = seeding & jnp.any(over_all_seeds(switching))
        left = keep_survivors(active, beaten)
        active = jnp.where(switch, over_all_seeds(joining), left)
        seeds = seeds & active & ~switch
        remaining, rounds = account(state.remaining, state.rounds, plan)
        return SCOMPState(
            active=active,
            seeds=seeds,
            wins=wins,
            batch=state.batch + jnp.where(switch, 0, 1),
            remaining=remaining,
            rounds=rounds,
            terms=terms_after(state.terms, seeding, seeds, active, remaining),
            cyclic=~jnp.any(state.active & ~beaten),
        )

    def _pairs(self, state: SCOMPState) -> jax.Array:
        """The pairs of a round: (K, K) bool."""
        seeded = state.seeds[:, None] | state.seeds[None, :] | ~jnp.any(state.seeds)
        return all_pairs(state.active) & seeded
