"""D-TS with ties broken by estimated regret (D-TS+)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true, masked_choice
from jaxduel.numerics.bernoulli import divergence_from_half
from jaxduel.numerics.beta import logits_above_half
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.threefry import KeyWords, words_of
from jaxduel.policies.base import Duel, Key, Quiet
from jaxduel.policies.counts import log_bound
from jaxduel.policies.registry import register
from jaxduel.policies.thompson import sampling
from jaxduel.policies.thompson.quiet import confident_run
from jaxduel.policies.thompson.sampling import DoubleThompsonSettings, ThompsonState
from jaxduel.pytrees import register_dataclass


@register("dts+", label="D-TS+")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DTSPlus(DoubleThompsonSettings):
    """D-TS+, Wu and Liu (NIPS 2016), section 4.3: ties of votes broken by estimated regret.

    D-TS (`jaxduel.policies.DTS`), except for line 11: of the candidates A that beat most arms in
    the sample, the first arm has the smallest R_i = sum_{j != i} r_ij / d(theta_ij, 1/2), r_ij =
    zeta* - (zeta_i + zeta_j) / 2, where zeta_i is the sampled Copeland score, d the Bernoulli
    divergence; remaining ties are broken at random. The theta_ij of tied arms are drawn given the
    votes, unless r_ij = 0. A step costs O(K^2): a coin for each pair.

    zeta* is the largest score of all arms, as the paper defines it. The authors' program takes the
    largest among the candidates, which may be smaller, and can change the choice.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      alpha: width of the confidence bounds, > 1/2 in theory; 0.51 in the paper's experiments.
      over_candidates: whether zeta* is the largest among the candidates (as in the authors'
        program) or of all arms.
      self_duels: whether an arm may meet itself, as in the paper; else as with D-TS.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("dts+", num_arms=6, over_candidates=True)  # as the authors' program
      DTSPlus(num_arms=6, over_candidates=True)
      >>> jd.policies.parameters("dts+")
      {'alpha': 0.51, 'over_candidates': False, 'self_duels': True}
    """

    over_candidates: bool = field(default=False, metadata={"static": True})
    self_duels: bool = field(default=True, metadata={"static": True})

    tells_which: ClassVar[bool] = False

    def act(self, state: ThompsonState, key: Key) -> Duel:
        """Algorithm 1 with the two steps of section 4.3 in place of line 11."""
        seed, active = words_of(key), jnp.asarray(self.active_arms)
        bound = log_bound(self.alpha, state.t + 1)
        candidates = sampling.possible_winners(state, bound, active)
        wins = materialize(sampling.sampled_wins(seed, state), state.t < 0)  # read several times
        votes = sampling.votes_of(wins, active)
        most = jnp.max(jnp.where(candidates, votes, -1))
        tied = candidates & (votes == most)
        regret = self._estimated_regret(seed, state, wins, votes, tied, most)
        lowest = jnp.min(jnp.where(tied, regret, jnp.inf))
        left = masked_choice(tied & (regret == lowest), sampling.tie_break(seed))
        eligible = sampling.undecided_opponents(state, left, bound, active)
        right = sampling.best_reply(seed, state, left, eligible, self.self_duels)
        return Duel(left, right)

    def quiet(
        self, state: ThompsonState, limit: jax.Array, key: Key
    ) -> tuple[ThompsonState, Quiet]:
        """As `DTS.quiet`, but only one candidate has most votes in such a run: a tie is broken by
        the smallest R_i, which depends on theta and on all votes, with no law known in closed form.
        Hence there are no runs of several Copeland winners (but see `quiet_among`). The theta_ij of
        a tie in the step after a run are drawn given the votes, however these fell.
        """
        return confident_run(self, self.self_duels, state, limit, key)

    def quiet_among(
        self, state: ThompsonState, limit: jax.Array, key: Key, among: jax.Array
    ) -> tuple[ThompsonState, Quiet]:
        """As `quiet`, but several arms of `among`, (K,) bool, may have most votes; the run does not
        tell which of them meets itself (`jaxduel.policies.SupportsSharedSkip`).
        """
        return confident_run(self, self.self_duels, state, limit, key, among)

    def _estimated_regret(
        self,
        seed: KeyWords,
        state: ThompsonState,
        wins: jax.Array,
        votes: jax.Array,
        tied: jax.Array,
        most: jax.Array,
    ) -> jax.Array:
        """2 (K - 1) R_i of the tied arms, if there are several: (K,) float32."""
        best = most if self.over_candidates else jnp.max(votes)
        loss = 2 * best - votes[:, None] - votes
        costs = self._about_ties(seed, state, wins, tied, loss != 0, _comparisons)
        terms = loss.astype(jnp.float32) * costs
        return jnp.sum(terms, axis=0) + jnp.sum(terms, axis=1)

    def _about_ties(
        self,
        seed: KeyWords,
        state: ThompsonState,
        wins: jax.Array,
        tied: jax.Array,
        asked: jax.Array,
        reading: Callable[[jax.Array], jax.Array],
    ) -> jax.Array:
        """`reading` of |logit(theta_ij)| given the votes, i tied with others: (K, K) float32.

        A pair of tied arms is drawn once, for i < j. Entries that are not drawn or not `asked` for,
        (K, K) bool and symmetric, are 0.
        """
        arms, active = jnp.arange(self.num_arms, dtype=jnp.int32), jnp.asarray(self.active_arms)
        twice = tied & (arms < arms[:, None])
        pairs = asked & (arms[:, None] != arms) & active & ~twice
        marked = tied[:, None] & pairs & (count_true(tied) > 1)
        winner = jnp.where(wins, state.wins, state.wins.T)
        loser = jnp.where(wins, state.wins.T, state.wins)
        return logits_above_half(seed, sampling.COSTS, marked, winner, loser, reading)


def _comparisons(y: jax.Array) -> jax.Array:
    """1 / d(theta, 1/2) of y = logit(theta) > 0; at most 1e30."""
    return 1.0 / jnp.maximum(divergence_from_half(jnp.tanh(0.5 * y)), 1e-30)
