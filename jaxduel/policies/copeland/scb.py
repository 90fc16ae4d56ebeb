"""Scalable Copeland Bandits (SCB)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.threefry import KeyWords, words_of
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import MAX_HORIZON, require
from jaxduel.policies.copeland.score_elimination import (
    Confidence,
    Tally,
    next_duel,
    no_rewards,
    with_decision,
)
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_MOST_ROUNDS = 6
"""Most rounds, with T_1 = 2: the sixth, of 2^32 comparisons, never ends."""


class Round(NamedTuple):
    """State of a round of Algorithm 3, which starts from scratch."""

    number: jax.Array  # () int32: r, from 1
    left: jax.Array  # () int32: comparisons until it is over
    tally: Tally
    duel: Duel  # the next comparison: the pair under way, or the winner twice
    wins: jax.Array  # () int32: wins of the left arm in the pair under way; of the winner, 0
    losses: jax.Array  # () int32
    withheld: jax.Array  # () int32: comparisons of the pair under way that are not yet told


class Rules(NamedTuple):
    """The policy's parameters, as arrays."""

    active: jax.Array  # (K,) bool
    scale: jax.Array  # () float32
    first_length: jax.Array  # () int32


class SCBState(NamedTuple):
    """One seed's state."""

    decisions: jax.Array  # (K, K) int8: the last round that decided (i, j), + if i won, else -
    round: Round


@register("scb")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class SCB:
    """SCB, Zoghi, Karnin, Whiteson and de Rijke (NIPS 2015), Algorithms 2 and 3 with epsilon = 0.

    Rounds r = 1, 2, ... of T_r = 2^(2^r) comparisons start from scratch, with failure probability
    delta = log(T_r) / T_r. A round pulls the remaining arms B, at first all, in index order, pass
    after pass. A pull of i draws j uniformly among the other arms and rewards i if it beats j: the
    pair is compared until |mu_ij - 1/2| > sqrt(log(4 n^2 K^2 / delta) / (2 n)), or if this round
    has decided it, that answer is used again and no comparison is made. After s passes, arm i with
    the mean reward m_i leaves B if b_i < max_j a_j, where [a_i, b_i] = {q : s d(m_i, q) <=
    log(4 s K / delta) + 2 log max(1, log s)}. A round that is over ends whatever it was doing.

    Readings: the elimination is the paper's Algorithm 4, an appendix of which public programs agree
    on the form; they test before every arm has s rewards, here it is tested after. With epsilon = 0
    its stopping rule does not fire. Instead the round commits to the last arm of B, or, when all
    pairs of all arms of B are decided, to that of them with the most decided wins (ties: the lowest
    index), and plays it against itself until the round is over. Both are tested after every pass
    and whenever a pair has been decided. The pair's test holds for all n together.

    One pair is under way at a time. The state holds its two counts, and of other pairs only who
    won, with the round's number, so that a new round clears nothing; a step costs O(1) until the
    pair is decided or the round over, O(K) a pass then.

    With delayed feedback, the clock of the rounds goes on, the pair under way is repeated, and
    outcomes count once they are told: the first update after that moves on. Where a round begins
    with the pair that the one before ended with, outcomes of both told together are dropped.

    Attributes:
      num_arms: K; in the formulas, the number of active arms.
      active_arms: (K,) bool, the arms that exist.
      scale: factor of the logarithms in both bounds, the pair's and the elimination's. The
        guarantee is for 1; the program of Wu and Liu, who refer to the authors' own, has 0.51.
      first_length: T_1, a whole number from 2 on; T_(r+1) = T_r^2. 1,000 in that program.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.make("scb", num_arms=6, scale=0.51, first_length=1_000)  # Wu and Liu
      SCB(num_arms=6, scale=0.51, first_length=1000)
      >>> jd.policies.parameters("scb")
      {'scale': 1.0, 'first_length': 4}
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    scale: float | jax.Array = 1.0
    first_length: int | jax.Array = 4

    assumes: ClassVar[tuple[str, ...]] = ("no ties",)

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        require(self.scale, lambda x: x > 0, "scb: scale must be positive")
        require(
            self.first_length,
            lambda n: (n >= 2) & (n <= MAX_HORIZON) & (n % 1 == 0),
            f"scb: first_length must be a whole number from 2 to 2^31 - 1 = {MAX_HORIZON}",
        )

    def init(self, key: Key) -> SCBState:
        """The first round with its first pair."""
        zero, rules = jnp.int32(0), self._rules
        nothing = Duel(zero, zero)
        before = Round(zero, zero, no_rewards(rules.active), nothing, zero, zero, zero)
        first = _moved_on(before, rules, words_of(key), lambda i, j: jnp.zeros_like(i + j))
        return SCBState(jnp.zeros((self.num_arms, self.num_arms), jnp.int8), first)

    def act(self, state: SCBState, key: Key) -> Duel:
        """The pair that the state holds."""
        return state.round.duel

    def update(self, state: SCBState, plan: Duel, outcome: jax.Array, key: Key) -> SCBState:
        """Counts the outcome and moves on if the pair is decided or the round over."""
        now = state.round
        counts = now.duel.left != now.duel.right
        now = now._replace(
            left=now.left - 1,
            wins=now.wins + (counts & (outcome > 0)),
            losses=now.losses + (counts & (outcome < 0)),
            withheld=now.withheld + (counts & (outcome == 0)),
        )
        decided = self._decided(now)
        row, column = jnp.where(decided, jnp.stack(plan), self.num_arms)
        stamp = jnp.where(now.wins > now.losses, now.number, -now.number).astype(jnp.int8)
        decisions = state.decisions.at[row, column].set(stamp, mode="drop")
        decisions = decisions.at[column, row].set(-stamp, mode="drop")
        due = decided | (now.left == 0)
        now = compacted_cond(_moved_on, due, now, self._rules, words_of(key), table=decisions)
        return SCBState(decisions, now)

    def quiet(self, state: SCBState, limit: jax.Array, key: Key) -> tuple[SCBState, Quiet]:
        """The rest of a round that has its winner, but for its last comparison.

        The winner's duels with itself are not counted; only the round's clock advances. After the
        last one the next round begins, with draws of that comparison's key.
        """
        now = state.round
        left, right = now.duel
        n = jnp.where(left == right, jnp.minimum(limit, now.left - 1), 0)
        return state._replace(round=now._replace(left=now.left - n)), Quiet(left, n)

    def learn(self, state: SCBState, feedback: Feedback) -> SCBState:
        """Takes in withheld outcomes of the pair under way."""
        now = state.round
        pair = tuple(now.duel)
        wins, losses = feedback.left_wins[pair], feedback.right_wins[pair]
        own = wins + losses == now.withheld
        now = now._replace(
            wins=now.wins + jnp.where(own, wins, 0),
            losses=now.losses + jnp.where(own, losses, 0),
            withheld=jnp.int32(0),
        )
        return state._replace(round=now)

    @property
    def _rules(self) -> Rules:
        return Rules(
            jnp.asarray(self.active_arms),
            jnp.asarray(self.scale, jnp.float32),
            jnp.asarray(self.first_length, jnp.int32),
        )

    def _decided(self, now: Round) -> jax.Array:
        """True if a pair is under way and 2 n (mu - 1/2)^2 > scale log(4 n^2 K^2 / delta)."""
        rules = self._rules
        lead = (now.wins - now.losses).astype(jnp.float32)
        n = jnp.maximum(now.wins + now.losses, 1).astype(jnp.float32)
        size = count_true(rules.active).astype(jnp.float32)
        bound = 2 * jnp.log(2 * n * size) + _log_confidence(now.number, rules.first_length)
        return (now.duel.left != now.duel.right) & (0.5 * lead * (lead / n) > rules.scale * bound)


def _log_confidence(number: jax.Array, first_length: jax.Array) -> jax.Array:
    """log(1 / delta) = log T_r - loglog T_r of round r: () float32."""
    log_length = jnp.log(first_length.astype(jnp.float32)) * (1 << (number - 1)).astype(jnp.float32)
    return log_length - jnp.log(log_length)


def _length(number: jax.Array, first_length: jax.Array) -> jax.Array:
    """T_r, or 2^31 - 1 where it is more: () int32."""
    length = first_length
    for r in range(2, _MOST_ROUNDS + 1):
        square = jnp.where(length > 46_340, MAX_HORIZON, length * length)
        length = jnp.where(r <= number, square, length)
    return length


def _moved_on(
    now: Round, rules: Rules, seed: KeyWords, decision: Callable[[jax.Array, jax.Array], jax.Array]
) -> Round:
    """The next duel and its round, once the pair under way is decided or the round is over.

    Args:
      now: the round, the last outcome counted.
      rules: the parameters.
      seed: the step's random words.
      decision: reads the table of decisions.

    Returns:
      The round with its next pair or its winner; or the next round with its first pair.
    """
    over = now.left == 0
    number = now.number + over
    fresh = no_rewards(rules.active)
    went_on = with_decision(now.tally, now.duel, now.wins > now.losses)
    tally = jax.tree.map(lambda new, old: jnp.where(over, new, old), fresh, went_on)
    cursor = jnp.where(over, 0, now.duel.left + 1)

    def answers(i: jax.Array, j: jax.Array) -> jax.Array:
        entry = decision(i, j).astype(jnp.int32)
        return jnp.where(jnp.abs(entry) == number, jnp.sign(entry), 0)

    size = count_true(rules.active).astype(jnp.float32)
    log_ratio = jnp.log(4 * size) + _log_confidence(number, rules.first_length)
    confidence = Confidence(log_ratio, rules.scale)
    tally, duel = next_duel(tally, cursor, rules.active, confidence, seed, answers)
    left = jnp.where(over, _length(number, rules.first_length), now.left)
    zero = jnp.int32(0)
    return Round(number, left, tally, duel, zero, zero, zero)
