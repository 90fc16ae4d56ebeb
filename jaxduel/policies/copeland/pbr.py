"""PBR: preference-based racing for the Copeland winner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxduel.numerics import count_true
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.policies import arm_sets
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require_horizon
from jaxduel.policies.counts import add_result, duel_result
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_WORD = 32


class Race(NamedTuple):
    """Active pairs of the race, and its next comparison."""

    pairs: jax.Array  # (ceil(K / 32), K) uint32: column i holds the j > i of active pairs, as bits
    duel: Duel  # the next comparison: an active pair, or the arm that is exploited twice


class PBRState(NamedTuple):
    """One seed's state."""

    wins: jax.Array  # (K, K) int32: wins of i over j
    race: Race


@register("pbr")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class PBR:
    """PBR, Busa-Fekete et al. (ICML 2013), racing for the top arm (k = 1) of the Copeland order
    with delta = 1 / T, then exploiting it, as Zoghi et al. (NIPS 2015) ran it.

    Each round compares all active pairs once, in lexicographic order; tests are made at its end.
    With c_ij = sqrt(log(2 K^2 n_max / delta) / (2 n_ij)), n_max = T as a pair is compared at most T
    times, arm i surely beats j where mu_ij - c_ij > 1/2; w_i is how many arms i surely beats, z_i
    how many surely beat i.

    - i is surely the top arm if K - 1 - z_j < w_i for all j != i, surely not if w_j > K - 1 - z_i
      for some j != i.
    - A pair becomes inactive, for ever, if it is sure who wins, or if of both arms it is sure
      whether they are the top one.

    When no pair is active or some arm is surely the top one, that arm, else the arm of the largest
    w (ties: the lowest index), plays itself for ever.

    |mu - 1/2| > c is tested as (w - l)^2 / n > 2 log(2 K^2 T^2), w and l the wins of both arms; a
    pair never compared is not sure. A step within a round costs O(K). With delayed feedback, the
    tests see the outcomes that are known; those that come after the end of the race change nothing.

    Attributes:
      num_arms: K; in the formulas, the number of active arms.
      active_arms: (K,) bool, the arms that exist.
      horizon: T; the confidence depends on it.

    A tied pair stays active until both its arms are known to be, or not to be, the top one: if the
    top one is tied, that is to the end.

    Draws nothing: given the outcomes it is deterministic.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("pbr", num_arms=6, horizon=10_000)
      PBR(num_arms=6, horizon=10000)
      >>> jd.policies.describe("pbr").cost
      'A step within a round costs O(K)'
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    horizon: int | jax.Array

    assumes: ClassVar[tuple[str, ...]] = ("no ties",)

    def validate(self) -> None:
        """Raises InputError unless the horizon is a whole number in 1 .. 2^31 - 1."""
        require_horizon(self.horizon, "pbr")

    def init(self, key: Key) -> PBRState:
        """All pairs are active; the first is (0, 1)."""
        num, active = self.num_arms, jnp.asarray(self.active_arms)
        arms = jnp.arange(num, dtype=jnp.int32)
        exist = (arms[:, None] > arms) & active[:, None] & active
        return PBRState(
            wins=jnp.zeros((num, num), jnp.int32),
            race=Race(arm_sets.sets_where(exist), Duel(jnp.int32(0), jnp.int32(1))),
        )

    def act(self, state: PBRState, key: Key) -> Duel:
        """The pair that the state holds."""
        return state.race.duel

    def update(self, state: PBRState, plan: Duel, outcome: jax.Array, key: Key) -> PBRState:
        """Counts the outcome and moves on; after the last pair of a round, the tests."""
        wins = add_result(state.wins, duel_result(plan, outcome))
        pairs = state.race.pairs
        following, found = _after(pairs, plan)
        over = plan.left == plan.right
        stay = over | ~found
        duel = Duel(*(jnp.where(stay, here, to) for here, to in zip(plan, following, strict=True)))
        facts = wins, jnp.asarray(self.active_arms), jnp.float32(self.horizon)
        return PBRState(wins, compacted_cond(_judged, ~over & ~found, Race(pairs, duel), *facts))

    def quiet(self, state: PBRState, limit: jax.Array, key: Key) -> tuple[PBRState, Quiet]:
        """All comparisons to come, once the race is over: an arm with itself changes nothing."""
        left, right = state.race.duel
        return state, Quiet(left, jnp.where(left == right, limit, 0))

    def learn(self, state: PBRState, feedback: Feedback) -> PBRState:
        """Takes in withheld outcomes; the end of the round tests them."""
        return state._replace(wins=state.wins + feedback.wins())


def _judged(race: Race, wins: jax.Array, active: jax.Array, horizon: jax.Array) -> Race:
    """The race after the tests at the end of a round."""
    num = len(active)
    arms = jnp.arange(num, dtype=jnp.int32)
    size = count_true(active)
    log_term = jnp.log(jnp.float32(2)) + 2 * jnp.log(size.astype(jnp.float32) * horizon)
    lead = (wins - wins.T).astype(jnp.float32)  # [j, i]: of j over i
    n = jnp.maximum(wins + wins.T, 1).astype(jnp.float32)
    sure = jnp.abs(lead) * (jnp.abs(lead) / n) > 2 * log_term
    surely_beats = jnp.sum(sure & (lead < 0), axis=0, dtype=jnp.int32)
    at_most = size - 1 - jnp.sum(sure & (lead > 0), axis=0, dtype=jnp.int32)

    others = active[:, None] & (arms[:, None] != arms)  # [j, i]: the j that tests of i use
    top = active & ~jnp.any(others & (at_most[:, None] >= surely_beats), axis=0)
    out = jnp.any(others & (surely_beats[:, None] > at_most), axis=0)
    known = top | out
    pairs = race.pairs & arm_sets.sets_where(~sure & ~(known[:, None] & known))

    first, found = _after(pairs, Duel(jnp.int32(0), jnp.int32(0)))
    best = lax.argmax(jnp.where(active, surely_beats, -1), 0, jnp.int32)
    winner = jnp.where(jnp.any(top), lax.argmax(top, 0, jnp.int32), best)
    over = jnp.any(top) | ~found
    duel = Duel(*(jnp.where(over, winner, arm) for arm in first))
    return Race(pairs, duel)


def _after(pairs: jax.Array, pair: Duel) -> tuple[Duel, jax.Array]:
    """The next active pair in lexicographic order, and whether there is one."""
    words, num = pairs.shape
    arms, rows = jnp.arange(num, dtype=jnp.int32), jnp.arange(words, dtype=jnp.int32)
    later = (arms > pair.left) & jnp.any(pairs != 0, axis=0)
    new_left = jnp.min(jnp.where(later, arms, num))
    # bits above that of the right arm: all of later words, some of its own
    shift = (pair.right % _WORD).astype(jnp.uint32)
    above = jnp.where(rows == pair.right // _WORD, ~jnp.uint32(1) << shift, ~jnp.uint32(0))
    here = pairs[:, pair.left] & jnp.where(rows >= pair.right // _WORD, above, jnp.uint32(0))
    same = jnp.any(here != 0)
    left = jnp.where(same, pair.left, jnp.minimum(new_left, num - 1))
    right = arm_sets.lowest(jnp.where(same, here, pairs[:, left]))
    return Duel(left, right), same | (new_left < num)
