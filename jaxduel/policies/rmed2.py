"""Relative Minimum Empirical Divergence, second variant (RMED2), and with fixed horizon
(RMED2FH)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import set_size
from jaxduel.policies import rmed
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.checks import require, require_horizon
from jaxduel.policies.counts import add_lesson, lesson

_NEVER = jnp.iinfo(jnp.int32).max


class MainState(NamedTuple):
    """What both variants carry of one seed."""

    wins: jax.Array  # (K, K) int32: wins of i over j
    evidence: jax.Array  # (K, K) float32: n_ij d(mu_ij, 1/2) where mu_ij <= 1/2, else 0
    divergence: jax.Array  # (K,) float32: I_i, the row sums of the evidence
    made: jax.Array  # (K, K) int32: comparisons of (i, j), i < j, of known outcome or not
    fewest: jax.Array  # (K,) int32: the smallest of row i of `made`, j > i
    queue: jax.Array  # (K,) bool: L_R, the arms of this pass that are still to come
    waiting: jax.Array  # (K,) bool: L_N, the arms of the next pass
    t: jax.Array  # () int32: comparisons made


class RMED2State(NamedTuple):
    """One seed's state."""

    main: MainState
    information: jax.Array  # (K, K) float32: d(mu_ij, 1/2) where mu_ij < 1/2, else 0


class RMED2FHState(NamedTuple):
    """One seed's state."""

    main: MainState
    early: jax.Array  # (K, K) int32: the wins at the end of the initial phase
    leader: jax.Array  # () int32: i* at the end of the initial phase


@jax.tree_util.register_dataclass
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
        rmed.require_slack(self.scale, self.exponent, "rmed2")

    def init(self, key: Key) -> RMED2State:
        """L_C = L_R = all arms, L_N empty."""
        del key
        num = self.num_arms
        return RMED2State(_begin(self), information=jnp.zeros((num, num), jnp.float32))

    def act(self, state: RMED2State, key: Key) -> Duel:
        """The first pair that lacks comparisons, or the next arm of the list and its opponent."""
        del key
        main = state.main
        left = lax.argmax(main.queue, 0, jnp.int32)
        best = rmed.leader(main.divergence, self.active_arms)
        price = _price(main.wins, best, left, state.information[left])
        return _choose(self, main, self._needed(main), left, price)

    def update(self, state: RMED2State, plan: Duel, outcome: jax.Array, key: Key) -> RMED2State:
        """Counts the outcome and keeps the lists."""
        del key
        main = _advance(
            self, state.main, plan, outcome, _forced(state.main, self._needed(state.main))
        )
        left, right = plan
        wins, losses = main.wins[left, right], main.wins[right, left]
        information = state.information.at[left, right].set(
            _information(wins, losses), mode="promise_in_bounds"
        )
        information = information.at[right, left].set(
            _information(losses, wins), mode="promise_in_bounds"
        )
        return RMED2State(main, information)

    def learn(self, state: RMED2State, feedback: Feedback) -> RMED2State:
        """Takes in withheld outcomes."""
        main = _told(state.main, feedback)
        return RMED2State(main, _information(main.wins, main.wins.T))

    def _needed(self, state: MainState) -> jax.Array:
        """The comparisons that every pair must have now."""
        needed = jnp.ceil(self.alpha * _loglog(state.t + 1))
        return jnp.maximum(needed, 1.0).astype(jnp.int32)


@jax.tree_util.register_dataclass
@dataclass(frozen=True, kw_only=True)
class RMED2FH:
    """RMED2FH, Komiyama, Honda, Kashima and Nakagawa (COLT 2015): RMED2 with a fixed horizon.

    Every pair is compared ceil(alpha loglog T) times first, at least once, pair by pair in
    lexicographic order. From the estimates and i* at that moment b_l is computed for every l, and
    stays. Everything else is as in `RMED2`, without forced comparisons.

    The state keeps those estimates and computes the b_l in use from them: O(K) a step.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      horizon: T; the length of the initial phase depends on it.
      alpha: as above; 3 in the paper's experiments.
      scale: f(K) = scale K^exponent, K the number of active arms; 0.3 in the paper's experiments.
      exponent: 1.01 in the paper's experiments.

    Draws nothing: given the outcomes it is deterministic.
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
        rmed.require_slack(self.scale, self.exponent, "rmed2fh")

    def init(self, key: Key) -> RMED2FHState:
        """L_C = L_R = all arms, L_N empty."""
        del key
        main = _begin(self)
        return RMED2FHState(main=main, early=main.wins, leader=jnp.int32(0))

    def act(self, state: RMED2FHState, key: Key) -> Duel:
        """The next pair of the initial phase, or the next arm of the list and its opponent."""
        del key
        left = lax.argmax(state.main.queue, 0, jnp.int32)
        information = _information(state.early[left], state.early[:, left])
        price = _price(state.early, state.leader, left, information)
        return _choose(self, state.main, self._needed(), left, price)

    def update(self, state: RMED2FHState, plan: Duel, outcome: jax.Array, key: Key) -> RMED2FHState:
        """Counts the outcome and keeps the lists."""
        del key
        initial = _forced(state.main, self._needed())
        main = _advance(self, state.main, plan, outcome, initial)
        learnt = lesson(plan, outcome)
        early = add_lesson(state.early, learnt._replace(amount=learnt.amount * initial))
        best = rmed.leader(main.divergence, self.active_arms)
        return RMED2FHState(main, early, jnp.where(initial, best, state.leader))

    def learn(self, state: RMED2FHState, feedback: Feedback) -> RMED2FHState:
        """Takes in withheld outcomes; those that come after the initial phase leave b as it is."""
        initial = _forced(state.main, self._needed())
        main = _told(state.main, feedback)
        best = rmed.leader(main.divergence, self.active_arms)
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


def _begin(policy: RMED2 | RMED2FH) -> MainState:
    """No comparisons; all arms are on the list."""
    num = policy.num_arms
    wins = jnp.zeros((num, num), jnp.int32)
    begins_row = jnp.arange(num, dtype=jnp.int32) < set_size(policy.active_arms) - 1
    return MainState(
        wins=wins,
        evidence=jnp.zeros((num, num), jnp.float32),
        divergence=jnp.zeros(num, jnp.float32),
        made=wins,
        fewest=jnp.where(begins_row, jnp.int32(0), _NEVER),
        queue=jnp.asarray(policy.active_arms),
        waiting=jnp.zeros(num, bool),
        t=jnp.int32(0),
    )


def _forced(state: MainState, needed: jax.Array) -> jax.Array:
    """Whether some pair lacks comparisons: () bool."""
    return jnp.any(state.fewest < needed)


def _choose(
    policy: RMED2 | RMED2FH,
    state: MainState,
    needed: jax.Array,
    left: jax.Array,
    price: jax.Array,
) -> Duel:
    """The first pair that lacks comparisons, else `left` and its opponent."""
    arms = jnp.arange(policy.num_arms, dtype=jnp.int32)
    row = lax.argmax(state.fewest < needed, 0, jnp.int32)
    lacking = (state.made[row] < needed) & (arms > row)
    column = jnp.min(jnp.where(lacking, arms, policy.num_arms - 1))

    wins, losses = state.wins[left], state.wins[:, left]
    others = policy.active_arms & (arms != left)
    best = rmed.leader(state.divergence, policy.active_arms)
    price = jnp.where(others, price, jnp.inf)
    cheapest = rmed.lowest(price)
    exists = jnp.min(price) < jnp.inf
    n_ahead = jnp.where(others & (wins <= losses), wins + losses, -1)
    n_cheapest, n_best = n_ahead[cheapest], n_ahead[best]
    enough = n_best.astype(jnp.float32) > n_cheapest.astype(jnp.float32) / _loglog(state.t + 1)
    takes = exists & (n_cheapest >= 0) & ((n_best < 0) | enough)
    right = jnp.where(takes, cheapest, rmed.usual_opponent(wins, losses, others, best))
    forced = _forced(state, needed)
    return Duel(jnp.where(forced, row, left), jnp.where(forced, column, right))


def _price(wins: jax.Array, best: jax.Array, left: jax.Array, information: jax.Array) -> jax.Array:
    """Regret per information of every opponent of l, infinite where mu_lj >= 1/2.

    Args:
      wins: (K, K) int32, the estimates.
      best: () int32, i*.
      left: () int32, l.
      information: (K,) float32, d(mu_lj, 1/2) where mu_lj < 1/2, else 0.

    Returns:
      (K,) float32.
    """
    twice_delta = _advantage(wins[best], wins[:, best])
    regret = jnp.maximum(0.5 * (twice_delta[left] + twice_delta), 0.01)
    return jnp.where(information > 0, regret / information, jnp.inf)


def _information(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """d(mu, 1/2) where mu < 1/2, else 0, from counts, to a relative error of 2e-6.

    It is computed from mu alone: equal means give equal numbers, so that ties are ties.
    """
    x = jnp.clip(-_advantage(wins, losses), 0, jnp.float32(1 - 2**-24))
    up, down = jnp.log1p(x), jnp.log1p(-x)
    near = jnp.log1p(-x * x) + x * (up - down)
    far = (1 + x) * up + (1 - x) * down
    return 0.5 * jnp.where(x < 0.5, near, far)


def _advantage(wins: jax.Array, losses: jax.Array) -> jax.Array:
    """2 mu - 1 from counts, with its sign exact; 0 where there are none."""
    n = jnp.maximum(wins + losses, 1).astype(jnp.float32)
    return (wins - losses).astype(jnp.float32) / n


def _advance(
    policy: RMED2 | RMED2FH, state: MainState, plan: Duel, outcome: jax.Array, forced: jax.Array
) -> MainState:
    """The state after a comparison; one that was forced leaves the lists as they are."""
    learnt = lesson(plan, outcome)
    wins = add_lesson(state.wins, learnt)
    evidence, divergence = rmed.reweigh(state.evidence, state.divergence, wins, learnt)
    arms = jnp.arange(policy.num_arms, dtype=jnp.int32)
    row, column = jnp.minimum(plan.left, plan.right), jnp.maximum(plan.left, plan.right)
    made = state.made.at[row, column].add(1, mode="promise_in_bounds")
    fewest = jnp.min(jnp.where(policy.active_arms & (arms > row), made[row], _NEVER))
    t = state.t + 1
    members = rmed.plausible(divergence, policy.active_arms, t, policy.scale, policy.exponent)
    queue, waiting = rmed.next_lists(state.queue, state.waiting, plan.left, members, ~forced)
    return MainState(
        wins=wins,
        evidence=evidence,
        divergence=divergence,
        made=made,
        fewest=jnp.where(arms == row, fewest, state.fewest),
        queue=queue,
        waiting=waiting,
        t=t,
    )


def _told(state: MainState, feedback: Feedback) -> MainState:
    """The state after withheld outcomes became known."""
    wins = state.wins + feedback.wins()
    evidence, divergence = rmed.weigh(wins)
    return state._replace(wins=wins, evidence=evidence, divergence=divergence)


def _loglog(t: jax.Array) -> jax.Array:
    """log(log t + 0.01)."""
    return jnp.log(jnp.log(t.astype(jnp.float32)) + 0.01)
