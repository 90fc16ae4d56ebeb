"""Winner Stays for strong regret (WS-S)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxduel.errors import InputError
from jaxduel.policies.base import Duel, Feedback, Key, Quiet
from jaxduel.policies.checks import MAX_HORIZON, require
from jaxduel.policies.registry import register
from jaxduel.policies.winner_stays.ws_w import WSW, WSWState
from jaxduel.pytrees import register_dataclass

UNITS = ("round", "duel")
_LEAST_BETA = 1.0001
"""The table of a smaller one would have more than 200,000 entries."""


class WSSState(NamedTuple):
    """One seed's state."""

    exploration: WSWState  # stands still while an arm meets itself
    phase: jax.Array  # () int32: l, the last exploitation that has begun
    champion: jax.Array  # () int32: Z(l)
    remaining: jax.Array  # () int32: comparisons of Z(l) with itself that are left


@register("ws-s")
@register_dataclass
@dataclass(frozen=True, kw_only=True)
class WSS:
    """WS-S, Chen and Frazier (ICML 2017), Algorithm 2: Winner Stays for strong regret.

    For l = 1, 2, ...

    1. Exploration: WS-W (`jaxduel.policies.WSW`) goes on to the end of its round l. Z(l) is the arm
       that is left, the one of the largest C.
    2. Exploitation: Z(l) meets itself floor(beta^l) times, of which WS-W learns nothing.

    beta is the user's risk: it must be at most p / (1 - p), where p is the smallest preference
    above 1/2. Z(l) is wrong with a probability of up to ((1 - p) / p)^l, so that a larger beta lets
    wrong exploitations grow faster than they become rare: mean regret then grows like a power of T
    and is carried by few runs. With beta = 2 (p >= 2/3) on the six rankers, whose p is 0.51, binary
    weak regret quadruples from T = 1e3 to 1e4. A smaller beta explores more often. The default is
    safe for p >= 0.524. Within the limit binary strong regret is, with a total order, at most
    2 p^3 / (2p - 1)^6 K (log K + 1) + K log_beta(T (beta - 1)) / (2p - 1).

    The library duelpy exploits after every duel of WS-W in place of every round, so that l counts
    duels (`exploit_after="duel"`, beta = 2 by default there). The proofs do not cover that.

    Where outcomes are withheld and several rounds of WS-W end together, the last is exploited. A
    step costs O(K) where a challenger of WS-W comes, else O(1).

    Attributes:
      num_arms: K.
      active_arms: (K,) bool, the arms that exist.
      beta: growth of the exploitations, above 1; a step's program depends on it.
      exploit_after: "round", as in the paper, or "duel", as in duelpy.
      fresh_challenger: whether the first challenger of every round is uniformly random.

    Random numbers are those of WS-W.

    Example:
      >>> import jaxduel as jd
      >>> from jaxduel.policies.winner_stays.ws_s import exploitation_lengths
      >>> exploitation_lengths(1.5)[:6].tolist()
      [1, 2, 3, 5, 7, 11]
      >>> jd.policies.make("ws-s", num_arms=6, beta=1.5, exploit_after="duel")
      WSS(num_arms=6, beta=1.5, exploit_after='duel')
      >>> jd.policies.describe("ws-s").can
      ('learn late (delay)', 'skip quiet runs')
    """

    num_arms: int = field(metadata={"static": True})
    active_arms: jax.Array
    beta: float = field(default=1.1, metadata={"static": True})
    exploit_after: str = field(default="round", metadata={"static": True})
    fresh_challenger: bool = field(default=False, metadata={"static": True})

    assumes: ClassVar[tuple[str, ...]] = ("condorcet", "no ties")

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        message = f"ws-s: beta must be at least {_LEAST_BETA}"
        require(self.beta, lambda beta: beta >= _LEAST_BETA, message)
        if self.exploit_after not in UNITS:
            raise InputError(
                f"ws-s: exploit_after must be 'round' or 'duel', not {self.exploit_after!r}."
            )

    @property
    def _explorer(self) -> WSW:
        return WSW(
            num_arms=self.num_arms,
            active_arms=self.active_arms,
            fresh_challenger=self.fresh_challenger,
        )

    def init(self, key: Key) -> WSSState:
        """No duels."""
        none = jnp.int32(0)
        return WSSState(self._explorer.init(key), none, none, none)

    def act(self, state: WSSState, key: Key) -> Duel:
        """Z(l) against itself, or the pair of WS-W."""
        exploits = state.remaining > 0
        duel = self._explorer.next_pair(state.exploration, key, ~exploits)
        return Duel(*(jnp.where(exploits, state.champion, arm) for arm in duel))

    def update(self, state: WSSState, plan: Duel, outcome: jax.Array, key: Key) -> WSSState:
        """A step of WS-W, at the end of whose round an exploitation begins; or one of these."""
        exploits, before = state.remaining > 0, state.exploration
        explored = self._explorer.update(before, plan, jnp.where(exploits, 0, outcome), key)
        left, right = (
            jnp.where(exploits, *arms)
            for arms in ((before.left, explored.left), (before.right, explored.right))
        )
        exploration = explored._replace(left=left, right=right)
        phase = exploration.rounds
        if self.exploit_after == "duel":
            phase = jnp.where(exploits, state.phase, state.phase + 1)
        remaining = jnp.maximum(state.remaining - 1, 0)
        return self._begun(state._replace(remaining=remaining), exploration, phase)

    def quiet(self, state: WSSState, limit: jax.Array, key: Key) -> tuple[WSSState, Quiet]:
        """The rest of the exploitation."""
        n = jnp.minimum(state.remaining, limit)
        return state._replace(remaining=state.remaining - n), Quiet(state.champion, n)

    def learn(self, state: WSSState, feedback: Feedback) -> WSSState:
        """Takes in withheld outcomes of WS-W."""
        exploration = self._explorer.learn(state.exploration, feedback)
        phase = exploration.rounds if self.exploit_after == "round" else state.phase
        return self._begun(state, exploration, phase)

    def _begun(self, state: WSSState, exploration: WSWState, phase: jax.Array) -> WSSState:
        """The state with that of WS-W, exploitation number `phase` begun if it is a new one."""
        lengths = jnp.asarray(exploitation_lengths(self.beta))
        begins = phase > state.phase
        leader, second = exploration.left, exploration.right  # tied only within a round, or -1
        tied = (second >= 0) & (exploration.score[leader] == exploration.score[second])
        leader = jnp.where(tied, jnp.minimum(leader, second), leader)
        length = lengths[jnp.clip(phase, 1, len(lengths)) - 1]
        return WSSState(
            exploration=exploration,
            phase=phase,
            champion=jnp.where(begins, leader, state.champion),
            remaining=jnp.where(begins, length, state.remaining),
        )


@cache
def exploitation_lengths(beta: float) -> np.ndarray:
    """floor(beta^l) for l = 1, 2, ... until 2^31 - 1, to which larger ones are cut: (L,) int32.

    On the host in float64: float32 does not have all integers from 2^24 on.
    """
    last = math.ceil(math.log(MAX_HORIZON) / math.log(beta)) + 1
    powers = np.floor(float(beta) ** np.arange(1, last + 1))
    table = np.minimum(powers, MAX_HORIZON).astype(np.int32)
    table.flags.writeable = False
    return table
