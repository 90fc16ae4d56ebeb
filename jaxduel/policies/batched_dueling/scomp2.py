"""SCOMP2: the seeds choose a candidate, the candidate eliminates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.errors import unknown_name
from jaxduel.numerics import count_true, masked_choice
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.threefry import bits, uniform23
from jaxduel.policies.base import Batch, Key
from jaxduel.policies.batched_dueling.rounds import (
    TOGETHER,
    Terms,
    account,
    all_pairs,
    beaten_by_hoeffding,
    beaten_in_round,
    commit,
    comparisons_per_pair,
    evidence_of_losses,
    keep_survivors,
    kl_threshold,
    losers_by_kl,
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


class SCOMP2State(NamedTuple):
    """One seed's state."""

    active: jax.Array  # (K,) bool: A, or A' after the switch
    seeds: jax.Array  # (K,) bool: S; empty once PCOMP has taken over
    candidate: jax.Array  # () int32: b_i*_r if it has been chosen in this round, else -1
    previous: jax.Array  # () int32: the candidate of the round before, -1 in the first
    wins: jax.Array  # (K, K) int32: wins of i over j, all rounds
    batch: jax.Array  # () int32: r, from 1
    remaining: jax.Array  # () int32: comparisons left of T
    rounds: jax.Array  # () int32: batches used
    terms: Terms  # K and T: the run's, then those that PCOMP was called with
    cyclic: jax.Array  # () bool: the last elimination would have left no arm


CANDIDATES = ("kept", "redrawn")

PRINTED = (5.0, 3.0)
"""Margins of the switch and of A' in gamma_r: lines 11 and 12."""


@register("scomp2")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SCOMP2(SeededSettings):
    """SCOMP2, "Batched Dueling Bandits" (2022), Algorithm 3. At most 2 B + 1 batches.

    Round r has two batches. r(1) compares all pairs of seeds c_r times (line 5; a single seed needs
    no batch); the candidate is one of the seeds i that no seed j defeats, p_hat_ji <= 1/2 + gamma_r
    with the counts of that batch (line 6). If a cycle leaves no seed undefeated, the candidate is
    uniform among all seeds. r(2) compares the candidate with every other active arm c_r times (line
    7). If an arm beats the candidate (line 11; see `switch`), PCOMP takes over on A', the arms that
    lead against it (line 12; see `width`), beginning with batch r again (lines 13 to 17): hence
    2 B + 1. Otherwise arms that lose surely are eliminated, from A and from S (lines 8 to 10, or
    the KL criterion, which lets any active arm eliminate). Where the seeds are all gone, PCOMP goes
    on with A at r + 1.

    Attributes:
      candidate: which one of several undefeated seeds, "any" in line 6.
        "redrawn": a uniform one in each round.
        "kept": the one of the round before while it is undefeated, else a uniform one. Its counts
        against the active arms add up under a KL criterion, while those of a new candidate begin.

    The other attributes are those of `SeededSettings` and `BatchedSettings`.

    `init` reads K + 1 uniform numbers of its key as in SCOMP, `update` one (the choice of the
    candidate).

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("scomp2", num_arms=6, horizon=10_000, num_batches=4, candidate="redrawn")
      SCOMP2(num_arms=6, horizon=10000, num_batches=4, candidate='redrawn')
      >>> jd.policies.describe("scomp2").plays
      'batches of comparisons'
    """

    candidate: str = field(default="kept", metadata={"static": True})

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        SeededSettings.validate(self)
        if self.candidate not in CANDIDATES:
            raise unknown_name("candidate", self.candidate, CANDIDATES)

    def init(self, key: Key) -> SCOMP2State:
        """Lines 2 and 3."""
        num = self.num_arms
        seeds = sample_seeds(self, key)
        return SCOMP2State(
            active=jnp.asarray(self.active_arms),
            seeds=seeds,
            candidate=_only_seed(seeds),
            previous=jnp.int32(-1),
            wins=jnp.zeros((num, num), jnp.int32),
            batch=jnp.int32(1),
            remaining=jnp.asarray(self.horizon, jnp.int32),
            rounds=jnp.int32(0),
            terms=terms_of(self),
            cyclic=jnp.bool_(False),
        )

    def act(self, state: SCOMP2State, key: Key) -> Batch:
        """Line 5, line 7, or line 4 of PCOMP."""
        with_candidate, among_seeds = self._pairs(state)
        pairs = jnp.where(state.candidate >= 0, with_candidate, among_seeds)
        size = comparisons_per_pair(self, state.batch)
        return commit(pairs, state.active, size, state.remaining)

    def update(self, state: SCOMP2State, plan: Batch, outcome: jax.Array, key: Key) -> SCOMP2State:
        """Line 6, lines 8 to 15, or lines 5 to 8 of PCOMP."""
        wins = state.wins + outcome
        remaining, rounds = account(state.remaining, state.rounds, plan)
        gamma = margin(self, comparisons_per_pair(self, state.batch), state.terms)
        choosing = jnp.any(state.seeds) & (state.candidate < 0)

        u = uniform23(bits(key, ()))
        seeds = state.seeds
        together = -(-TOGETHER // self.num_arms)
        undefeated = compacted_cond(
            _undefeated, choosing, seeds, outcome, gamma, is_light=True, together=together
        )
        candidate = masked_choice(jnp.where(jnp.any(undefeated), undefeated, seeds), u)
        if self.candidate == "kept":
            keep = (state.previous >= 0) & undefeated[state.previous]
            candidate = jnp.where(keep, state.previous, candidate)

        beaten = self._beaten(state, wins, outcome, gamma, choosing)
        active, seeds, batch = self._judged(state, wins, outcome, beaten, gamma)
        terms = terms_after(state.terms, jnp.any(state.seeds), seeds, active, remaining)
        return SCOMP2State(
            active=jnp.where(choosing, state.active, active),
            seeds=jnp.where(choosing, state.seeds, seeds),
            candidate=jnp.where(choosing, candidate, _only_seed(seeds)),
            previous=jnp.where(choosing, state.previous, state.candidate),
            wins=wins,
            batch=jnp.where(choosing, state.batch, batch),
            remaining=remaining,
            rounds=rounds,
            terms=jax.tree.map(partial(jnp.where, choosing), state.terms, terms),
            cyclic=jnp.where(choosing, state.cyclic, ~jnp.any(state.active & ~beaten)),
        )

    def _pairs(self, state: SCOMP2State) -> tuple[jax.Array, jax.Array]:
        """The pairs of a round with a candidate, and of one without: (K, K) bool; where no seed is
        left, all pairs are both."""
        chosen = jnp.arange(self.num_arms, dtype=jnp.int32) == state.candidate
        pairs, unseeded = all_pairs(state.active), ~jnp.any(state.seeds)
        with_candidate = chosen[:, None] | chosen[None, :] | unseeded
        return pairs & with_candidate, pairs & (all_pairs(state.seeds) | unseeded)

    def _beaten(
        self,
        state: SCOMP2State,
        wins: jax.Array,
        round_wins: jax.Array,
        gamma: jax.Array,
        choosing: jax.Array,
    ) -> jax.Array:
        """The arms to eliminate after batch r(2) or after a batch of PCOMP, whatever is left: (K,)
        bool."""
        if self.elimination == "hoeffding":
            arms = jnp.arange(self.num_arms, dtype=jnp.int32)
            bound = 0.5 + PRINTED[0] * gamma
            by_candidate = beaten_in_round(round_wins, arms == state.candidate, bound)
            by_all = beaten_by_hoeffding(self, state.active, state.batch, round_wins, state.terms)
            return jnp.where(jnp.any(state.seeds), by_candidate, by_all)
        # other pairs are as in the round before, where their losers went
        with_candidate, among_seeds = self._pairs(state)
        changed = with_candidate | among_seeds | (all_pairs(state.active) & state.cyclic)
        return losers_by_kl(wins, changed & ~choosing, kl_threshold(self, state.terms))

    def _judged(
        self,
        state: SCOMP2State,
        wins: jax.Array,
        round_wins: jax.Array,
        beaten: jax.Array,
        gamma: jax.Array,
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """A, S and r after batch r(2) or after a batch of PCOMP."""
        if switches_by_kl(self):
            lead = evidence_of_losses(wins[state.candidate], wins[:, state.candidate])
        else:
            lead = round_means(round_wins[:, state.candidate], round_wins[state.candidate])
        switching, joining = leads(self, state.terms, lead, gamma, PRINTED)
        switch = jnp.any(state.seeds) & jnp.any(state.active & switching)
        left = keep_survivors(state.active, beaten)
        active = jnp.where(switch, state.active & joining, left)
        seeds = state.seeds & active & ~switch
        return active, seeds, state.batch + jnp.where(switch, 0, 1)


def _undefeated(seeds: jax.Array, round_wins: jax.Array, gamma: jax.Array) -> jax.Array:
    """The seeds that no seed defeats in batch r(1): (K,) bool."""
    return seeds & ~beaten_in_round(round_wins, seeds, 0.5 + gamma)


def _only_seed(seeds: jax.Array) -> jax.Array:
    """The seed if there is just one, which is the candidate without a batch r(1), else -1: ()
    int32."""
    places = jnp.arange(len(seeds), dtype=jnp.int32)
    only = jnp.sum(jnp.where(seeds, places, 0), dtype=jnp.int32)  # an argmax makes no vectors
    return jnp.where(count_true(seeds) == 1, only, -1)
