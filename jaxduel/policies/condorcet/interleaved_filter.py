"""Interleaved Filter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.errors import InputError
from jaxduel.numerics import count_true, masked_choice
from jaxduel.numerics.choice import first_least
from jaxduel.numerics.threefry import uniforms
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require_horizon
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

VARIANTS = ("if1", "if2")


class InterleavedFilterState(NamedTuple):
    """One seed's state. The record holds the comparisons of b with each arm since it leads."""

    best: jax.Array  # () int32: b, the candidate
    working: jax.Array  # (K,) bool: W, the arms that b still meets
    turn: jax.Array  # () int32: the arm of W that b meets next; b itself where W is empty
    played: jax.Array  # (K,) int32: comparisons of known outcome
    won: jax.Array  # (K,) int32: number of them that b won


@register("interleaved-filter", label="Interleaved Filter")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class InterleavedFilter:
    """Interleaved Filter, Yue, Broder, Kleinberg and Joachims (COLT 2009), delta = 1 / (T K^2).

    The candidate b is uniform, W holds the other arms. b meets the arms of W in index order, round
    robin. With c = sqrt(4 log(1 / delta) / n_bb'), 1 where n_bb' = 0, at the end of each round
    robin:

    1. Every b' of W with mu_bb' - c > 1/2 leaves W.
    2. If some b' of W has mu_bb' + c < 1/2, the one of the smallest mu_bb' (ties: the lowest index)
       replaces b: b leaves for good, b' leaves W and its estimates start afresh. In the variant
       IF2 every b'' of W with mu_bb'' > 1/2 leaves with b; in IF1 not.

    Where W is empty, b plays itself for ever.

    The order within a round robin, testing only at its end and the order of 1 and 2 are those of
    the library of RMED's authors. That library keeps the estimates when b changes. It makes no
    difference: an arm of W has met past candidates only, and none of them comes back. A step costs
    O(K).

    Attributes:
      num_arms: K; the confidence counts the active ones.
      active_arms: (K,) bool, the arms that exist.
      horizon: T; the confidence depends on it.
      variant: "if2" or "if1".

    `init` reads one uniform number of its key: the choice of b. `act` draws nothing. The round
    robin goes on while outcomes are withheld.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("interleaved-filter", num_arms=6, horizon=10_000, variant="if1")
      InterleavedFilter(num_arms=6, horizon=10000, variant='if1')
      >>> jd.policies.make("interleaved-filter", num_arms=6, horizon=10_000).assumes
      ('condorcet', 'sst', 'sti')
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    variant: str = field(default="if2", metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ("condorcet", "sst", "sti")

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require_horizon(self.horizon, "interleaved-filter")
        if self.variant not in VARIANTS:
            raise InputError(
                f"interleaved-filter: variant must be 'if1' or 'if2', not {self.variant!r}."
            )

    def init(self, key: Key) -> InterleavedFilterState:
        """The first candidate, uniform; no comparisons."""
        (pick,) = uniforms(key, 1)
        best = masked_choice(jnp.asarray(self.active_arms), pick)
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        working = self.active_arms & (arms != best)
        none = jnp.zeros(self.num_arms, jnp.int32)
        return InterleavedFilterState(
            best=best,
            working=working,
            turn=lax.argmax(working, 0, jnp.int32),
            played=none,
            won=none,
        )

    def act(self, state: InterleavedFilterState, key: Key) -> Duel:
        """b and the arm whose turn it is."""
        return Duel(state.best, state.turn)

    def update(
        self, state: InterleavedFilterState, plan: Duel, outcome: jax.Array, key: Key
    ) -> InterleavedFilterState:
        """Enters the outcome; at the end of a round robin, filters."""
        num = self.num_arms
        arms = jnp.arange(num, dtype=jnp.int32)
        met = state.working & (arms == plan.right) & (outcome != 0)
        state = state._replace(played=state.played + met, won=state.won + (met & (outcome > 0)))
        ahead = jnp.min(jnp.where(state.working & (arms > plan.right), arms, num))
        ends = ahead == num
        new = self._filtered(state)
        new = jax.tree.map(lambda a, b: jnp.where(ends, a, b), new, state)
        first = jnp.where(jnp.any(new.working), lax.argmax(new.working, 0, jnp.int32), new.best)
        return new._replace(turn=jnp.where(ends, first, ahead))

    def quiet(
        self, state: InterleavedFilterState, limit: jax.Array, key: Key
    ) -> tuple[InterleavedFilterState, Quiet]:
        """All comparisons to come, once W is empty: b's duels with itself enter no record."""
        return state, Quiet(state.best, jnp.where(state.turn == state.best, limit, 0))

    def learn(self, state: InterleavedFilterState, feedback: Feedback) -> InterleavedFilterState:
        """Takes in withheld outcomes of b; the end of the round robin tests them."""
        won, lost = feedback.left_wins[state.best], feedback.right_wins[state.best]
        met = state.working
        return state._replace(
            played=state.played + jnp.where(met, won + lost, 0),
            won=state.won + jnp.where(met, won, 0),
        )

    def _filtered(self, state: InterleavedFilterState) -> InterleavedFilterState:
        """The state after steps 1 and 2."""
        played = state.played
        n = jnp.maximum(played, 1).astype(jnp.float32)
        mean = jnp.where(played > 0, state.won.astype(jnp.float32) / n, 0.5)
        radius = self._radius(played)
        working = state.working & ~(mean - radius > 0.5)
        better = working & (mean + radius < 0.5)
        replaced = jnp.any(better)
        successor = first_least(jnp.where(better, mean, jnp.inf))
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        leaves = arms == successor
        if self.variant == "if2":
            leaves = leaves | (mean > 0.5)
        return state._replace(
            best=jnp.where(replaced, successor, state.best),
            working=working & ~(replaced & leaves),
            played=jnp.where(replaced, 0, played),
            won=jnp.where(replaced, 0, state.won),
        )

    def _radius(self, played: jax.Array) -> jax.Array:
        """c(n) for n = `played`."""
        size = count_true(self.active_arms).astype(jnp.float32)
        log_inverse_delta = jnp.log(jnp.float32(self.horizon)) + 2 * jnp.log(size)
        n = jnp.maximum(played, 1).astype(jnp.float32)
        return jnp.where(played > 0, jnp.sqrt(4 * log_inverse_delta / n), 1.0)
