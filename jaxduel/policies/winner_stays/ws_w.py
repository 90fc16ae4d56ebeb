"""Winner Stays for weak regret (WS-W)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxduel.numerics import count_true, masked_choice
from jaxduel.numerics.compacted_cond import compacted_cond
from jaxduel.numerics.threefry import KeyWords, random_words, uniform, words_of
from jaxduel.policies.base import Duel, Feedback, Key
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_LEAST = -(2**31)


class WSWState(NamedTuple):
    """One seed's state."""

    score: jax.Array  # (K,) int32: C, duels won minus duels lost, of known outcome
    left: jax.Array  # () int32: i of the next duel, the larger C of the last one's
    right: jax.Array  # () int32: the last duel's other arm; -1 if none is remembered
    rounds: jax.Array  # () int32: rounds completed


@register("ws-w")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class WSW:
    """WS-W, Chen and Frazier (ICML 2017), Algorithm 1: Winner Stays for weak regret.

    C_k is the number of duels that arm k won minus the number that it lost. In every step

    1. i has the largest C, j the largest among the others. Of arms that are tied the last duel's
       i is taken, else its j, else a uniformly random one.
    2. i and j duel; C of the winner grows by 1, C of the loser falls by 1.

    Hence rounds l = 1, 2, ... of K - 1 iterations: a pair goes on until one of the two reaches
    C = -l and is out of the round; the other meets the next challenger. Round l ends with all arms
    but one at -l, and that one at (K - 1) l. With a total order it is not the best arm with a
    probability of at most ((1 - p) / p)^l, where p is the smallest preference above 1/2.

    No arm ever meets itself, so that average and strong regret grow linearly. Binary weak regret
    stays below K / (2p - 1)^2 + p K^2 / (2p - 1)^3 for ever, with a total order also below
    2 p^3 / (2p - 1)^6 K (log K + 1) + K / (2p - 1)^2.

    By the rule of ties the last loser of a round, tied with all others, is the first challenger of
    the next. Some descriptions and programs draw that challenger anew (`fresh_challenger=True`);
    mean regret shows no difference.

    Outcomes that are withheld change nothing, so that the pair goes on until they are told. Then
    losers may stand below -l, and a round has ended once all arms but one are at -l or below. A
    step costs O(K) where a challenger comes, else O(1).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      fresh_challenger: whether the first challenger of every round is uniformly random.

    `init` draws the first i; `act` reads one random word, for the choice of j among ties.

    Example:
      >>> import jaxduel as jd
      >>> policy = jd.policies.make("ws-w", num_arms=4)
      >>> problem = jd.problems.arithmetic(4, step=0.1)
      >>> result = jd.simulate(
      ...     policy, problem, 1_000, num_seeds=100, checkpoints=[500, 1_000], regret="binary weak"
      ... )
      >>> bool(result.mean[1] - result.mean[0] < 1)  # in the second half the best arm always plays
      True
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    fresh_challenger: bool = field(default=False, metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ("condorcet", "no ties")

    def init(self, key: Key) -> WSWState:
        """No duels."""
        u = uniform(random_words(words_of(key), 0, 1)[0])
        first = masked_choice(jnp.asarray(self.active_arms), u)
        none = jnp.zeros(self.num_arms, jnp.int32)
        return WSWState(none, first, jnp.int32(-1), jnp.int32(0))

    def act(self, state: WSWState, key: Key) -> Duel:
        """Line 1."""
        return self.next_pair(state, key, jnp.bool_(True))

    def next_pair(self, state: WSWState, key: Key, wanted: jax.Array) -> Duel:
        """The pair of line 1 if it is wanted, else any.

        After l rounds all arms but the last pair's stand at -l or below. So the larger C is one of
        the pair, and the other stays unless it is below -l: then it is out of the next round.
        """
        out = (state.right < 0) | (state.score[state.right] < -state.rounds)
        active, words = jnp.asarray(self.active_arms), words_of(key)
        right = compacted_cond(_challenger, wanted & out, state.right, state, active, words)
        return Duel(state.left, right)

    def update(self, state: WSWState, plan: Duel, outcome: jax.Array, key: Key) -> WSWState:
        """Line 2."""
        left, right = plan
        arms = jnp.arange(self.num_arms, dtype=jnp.int32)
        gain = (arms == left).astype(jnp.int32) - (arms == right).astype(jnp.int32)
        score = state.score + outcome * gain
        # round l ends when the winner of a duel reaches (K - 1) l: then all others are at -l
        goal = (count_true(jnp.asarray(self.active_arms)) - 1) * (state.rounds + 1)
        known = _ordered(score, Duel(left, right), state.rounds)
        ends = (outcome != 0) & (score[known.left] >= goal)
        return self._counted(known, state.rounds + ends)

    def learn(self, state: WSWState, feedback: Feedback) -> WSWState:
        """Takes in withheld outcomes."""
        wins = feedback.wins()
        gain = jnp.sum(wins - wins.T, axis=1, dtype=jnp.int32)
        state = _ordered(state.score + gain, Duel(state.left, state.right), state.rounds)
        score = jnp.where(self.active_arms, state.score, _LEAST)
        completed = -jnp.max(score.at[state.left].set(_LEAST))
        return self._counted(state, jnp.maximum(state.rounds, completed))

    def _counted(self, state: WSWState, rounds: jax.Array) -> WSWState:
        """The state with so many rounds completed."""
        right = state.right
        if self.fresh_challenger:
            right = jnp.where(rounds > state.rounds, -1, right)
        return state._replace(right=right, rounds=rounds)


def _ordered(score: jax.Array, pair: Duel, rounds: jax.Array) -> WSWState:
    """The state after a duel, the larger C in front, of equal ones the duel's i."""
    turned = score[pair.right] > score[pair.left]
    left, right = (jnp.where(turned, *arms) for arms in (pair[::-1], pair))
    return WSWState(score, left, right, rounds)


def _challenger(right: jax.Array, state: WSWState, active: jax.Array, words: KeyWords) -> jax.Array:
    """A random one of the arms with the largest C of all but i."""
    others = active & (jnp.arange(len(active), dtype=jnp.int32) != state.left)
    score = jnp.where(others, state.score, _LEAST)
    tied = others & (score == jnp.max(score))
    return masked_choice(tied, uniform(random_words(words, 0, 0)[0]))
