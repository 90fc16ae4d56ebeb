"""SAVAGE: sensitivity analysis of variables for generic exploration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.errors import InputError
from jaxduel.numerics import count_true
from jaxduel.numerics.reductions import least
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require_horizon
from jaxduel.policies.counts import add_at, add_result, duel_result
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

TESTS = ("condorcet", "copeland")


class SAVAGEState(NamedTuple):
    """One seed's state."""

    wins: jax.Array  # (K, K) int32: wins of i over j
    beaten: jax.Array  # (K,) int32: number of arms that surely beat i
    beats: jax.Array  # (K,) int32: number of arms that i surely beats
    open: jax.Array | None  # (K, K) bool: i < j, winner not sure; only for "copeland"
    duel: Duel  # the next comparison: the next pair that remains, or the winner twice


@register("savage")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SAVAGE:
    """SAVAGE, Urvoy, Clerot, Feraud and Naamane (ICML 2013), for a known horizon: delta = 1 / T.

    Each step compares, of the pairs that remain, the one with the fewest comparisons (ties: the
    lexicographically first), then drops pairs. With c_ij = sqrt(log(K (K - 1) T^2) / (2 n_ij)),
    arm i surely beats j where mu_ij - c_ij > 1/2; a pair never compared is open.

    - test "condorcet": all pairs of an arm that some arm surely beats are dropped.
    - test "copeland": with hi_i = #{j : u_ij > 1/2} and lo_i = #{j : l_ij > 1/2}, counts of the
      upper and lower ends mu_ij +- c_ij, a pair is dropped once it is sure who wins, or if
      hi_i < max_k lo_k and hi_j < max_k lo_k (strict, as in the program of Wu and Liu).

    When no pair remains, the arm of the largest hi (ties: the lowest index) plays itself for ever.

    Pairs that remain differ by at most one comparison, so the least compared is the next in
    lexicographic order, round and round: the state holds that pair, not an order of all. Outcomes
    that are withheld count as comparisons made. mu - c > 1/2 is tested as (w - l)^2 / n > 2
    log(K (K - 1) T^2), w and l the wins of both arms; only the pair just compared can become sure,
    so that a step costs O(K) in the Condorcet test, O(K^2) cheap ones in the Copeland test.

    Attributes:
      num_arms: K; the confidence counts the active ones.
      active_arms: (K,) bool, the arms that exist.
      horizon: T; the confidence depends on it.
      test: "condorcet" or "copeland"; the former presupposes a Condorcet winner, without which it
        can drop every arm.

    Draws nothing: given the outcomes it is deterministic.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("savage", num_arms=6, horizon=10_000).assumes
      ('condorcet',)
      >>> policy = jd.policies.make("savage", num_arms=6, horizon=10_000, test="copeland")
      >>> policy, policy.assumes
      (SAVAGE(num_arms=6, horizon=10000, test='copeland'), ('no ties',))
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array
    test: str = field(default="condorcet", metadata={"static": True})

    @property
    def assumes(self) -> tuple[str, ...]:
        """A Condorcet winner with the Condorcet test; no ties with the Copeland test, to which a
        tied pair stays open unless both its arms are out."""
        return ("condorcet",) if self.test == "condorcet" else ("no ties",)

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require_horizon(self.horizon, "savage")
        if self.test not in TESTS:
            raise InputError(f"savage: test must be 'condorcet' or 'copeland', not {self.test!r}.")

    def init(self, key: Key) -> SAVAGEState:
        """All pairs remain; the first is (0, 1)."""
        num = self.num_arms
        wins = jnp.zeros((num, num), jnp.int32)
        return SAVAGEState(
            wins=wins,
            beaten=jnp.zeros(num, jnp.int32),
            beats=jnp.zeros(num, jnp.int32),
            open=self._open(wins) if self.test == "copeland" else None,
            duel=Duel(jnp.int32(0), jnp.int32(1)),
        )

    def act(self, state: SAVAGEState, key: Key) -> Duel:
        """The pair that the state holds."""
        return state.duel

    def update(self, state: SAVAGEState, plan: Duel, outcome: jax.Array, key: Key) -> SAVAGEState:
        """Counts the outcome, drops pairs and moves on to the next that remains."""
        learnt = duel_result(plan, outcome)
        i, j = learnt.winner, learnt.loser
        wins = add_result(state.wins, learnt)
        sure = self._surely(wins[i, j], wins[j, i]) & (learnt.amount > 0)
        still_open = state.open
        if still_open is not None:
            at = still_open.at[jnp.minimum(i, j), jnp.maximum(i, j)]
            still_open = at.min(~sure, mode="promise_in_bounds")
        state = SAVAGEState(
            wins=wins,
            beaten=add_at(state.beaten, j, sure),
            beats=add_at(state.beats, i, sure),
            open=still_open,
            duel=plan,
        )
        return state._replace(duel=self._next(state, plan.left, plan.right + 1))

    def quiet(self, state: SAVAGEState, limit: jax.Array, key: Key) -> tuple[SAVAGEState, Quiet]:
        """All comparisons to come, once no pair remains: the winner with itself changes nothing."""
        left, right = state.duel
        return state, Quiet(left, jnp.where(left == right, limit, 0))

    def learn(self, state: SAVAGEState, feedback: Feedback) -> SAVAGEState:
        """Takes in withheld outcomes and drops pairs; the next one stays if it remains."""
        wins = state.wins + feedback.wins()
        sure = self._surely(wins, wins.T)
        state = SAVAGEState(
            wins=wins,
            beaten=jnp.sum(sure, axis=0, dtype=jnp.int32),
            beats=jnp.sum(sure, axis=1, dtype=jnp.int32),
            open=self._open(wins) if self.test == "copeland" else None,
            duel=state.duel,
        )
        return state._replace(duel=self._next(state, *state.duel))

    def _surely(self, wins: jax.Array, losses: jax.Array) -> jax.Array:
        """True where mu - c > 1/2, from counts."""
        size = count_true(self.active_arms).astype(jnp.float32)
        log_term = jnp.log(size) + jnp.log(size - 1) + 2 * jnp.log(jnp.float32(self.horizon))
        lead = jnp.maximum(wins - losses, 0).astype(jnp.float32)
        n = jnp.maximum(wins + losses, 1).astype(jnp.float32)
        return lead * (lead / n) > 2 * log_term

    def _open(self, wins: jax.Array) -> jax.Array:
        """The pairs (i, j), i < j, of which it is not sure who wins."""
        sure = self._surely(wins, wins.T)
        exists = self.active_arms[:, None] & self.active_arms[None, :]
        return jnp.triu(exists & ~sure & ~sure.T, 1)

    def _next(self, state: SAVAGEState, row: jax.Array, column: jax.Array) -> Duel:
        """The first pair that remains from (row, column) on, round and round; or the winner."""
        num = self.num_arms
        arms = jnp.arange(num, dtype=jnp.int32)
        if state.open is None:
            left = (state.beaten == 0) & self.active_arms
            rows = left & (arms < jnp.max(jnp.where(left, arms, -1)))

            def columns(i: jax.Array) -> jax.Array:
                return left[i] & left & (arms > i)
        else:
            certain = jnp.max(state.beats)
            possible = count_true(self.active_arms) - 1 - state.beaten >= certain
            remaining = state.open & (possible[:, None] | possible[None, :])
            rows = jnp.any(remaining, axis=1)

            def columns(i: jax.Array) -> jax.Array:
                return remaining[i]

        in_row = least(jnp.where(columns(row) & (arms >= column), arms, num))
        later = least(jnp.where(rows, jnp.where(arms > row, arms, arms + num), 2 * num))
        later = jnp.where(later < num, later, later - num)
        first = least(jnp.where(columns(later), arms, num))
        winner = least(jnp.where(self.active_arms, state.beaten, num) * num + arms) % num
        over = later >= num
        return Duel(
            jnp.where(in_row < num, row, jnp.where(over, winner, later)),
            jnp.where(in_row < num, in_row, jnp.where(over, winner, first)),
        )
