"""Dvoretzky-Kiefer-Wolfowitz tournament, for duels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.numerics import count_true
from jaxduel.numerics.choice import random_order
from jaxduel.numerics.float64 import in_float64, to_int32
from jaxduel.policies.base import UNDECIDED, Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import require
from jaxduel.policies.registry import register
from jaxduel.pytrees import register_dataclass

_LAST_ROUND = 12
"""A round that no seed ends: it takes 8 log(4 / g_r) 4^13 > 2^31 - 1 duels."""


class DKWTState(NamedTuple):
    """One seed's state."""

    order: jax.Array  # (K,) int32: the arms in the order in which they enter
    place: jax.Array  # () int32: of the challenger in the order; K after the last match
    champion: jax.Array  # () int32
    round: jax.Array  # () int32: r, from 1
    won: jax.Array  # () int32: duels of the round that the champion won
    lost: jax.Array  # () int32: duels of the round that it lost


@register("dkwt")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class DKWT:
    """Dvoretzky-Kiefer-Wolfowitz tournament, Haddenhorst, Bengs and Huellermeier (NeurIPS 2021),
    for duels: names the Condorcet winner, however small the gaps are.

    The arms are in random order; the first is the champion. It meets each of the others once, and
    the winner of a match is the champion of the next. A match is, for r = 1, 2, ..., with
    h_r = 2^-(r + 1) and g_r = 6 gamma / (K pi^2 r^2):

    1. The two duel ceil(8 log(4 / g_r) / h_r^2) times.
    2. If the shares of these duels that either has won differ by more than h_r, the arm of the
       larger share wins the match. Else r grows by 1.

    If there is a Condorcet winner, another arm is named with probability at most gamma.

    The authors' program is written for sets of any size; for pairs it plays one match more than
    this, the last pair's twice. In the program of Bengs and Haddenhorst in R the rounds of a match
    share their duels; here, as in the authors' own, each has duels of its own.

    Outcomes that are withheld change nothing, so that a round goes on until they are told, and may
    have more duels than it needs. A step costs O(1).

    Attributes:
      num_arms: K; g_r counts the active ones.
      active_arms: (K,) bool, the arms that exist.
      gamma: the error, in (0, 1).

    `init` draws the order of the arms; `act` draws nothing.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.from_matrix([[0.5, 0.9, 0.8], [0.1, 0.5, 0.7], [0.2, 0.3, 0.5]])
      >>> policy = jd.policies.make("dkwt", num_arms=3)
      >>> found = jd.identify(policy, problem, votes=10_000, num_seeds=3, stop="policy")
      >>> found.stops.named.tolist(), found.stops.at.tolist()  # a round of 766 for either match
      ([0, 0, 0], [1532, 1532, 1532])
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    gamma: float | jax.Array = 0.05

    assumes: ClassVar[tuple[str, ...]] = ("condorcet", "no ties")

    def validate(self) -> None:
        """Raises InputError for an error out of range."""
        require(self.gamma, lambda x: (x > 0) & (x < 1), "dkwt: gamma must be in (0, 1)")

    def init(self, key: Key) -> DKWTState:
        """The first match."""
        order, none = random_order(jnp.asarray(self.active_arms), key), jnp.int32(0)
        return DKWTState(order, jnp.int32(1), order[0], jnp.int32(1), none, none)

    def act(self, state: DKWTState, key: Key) -> Duel:
        """The champion and the challenger."""
        return Duel(state.champion, self._challenger(state))

    def update(self, state: DKWTState, plan: Duel, outcome: jax.Array, key: Key) -> DKWTState:
        """Line 1 and, at its end, line 2."""
        return self._known(state, outcome > 0, outcome < 0)

    def quiet(self, state: DKWTState, limit: jax.Array, key: Key) -> tuple[DKWTState, Quiet]:
        """All comparisons to come, after the last match."""
        return state, Quiet(state.champion, jnp.where(self._is_over(state), limit, 0))

    def learn(self, state: DKWTState, feedback: Feedback) -> DKWTState:
        """Takes in withheld outcomes."""
        pair = state.champion, self._challenger(state)
        return self._known(state, feedback.left_wins[pair], feedback.right_wins[pair])

    def answer(self, state: DKWTState) -> jax.Array:
        """The champion after the last match: () int32."""
        return jnp.where(self._is_over(state), state.champion, UNDECIDED)

    def _is_over(self, state: DKWTState) -> jax.Array:
        return state.place == count_true(jnp.asarray(self.active_arms))

    def _challenger(self, state: DKWTState) -> jax.Array:
        """The champion's opponent: the champion itself after the last match."""
        place = jnp.minimum(state.place, self.num_arms - 1)
        return jnp.where(self._is_over(state), state.champion, state.order[place])

    def _known(self, state: DKWTState, won: jax.Array, lost: jax.Array) -> DKWTState:
        """The state after more wins of either arm."""
        meet, challenger = ~self._is_over(state), self._challenger(state)
        won = state.won + jnp.where(meet, won, 0)
        lost = state.lost + jnp.where(meet, lost, 0)
        made = won + lost
        ends = made >= self._duels()[state.round - 1]
        # |won - lost| / made > 2^-(r + 1), among whole numbers
        decided = ends & (jnp.abs(won - lost) > made >> (state.round + 1))
        return DKWTState(
            order=state.order,
            place=state.place + decided,
            champion=jnp.where(decided & (lost > won), challenger, state.champion),
            round=jnp.where(decided, 1, state.round + ends),
            won=jnp.where(ends, 0, won),
            lost=jnp.where(ends, 0, lost),
        )

    def _duels(self) -> jax.Array:
        """Duels of rounds 1, 2, ... of a match: (12,) int32."""
        r = np.arange(1, _LAST_ROUND + 1)
        factor = 4 * math.pi**2 / 6 * r**2

        def formula(gamma: jax.Array, arms: jax.Array) -> jax.Array:
            return to_int32(jnp.ceil(8 * jnp.log(factor * arms / gamma) * 4.0 ** (r + 1)))

        return in_float64(formula, self.gamma, count_true(jnp.asarray(self.active_arms)))
