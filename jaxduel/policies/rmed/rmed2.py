"""Relative Minimum Empirical Divergence, second variant (RMED2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require
from jaxduel.policies.registry import register
from jaxduel.policies.rmed import forced, lists
from jaxduel.policies.rmed.forced import MainState
from jaxduel.pytrees import register_dataclass


class RMED2State(NamedTuple):
    """One seed's state."""

    main: MainState
    information: jax.Array  # (K, K) float32: d(mu_ij, 1/2) where mu_ij < 1/2, else 0


@register("rmed2")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class RMED2:
    """RMED2, Komiyama, Honda, Kashima and Nakagawa (COLT 2015), Algorithms 1 and 2.

    While some pair has fewer than alpha loglog t comparisons, or none, the lexicographically first
    such pair is compared. Otherwise the next arm l of RMED1's list (`RMED1`) meets its opponent:
    with Delta_ab = mu_ab - 1/2,

        b_l = argmin of max(Delta_{i* l} + Delta_{i* j}, 0.01) / d(mu_lj, 1/2)

    over the arms j with mu_lj < 1/2, the cheapest way to learn that l is not the best. l meets b_l
    if there is one and i* is not in O_l or n_{l i*} > n_{l b_l} / loglog t, else whom RMED1 would
    choose.

    Where the text is silent this follows the authors' library: loglog t = log(log t + 0.01) with t
    the number of the comparison being chosen, the 0.01 in the numerator. In the text the lists
    change in the main loop only; so here. Ties go to the lowest index. Forced comparisons count
    whether or not their outcome is withheld.

    The state carries the smallest count of each row of pairs, so that a step costs O(K).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      alpha: every pair gets alpha loglog t comparisons; 3 in the paper's experiments.
      scale: f(K) = scale K^exponent, K the number of active arms; 0.3 in the paper's experiments.
      exponent: 1.01 in the paper's experiments.

    Draws nothing: given the outcomes it is deterministic.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("rmed2", num_arms=6, alpha=1)
      RMED2(num_arms=6, alpha=1.0)
      >>> jd.policies.parameters("rmed2")
      {'alpha': 3.0, 'scale': 0.3, 'exponent': 1.01}
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    alpha: float | jax.Array = 3.0
    scale: float | jax.Array = 0.3
    exponent: float | jax.Array = 1.01

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require(self.alpha, lambda a: a >= 0, "rmed2: alpha must not be negative")
        lists.require_slack(self, "rmed2")

    def init(self, key: Key) -> RMED2State:
        """L_C = L_R = all arms, L_N empty."""
        num = self.num_arms
        return RMED2State(forced.begin(self), information=jnp.zeros((num, num), jnp.float32))

    def from_wins(self, wins: jax.Array, key: Key) -> RMED2State:
        """The comparisons counted in `wins`; a pass over the plausible arms begins."""
        needed = self._needed(jnp.sum(wins, dtype=jnp.int32) + 1)
        main = forced.after_wins(self, wins, needed)
        return RMED2State(main, forced.information_of(wins, wins.T))

    def act(self, state: RMED2State, key: Key) -> Duel:
        """The first pair that lacks comparisons, or the next arm of the list and its opponent."""
        main = state.main
        left = lax.argmax(main.queue, 0, jnp.int32)
        best = lists.leader(main.divergence, self.active_arms)
        price = forced.price_of(main.wins, best, left, state.information[left])
        return forced.choose(self, main, self._needed(main.t + 1), left, price)

    def update(self, state: RMED2State, plan: Duel, outcome: jax.Array, key: Key) -> RMED2State:
        """Counts the outcome and keeps the lists."""
        lacks = forced.some_lack(state.main, self._needed(state.main.t + 1))
        main = forced.advance(self, state.main, plan, outcome, lacks)
        left, right = plan
        wins, losses = main.wins[left, right], main.wins[right, left]
        information = state.information.at[left, right].set(
            forced.information_of(wins, losses), mode="promise_in_bounds"
        )
        information = information.at[right, left].set(
            forced.information_of(losses, wins), mode="promise_in_bounds"
        )
        return RMED2State(main, information)

    def quiet(self, state: RMED2State, limit: jax.Array, key: Key) -> tuple[RMED2State, Quiet]:
        """The comparisons of i* with itself until another arm's turn, as in `RMED1`.

        They also end when a pair comes to lack comparisons, by the test that `act` makes.
        """
        main, quiet = forced.quiet(self, state.main, limit, self._needed)
        return state._replace(main=main), quiet

    def learn(self, state: RMED2State, feedback: Feedback) -> RMED2State:
        """Takes in withheld outcomes."""
        main = forced.told(state.main, feedback)
        return RMED2State(main, forced.information_of(main.wins, main.wins.T))

    def _needed(self, t: jax.Array) -> jax.Array:
        """The comparisons that every pair must have when number t is chosen: () int32."""
        needed = jnp.ceil(self.alpha * forced.loglog(t))
        return jnp.maximum(needed, 1.0).astype(jnp.int32)
