"""Beat the Mean (BTM)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.display import value_text
from jaxduel.numerics import count_true, masked_choice
from jaxduel.numerics.choice import first_least
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.memory import materialize
from jaxduel.numerics.reductions import largest, least
from jaxduel.numerics.threefry import uniforms
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require, require_horizon
from jaxduel.policies.counts import add_at
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass


class BTMState(NamedTuple):
    """One seed's state. Records belong to the arm on the left: its opponent gets none."""

    working: jax.Array  # (K,) bool: W, the arms that are left
    played: jax.Array  # (K, K) int32: comparisons in b's record against b'
    won: jax.Array  # (K, K) int32: number of them that b won
    num_played: jax.Array  # (K,) int32: n_b, over opponents in W
    num_won: jax.Array  # (K,) int32: w_b, over opponents in W


@register("btm")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class BTM:
    """Beat the Mean, Yue and Joachims (ICML 2011), Algorithm 1, online version.

    The online version has delta = 1 / (2 T K) and no bound on the comparisons of an arm.

    While more than one arm is left: b = argmin n_b, ties at random; b' uniform in W; if b wins, w_b
    grows, and n_b grows. With P_b = w_b / n_b (1/2 if n_b = 0) and c* = c(min_b n_b), c(n) = scale
    gamma^2 sqrt(log(1/delta) / n) (1 if n = 0): if min P + c* <= max P - c*, the arm with the
    smallest P is removed, and all comparisons with it from the records. The last arm plays itself.
    A step costs O(K).

    The bound is for a total order with, for the best arm i before j before k, relaxed strong
    transitivity, gamma eps_ik >= max(eps_ij, eps_jk), and the stochastic triangle inequality,
    eps_ik <= eps_ij + eps_jk (eps_ij = p_ij - 1/2). `assumes` has the latter for all triples.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      horizon: T; the confidence depends on it.
      gamma: the relaxation of stochastic transitivity; 1.3 in the literature's experiments.
      scale: 3 is the paper's radius 3 gamma^2 sqrt(.), with which hardly an arm goes before T =
        1e5; 1 the "tight" radius of the library behind the figures of the batched paper.
      self_comparisons: whether b' may be b (paper) or not (that library). b against itself is a
        fair coin that counts in its record.

    `act` reads two uniform numbers of its key: the tie break of b and the choice of b'.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("btm", num_arms=6, horizon=10_000, scale=1)  # the "tight" radius
      BTM(num_arms=6, horizon=10000, scale=1.0)
      >>> jd.policies.describe("btm").cost
      'A step costs O(K)'
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    gamma: float | jax.Array = 1.3
    scale: float | jax.Array = 3.0
    self_comparisons: bool = field(default=True, metadata={"static": True})

    @property
    def assumes(self) -> tuple[str, ...]:
        """A Condorcet winner, and transitivity relaxed by gamma beside the triangle inequality."""
        return "condorcet", "sti", f"rst {value_text(self.gamma)}"

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require_horizon(self.horizon, "btm")
        require(self.gamma, lambda g: g >= 1, "btm: gamma must be at least 1")
        require(self.scale, lambda s: s > 0, "btm: scale must be positive")

    def init(self, key: Key) -> BTMState:
        """All arms work, no records."""
        num = self.num_arms
        return BTMState(
            working=jnp.asarray(self.active_arms),
            played=jnp.zeros((num, num), jnp.int32),
            won=jnp.zeros((num, num), jnp.int32),
            num_played=jnp.zeros(num, jnp.int32),
            num_won=jnp.zeros(num, jnp.int32),
        )

    def act(self, state: BTMState, key: Key) -> Duel:
        """b and b'."""
        tie, pick = uniforms(key, 2)
        fewest = _fewest(state.num_played, state.working)
        left = masked_choice(state.working & (state.num_played == fewest), tie)
        opponents = state.working
        if not self.self_comparisons:
            others = opponents & (jnp.arange(self.num_arms, dtype=jnp.int32) != left)
            opponents = jnp.where(jnp.any(others), others, opponents)
        plan = Duel(left, masked_choice(opponents, pick))
        return materialize(plan, left < 0)  # else found anew as often as it is read

    def update(self, state: BTMState, plan: Duel, outcome: jax.Array, key: Key) -> BTMState:
        """Enters the outcome into b's record, then removes at most one arm."""
        several = count_true(state.working) > 1
        counts = ((outcome != 0) & several).astype(jnp.int32)
        wins = jnp.where(outcome > 0, counts, 0)
        left, right = plan
        mode = "promise_in_bounds"
        played = state.played.at[left, right].add(counts, mode=mode)
        won = state.won.at[left, right].add(wins, mode=mode)
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        num_played = add_at(state.num_played, left, counts)
        num_won = add_at(state.num_won, left, wins)

        score = jnp.where(num_played > 0, num_won / jnp.maximum(num_played, 1), 0.5)
        lowest = jnp.where(state.working, score, jnp.inf)
        worst = first_least(lowest)
        highest = largest(jnp.where(state.working, score, -jnp.inf))
        fewest = _fewest(num_played, state.working)
        radius = self._radius(fewest)
        beaten = several & (lowest[worst] + radius <= highest - radius)
        num_played, num_won = compacted_cond(
            _without, beaten, (num_played, num_won), worst, table=(played, won)
        )
        working = state.working & ~(beaten & (arms == worst))
        return BTMState(working, played, won, num_played, num_won)

    def quiet(self, state: BTMState, limit: jax.Array, key: Key) -> tuple[BTMState, Quiet]:
        """All comparisons to come, once one arm is left: it plays itself, with no record.

        Before that, b may meet itself, but this counts in its record.
        """
        alone = count_true(state.working) == 1
        return state, Quiet(lax.argmax(state.working, 0, jnp.int32), jnp.where(alone, limit, 0))

    def learn(self, state: BTMState, feedback: Feedback) -> BTMState:
        """Takes in withheld outcomes; the next comparison tests them."""
        played = state.played + feedback.left_wins + feedback.right_wins
        won = state.won + feedback.left_wins
        return state._replace(
            played=played,
            won=won,
            num_played=jnp.sum(played, axis=1, where=state.working, dtype=jnp.int32),
            num_won=jnp.sum(won, axis=1, where=state.working, dtype=jnp.int32),
        )

    def _radius(self, fewest: jax.Array) -> jax.Array:
        """c(n) for n = `fewest`."""
        size = count_true(self.active_arms).astype(jnp.float32)
        log_inverse_delta = jnp.log(2.0 * jnp.float32(self.horizon) * size)
        n = jnp.maximum(fewest, 1).astype(jnp.float32)
        radius = self.scale * self.gamma**2 * jnp.sqrt(log_inverse_delta / n)
        return jnp.where(fewest > 0, radius, 1.0)


def _without(
    counts: tuple[jax.Array, jax.Array],
    worst: jax.Array,
    records: Callable[[jax.Array, jax.Array], tuple[jax.Array, jax.Array]],
) -> tuple[jax.Array, jax.Array]:
    """n_b and w_b without the comparisons with one arm."""
    arms = jnp.arange(len(counts[0]), dtype=jnp.int32)
    played, won = records(arms, worst)
    return counts[0] - played, counts[1] - won


def _fewest(num_played: jax.Array, working: jax.Array) -> jax.Array:
    """The least n_b of the working arms: () int32.

    By bits, as a CPU's compiler makes branches of a `where` that a minimum reads.
    """
    missing = (working.astype(jnp.int32) - 1) & jnp.iinfo(jnp.int32).max
    return least(num_played | missing)
