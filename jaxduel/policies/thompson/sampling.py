"""Thompson sampling on win counts: state, votes and replies of D-TS, its variants and RCS.

theta_ij ~ Beta(w_ij + 1, w_ji + 1) is the sampled probability that i beats j. Votes read only
whether theta_ij > 1/2, which is a coin of probability q_ij = P(theta_ij > 1/2). The state carries
the q_ij, and a comparison changes one of them: no Beta number is drawn for a vote.

The coin of a pair falls once for both of its arms; a reply, in the second phase, has a coin of its
own. A quiet run may have decided some coins of the step after it
(`jaxduel.policies.thompson.quiet`): these are not tossed. Only the state between the two has fields
for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.numerics import count_true, signed_tail
from jaxduel.numerics.beta import logits_above_half
from jaxduel.numerics.choice import first_largest
from jaxduel.numerics.coins import bernoulli_from_tail
from jaxduel.numerics.marked import where_marked
from jaxduel.numerics.reductions import count_rows
from jaxduel.numerics.target import for_accelerator
from jaxduel.numerics.threefry import KeyWords, random_words, uniform
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.checks import require_alpha
from jaxduel.policies.counts import add_result, duel_result, lead_of
from jaxduel.policies.registry import name_of
from jaxduel.policies.thompson import pairs

VOTES, REPLIES, TIES, OPPONENTS, COSTS = 0, 1, 2, 1 << 16, 1 << 24
"""Streams of random words (`jaxduel.numerics.threefry`)."""

_FEW, _WIDTH = 16, 8
"""With fewer arms a CPU counts votes faster coin by coin than by words of coins; and it tosses a
coin twice, once for each of its arms, faster than it packs them, unless a row fills a register."""

FREE, LIKELY, UNLIKELY = 0, 1, 2
"""Sides of a coin of the next step: to be tossed, fixed on the likelier side, fixed on the other.
For a reply, LIKELY means theta <= 1/2 and UNLIKELY theta > 1/2, whichever is likelier."""


class Decided(NamedTuple):
    """The coins of the next step that a quiet run has decided."""

    any: jax.Array  # () bool: True if it has decided some
    sides: jax.Array  # (2 K, K) int8: of votes, symmetric, and of replies to i
    first: jax.Array  # () int32: the step's first arm; -1 if votes decide


class ThompsonState(NamedTuple):
    """One seed's state."""

    wins: jax.Array  # (K, K) int32: wins of i over j
    tail: jax.Array  # (K, K) float32: q_ij where i > j is likelier to lose, else q_ij - 1
    lead: jax.Array  # (K, K) float32: n_ij (mu_ij - 1/2)^2, with the sign of mu_ij - 1/2
    t: jax.Array  # () int32: comparisons made
    decided: Decided | None = None
    """None except between a quiet run and the step after it."""


def no_comparisons(num_arms: int) -> ThompsonState:
    """The state before the first comparison."""
    return after_wins(jnp.zeros((num_arms, num_arms), jnp.int32))


def after_wins(wins: jax.Array) -> ThompsonState:
    """The state after the comparisons counted in `wins`, (K, K) int32, and no others."""
    return ThompsonState(
        wins=wins,
        tail=tails_of(wins),
        lead=lead_of(wins, wins.T),
        t=jnp.sum(wins, dtype=jnp.int32),
    )


def after_duel(state: ThompsonState, duel: Duel, outcome: jax.Array) -> ThompsonState:
    """The state after one comparison."""
    learnt = duel_result(duel, outcome)
    wins = add_result(state.wins, learnt)
    i, j = learnt.winner, learnt.loser
    won, lost = wins[i, j], wins[j, i]
    tail, lead = signed_tail(won, lost), lead_of(won, lost)
    mode = "promise_in_bounds"
    return ThompsonState(
        wins=wins,
        tail=state.tail.at[i, j].set(tail, mode=mode).at[j, i].set(-tail, mode=mode),
        lead=state.lead.at[i, j].set(lead, mode=mode).at[j, i].set(-lead, mode=mode),
        t=state.t + 1,
    )


def after_feedback(state: ThompsonState, feedback: Feedback) -> ThompsonState:
    """The state once withheld outcomes are known."""
    told = feedback.wins()
    wins, tail = state.wins + told, tails_after(state.tail, state.wins, told)
    return ThompsonState(wins=wins, tail=tail, lead=lead_of(wins, wins.T), t=state.t)


@dataclass(frozen=True, kw_only=True)
class ThompsonSettings:
    """A policy whose state is a `ThompsonState`.

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array

    def init(self, key: Key) -> ThompsonState:
        """No comparisons."""
        return no_comparisons(self.num_arms)

    def from_wins(self, wins: jax.Array, key: Key) -> ThompsonState:
        """The comparisons counted in `wins`."""
        return after_wins(wins)

    def update(
        self, state: ThompsonState, plan: Duel, outcome: jax.Array, key: Key
    ) -> ThompsonState:
        """Line 17."""
        return after_duel(state, plan, outcome)

    def learn(self, state: ThompsonState, feedback: Feedback) -> ThompsonState:
        """Takes in withheld outcomes."""
        return after_feedback(state, feedback)


@dataclass(frozen=True, kw_only=True)
class DoubleThompsonSettings(ThompsonSettings):
    """D-TS and its variants, whose first arm is a candidate with most votes.

    Attributes:
      alpha: width of the confidence bounds.
    """

    alpha: float | jax.Array = 0.51

    assumes: ClassVar[tuple[str, ...]] = ("no ties",)
    tells_which: ClassVar[bool]

    def validate(self) -> None:
        """Raises InputError unless alpha > 0; warns where alpha <= 1/2."""
        require_alpha(self.alpha, name_of(self))


def sampled_wins(seed: KeyWords, state: ThompsonState) -> jax.Array:
    """True where theta_ij > 1/2, for one sample of all theta with theta_ij + theta_ji = 1.

    Returns:
      (K, K) bool; arbitrary on the diagonal and where i or j is inactive.
    """
    wins = tossed(seed, state.tail)
    if state.decided is not None:
        sides = state.decided.sides[: len(wins)]
        wins = jnp.where(sides == FREE, wins, (state.tail < 0) ^ (sides == UNLIKELY))
    return wins


def tossed(seed: KeyWords, tail: jax.Array) -> jax.Array:
    """True where theta_ij > 1/2, by a coin for each pair that falls for both of its arms.

    Args:
      seed: the step's seed.
      tail: (K, K) float32, as in `ThompsonState`.

    Returns:
      (K, K) bool, arbitrary on the diagonal.
    """
    if _are_few(len(tail)) and len(tail) != _WIDTH:
        numbers = np.arange(tail.size, dtype=np.int32).reshape(tail.shape)
        numbers = jnp.asarray(np.minimum(numbers, numbers.T))  # i K + j for both orders of i < j
        return bernoulli_from_tail(seed, numbers, VOTES, tail)
    return pairs.unfolded(_coins(seed, tail))


def _coins(seed: KeyWords, tail: jax.Array) -> jax.Array:
    """The coins of all pairs, where `jaxduel.policies.thompson.pairs` has them."""
    numbers = jnp.asarray(pairs.numbers_of(len(tail)))
    return bernoulli_from_tail(seed, numbers, VOTES, pairs.folded(tail))


def _are_few(num_arms: int) -> bool:
    return num_arms < _FEW and not for_accelerator()


def sampled_votes(seed: KeyWords, state: ThompsonState, active: jax.Array) -> jax.Array:
    """`votes_of` the `sampled_wins`."""
    if _are_few(len(active)) or state.decided is not None:
        return votes_of(sampled_wins(seed, state), active)
    losses = pairs.losses_of(_coins(seed, state.tail), active)
    return jnp.where(active, count_true(active) - 1 - losses, -1)


def votes_of(wins: jax.Array, active: jax.Array) -> jax.Array:
    """Number of arms that each arm beats in a sample: (K,) int32, -1 for inactive arms.

    By column sums of the others' losses: summing rows costs several times as much.
    """
    others = jnp.asarray(~np.eye(len(active), dtype=bool)) & active[:, None]
    return jnp.where(active, count_rows(others & ~wins), -1)


def possible_winners(state: ThompsonState, bound: jax.Array, active: jax.Array) -> jax.Array:
    """The arms of the largest upper Copeland score #{j : u_ij > 1/2}: (K,) bool.

    u_ij = mu_ij + sqrt(bound / n_ij) > 1/2 if j does not lead against i by bound or more. Nobody
    leads before the first comparison, where u_ij = 2 ("x / 0 := 1").
    """
    unrefuted = count_rows(state.lead < bound)
    return active & (unrefuted == jnp.max(jnp.where(active, unrefuted, -1)))


def undecided_opponents(
    state: ThompsonState, left: jax.Array, bound: jax.Array, active: jax.Array
) -> jax.Array:
    """The arms i with l_i,left = mu_i,left - sqrt(bound / n_i,left) <= 1/2: (K,) bool."""
    return active & (state.lead[left] >= -bound)


def replies(
    seed: KeyWords, state: ThompsonState, left: jax.Array, eligible: jax.Array
) -> jax.Array:
    """A fresh sample of logit(theta_i,left) for eligible i, as far as its argmax needs it.

    Coins tell which theta exceed 1/2. If several do, their values are drawn given that.

    Returns:
      (K,) float32: the logit where it is positive and drawn, 1 where it is the only positive one,
      -1 where it is negative or i is not eligible, 0 for `left` itself, theta = 1/2.
    """
    arms = jnp.arange(len(eligible), dtype=jnp.int32)
    itself = arms == left
    above = bernoulli_from_tail(seed, arms, REPLIES, -state.tail[left])
    if state.decided is not None:
        sides = state.decided.sides[len(arms) + left]
        above = jnp.where(sides == FREE, above, sides == UNLIKELY)
    above = above & eligible & ~itself
    several = count_true(above) > 1
    wins, losses = state.wins[:, left], state.wins[left]
    drawn = logits_above_half(seed, OPPONENTS, above & several, wins, losses)
    return jnp.where(above, jnp.where(several, drawn, 1.0), jnp.where(itself, 0.0, -1.0))


def replies_of_others(
    seed: KeyWords, state: ThompsonState, left: jax.Array, eligible: jax.Array
) -> jax.Array:
    """As `replies`, but without `left` itself.

    Some other arm is always eligible: not all others surely beat an arm of the largest upper score.

    Returns:
      (K,) float32, as of `strongest`.
    """
    arms = jnp.arange(len(eligible), dtype=jnp.int32)
    won, lost = state.wins[:, left], state.wins[left]
    return strongest(seed, -state.tail[left], won, lost, eligible & (arms != left))


def strongest(
    seed: KeyWords, tail: jax.Array, won: jax.Array, lost: jax.Array, among: jax.Array
) -> jax.Array:
    """A fresh sample of logit(theta_i), theta_i ~ Beta(won_i + 1, lost_i + 1), for i of a set, as
    far as its argmax needs it.

    Coins tell which theta exceed 1/2. If none does, the values are logits of 1 - theta given that
    it exceeds 1/2, negated.

    Args:
      seed: the step's seed.
      tail: (N,) float32, `signed_tail(won, lost)`.
      won, lost: (N,) int32.
      among: (N,) bool, the set.

    Returns:
      (N,) float32: the logit where it is drawn, 0 where there is no other to compare it with, minus
      infinity outside the set.
    """
    numbers = jnp.arange(len(among), dtype=jnp.int32)
    above = among & bernoulli_from_tail(seed, numbers, REPLIES, tail)
    some = jnp.any(above)
    rivals = jnp.where(some, above, among)
    counts = jnp.where(some, won, lost), jnp.where(some, lost, won)
    drawn = logits_above_half(seed, OPPONENTS, rivals & (count_true(rivals) > 1), *counts)
    return jnp.where(rivals, jnp.where(some, drawn, -drawn), -jnp.inf)


def best_reply(
    seed: KeyWords,
    state: ThompsonState,
    left: jax.Array,
    eligible: jax.Array,
    self_duels: bool = True,
) -> jax.Array:
    """argmax of theta_i,left over eligible i, freshly sampled, and, with `self_duels`, `left`
    itself: () int32."""
    sampled = replies if self_duels else replies_of_others
    return first_largest(sampled(seed, state, left, eligible))


def tie_break(seed: KeyWords, number: int = 0) -> jax.Array:
    """A uniform number in [0, 1) to break a tie with: () float32."""
    return uniform(random_words(seed, number, TIES)[0])


def tails_of(wins: jax.Array) -> jax.Array:
    """`ThompsonState.tail` of (..., K, K) win counts, antisymmetric also where they are equal."""
    tail = signed_tail(wins, jnp.swapaxes(wins, -1, -2))
    lower = jnp.tri(wins.shape[-1], dtype=bool)
    return jnp.where(lower, -jnp.swapaxes(tail, -1, -2), tail)


def tails_after(tail: jax.Array, wins: jax.Array, told: jax.Array) -> jax.Array:
    """`tails_of` the wins after late outcomes; a CPU recomputes only pairs that got some.

    Args:
      tail: (..., K, K) float32, before.
      wins: (..., K, K) int32, before.
      told: (..., K, K) int32, late wins of i over j.
    """
    wins, below = wins + told, jnp.tri(told.shape[-1], k=-1, dtype=bool)
    if for_accelerator():  # all pairs cost less than finding the changed ones
        return tails_of(wins)
    changed = (told + jnp.swapaxes(told, -1, -2) > 0) & ~below
    tail = where_marked(signed_tail, changed, tail, wins, jnp.swapaxes(wins, -1, -2))
    return jnp.where(below, -jnp.swapaxes(tail, -1, -2), tail)
