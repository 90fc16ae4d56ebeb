"""Relative Confidence Sampling (RCS)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.errors import InputError
from jaxduel.numerics import count_true, masked_choice
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.threefry import KeyWords, words_of
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require_alpha
from jaxduel.policies.counts import log_bound, upper_bounds
from jaxduel.policies.registry import register
from jaxduel.policies.thompson import sampling
from jaxduel.policies.thompson.quiet import champion_run, likely_votes
from jaxduel.policies.thompson.sampling import ThompsonState
from jaxduel.pytrees import register_dataclass

Counted = Literal["always", "fallback"]


class RCSState(NamedTuple):
    """One seed's state."""

    record: ThompsonState
    champions: jax.Array  # (K,) int32: times that each arm was champion


@register("rcs")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class RCS:
    """RCS, Zoghi, Whiteson, de Rijke and Munos (WSDM 2014), Algorithm 1.

    theta_ij ~ Beta(w_ij + 1, w_ji + 1) for i < j. The champion c is the arm that beats all others
    in this sample; if there is none, an arm that was champion least often, ties at random. The
    challenger is d = argmax_j u_jc, u_jc = w_jc / n_jc + sqrt(alpha log t / n_jc), u_cc = 1/2, ties
    at random.

    The votes are tossed as coins (`jaxduel.policies.thompson.sampling`). A pair never compared has
    u = 2, the paper's "x / 0 := 1" applied to both fractions. A step costs O(K^2): a coin for each
    pair. Started from win counts, no arm was champion yet.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      alpha: width of the confidence bounds, > 1/2 in theory; 0.501 in its paper, 0.51 here and in
        the experiments of Wu and Liu (2016).
      counted: "always" counts every championship, "fallback" only those without an arm that beats
        all others (as in the program of its first author).

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("rcs", num_arms=6, alpha=0.501, counted="fallback")
      RCS(num_arms=6, alpha=0.501, counted='fallback')
      >>> jd.policies.describe("rcs").assumes
      ('a Condorcet winner',)
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    alpha: float | jax.Array = 0.51
    counted: Counted = field(default="always", metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def validate(self) -> None:
        """Raises InputError for parameters out of range; warns where alpha <= 1/2."""
        require_alpha(self.alpha, "rcs")
        if self.counted not in ("always", "fallback"):
            raise InputError(f'rcs: counted must be "always" or "fallback", not {self.counted!r}.')

    def init(self, key: Key) -> RCSState:
        """No comparisons, no champions."""
        record = sampling.no_comparisons(self.num_arms)
        return RCSState(record, jnp.zeros(self.num_arms, jnp.int32))

    def from_wins(self, wins: jax.Array, key: Key) -> RCSState:
        """The comparisons counted in `wins`, no champions."""
        return RCSState(sampling.after_wins(wins), jnp.zeros(self.num_arms, jnp.int32))

    def act(self, state: RCSState, key: Key) -> Duel:
        """The champion and the challenger."""
        seed = words_of(key)
        left, _ = self._champion(seed, state)
        upper = self._upper_bounds(state, left, log_bound(self.alpha, state.record.t + 1))
        right = masked_choice(upper == jnp.max(upper), sampling.tie_break(seed, 1))
        return Duel(left, materialize(right, right < 0))  # else recomputed as often as it is read

    def update(self, state: RCSState, plan: Duel, outcome: jax.Array, key: Key) -> RCSState:
        """Counts the outcome and the champion."""
        counts = jnp.bool_(True)
        if self.counted == "fallback":
            _, found = self._champion(words_of(key), state)
            counts = ~found
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        return RCSState(
            record=sampling.after_duel(state.record, plan, outcome),
            champions=state.champions + ((arms == plan.left) & counts).astype(jnp.int32),
        )

    def quiet(self, state: RCSState, limit: jax.Array, key: Key) -> tuple[RCSState, Quiet]:
        """The comparisons with itself of an arm that beats all others in the sample, while no arm
        has an upper bound of 1/2 or more against it.

        Only such a champion is sure to meet itself. The length is that of a run of independent,
        equally likely samples, cut where log t lets a challenger in, and the sample after an uncut
        run ends it (`jaxduel.policies.thompson.quiet`).
        """
        record, active = state.record, jnp.asarray(self.active_arms)
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        left = lax.argmax(likely_votes(record, active), 0, jnp.int32)

        def unbeaten(t: jax.Array) -> jax.Array:
            upper = self._upper_bounds(state, left, log_bound(self.alpha, t))
            return jnp.max(jnp.where(arms == left, -jnp.inf, upper)) < 0.5

        record, run = champion_run(record, left, unbeaten, active, limit, key)
        counted = run.n if self.counted == "always" else 0
        champions = state.champions + jnp.where(arms == left, counted, 0)
        return RCSState(record, champions), run

    def learn(self, state: RCSState, feedback: Feedback) -> RCSState:
        """Takes in withheld outcomes."""
        return state._replace(record=sampling.after_feedback(state.record, feedback))

    def _upper_bounds(self, state: RCSState, left: jax.Array, bound: jax.Array) -> jax.Array:
        """u_i,left for all i: (K,) float32, -inf for inactive arms."""
        upper = upper_bounds(state.record.wins[:, left], state.record.wins[left], bound)
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        return jnp.where(arms == left, 0.5, jnp.where(self.active_arms, upper, -jnp.inf))

    def _champion(self, seed: KeyWords, state: RCSState) -> tuple[jax.Array, jax.Array]:
        """The champion, and whether it beats all others in the sample."""
        active = jnp.asarray(self.active_arms)
        votes = sampling.sampled_votes(seed, state.record, active)
        best = lax.argmax(votes, 0, jnp.int32)
        found = votes[best] == count_true(active) - 1
        times = jnp.where(active, state.champions, jnp.iinfo(jnp.int32).max)
        rarest = masked_choice(times == jnp.min(times), sampling.tie_break(seed))
        return jnp.where(found, best, rarest), found
