"""Relative Minimum Empirical Divergence, second variant, fixed horizon (RMED2FH)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require, require_horizon
from jaxduel.policies.counts import add_result, duel_result
from jaxduel.policies.registry import register
from jaxduel.policies.rmed import forced, lists
from jaxduel.policies.rmed.forced import MainState
from jaxduel.pytrees import register_dataclass


class RMED2FHState(NamedTuple):
    """One seed's state."""

    main: MainState
    early: jax.Array  # (K, K) int32: the wins at the end of the initial phase
    leader: jax.Array  # () int32: i* at the end of the initial phase


@register("rmed2fh")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class RMED2FH:
    """RMED2FH, Komiyama, Honda, Kashima and Nakagawa (COLT 2015): RMED2 with a fixed horizon.

    Every pair is compared ceil(alpha loglog T) times first, at least once, pair by pair in
    lexicographic order. From the estimates and i* at that moment b_l is computed for every l, and
    stays. Everything else is as in `RMED2`, without forced comparisons.

    The state keeps those estimates and computes the b_l in use from them: O(K) a step. Started from
    win counts, the initial phase has all of these comparisons.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      horizon: T; the length of the initial phase depends on it.
      alpha: the length of the initial phase, in loglog T; 3 in the paper's experiments.
      scale: f(K) = scale K^exponent, K the number of active arms; 0.3 in the paper's experiments.
      exponent: 1.01 in the paper's experiments.

    Draws nothing: given the outcomes it is deterministic.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("rmed2fh", num_arms=6, horizon=10_000)
      RMED2FH(num_arms=6, horizon=10000)
      >>> jd.policies.describe("rmed2fh").assumes
      ('a Condorcet winner',)
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    alpha: float | jax.Array = 3.0
    scale: float | jax.Array = 0.3
    exponent: float | jax.Array = 1.01

    assumes: ClassVar[tuple[str, ...]] = ("condorcet",)

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require_horizon(self.horizon, "rmed2fh")
        require(self.alpha, lambda a: a >= 0, "rmed2fh: alpha must not be negative")
        lists.require_slack(self, "rmed2fh")

    def init(self, key: Key) -> RMED2FHState:
        """L_C = L_R = all arms, L_N empty."""
        main = forced.begin(self)
        return RMED2FHState(main=main, early=main.wins, leader=jnp.int32(0))

    def from_wins(self, wins: jax.Array, key: Key) -> RMED2FHState:
        """The comparisons counted in `wins`, all of them of the initial phase; a pass over the
        plausible arms begins."""
        main = forced.after_wins(self, wins, self._needed())
        return RMED2FHState(main, wins, lists.leader(main.divergence, self.active_arms))

    def act(self, state: RMED2FHState, key: Key) -> Duel:
        """The next pair of the initial phase, or the next arm of the list and its opponent."""
        left = lax.argmax(state.main.queue, 0, jnp.int32)
        information = forced.information_of(state.early[left], state.early[:, left])
        price = forced.price_of(state.early, state.leader, left, information)
        return forced.choose(self, state.main, self._needed(), left, price)

    def update(self, state: RMED2FHState, plan: Duel, outcome: jax.Array, key: Key) -> RMED2FHState:
        """Counts the outcome and keeps the lists."""
        initial = forced.some_lack(state.main, self._needed())
        main = forced.advance(self, state.main, plan, outcome, initial)
        learnt = duel_result(plan, outcome)
        early = add_result(state.early, learnt._replace(amount=learnt.amount * initial))
        best = lists.leader(main.divergence, self.active_arms)
        return RMED2FHState(main, early, jnp.where(initial, best, state.leader))

    def quiet(self, state: RMED2FHState, limit: jax.Array, key: Key) -> tuple[RMED2FHState, Quiet]:
        """The comparisons of i* with itself until another arm's turn, as in `RMED1`."""
        main, quiet = forced.quiet(self, state.main, limit, lambda t: self._needed())
        return state._replace(main=main), quiet

    def learn(self, state: RMED2FHState, feedback: Feedback) -> RMED2FHState:
        """Takes in withheld outcomes; those that come after the initial phase leave b as it is."""
        initial = forced.some_lack(state.main, self._needed())
        main = forced.told(state.main, feedback)
        best = lists.leader(main.divergence, self.active_arms)
        return RMED2FHState(
            main=main,
            early=jnp.where(initial, main.wins, state.early),
            leader=jnp.where(initial, best, state.leader),
        )

    def _needed(self) -> jax.Array:
        """The comparisons of every pair in the initial phase."""
        log_horizon = jnp.log(jnp.float32(self.horizon))
        needed = self.alpha * jnp.log(jnp.maximum(log_horizon, 0.5))
        return jnp.maximum(jnp.ceil(needed), 1.0).astype(jnp.int32)
