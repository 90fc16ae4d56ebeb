"""Winner Stays for strong regret (WS-S), Chen and Frazier (ICML 2017), Algorithm 2."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from ..choices import Choices
from ..sequential import Pair
from .ws_w import WSW


class Phase(NamedTuple):
    """The memory."""

    last: Pair | None  # the last pair of WS-W
    Z: int  # the arm that is exploited
    left: int  # comparisons of Z with itself that are left


class WSS(WSW):
    """WS-S. The memory is a `Phase`.

    Args:
      num_arms: K.
      beta: growth of the exploitations.
      exploit_after: "round", or "duel" as in the library duelpy.
      fresh_challenger: see `WSW`.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        beta: float = 1.1,
        exploit_after: Literal["round", "duel"] = "round",
        fresh_challenger: bool = False,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, fresh_challenger, rng)
        self.beta, self.exploit_after = beta, exploit_after
        self.duels = 0  # of WS-W
        self.memories = [Phase(None, 0, 0)]

    def choose(self, memory: Phase, choices: Choices) -> tuple[Pair, Phase]:
        if memory.left:
            return (memory.Z, memory.Z), memory
        pair, _ = super().choose(memory.last, choices)
        return pair, memory

    def record(self, left: int, right: int, left_wins: bool) -> None:
        if left != right:
            super().record(left, right, left_wins)
            self.duels += 1

    def after(self, memory: Phase, left: int, right: int, choices: Choices) -> Phase:
        if memory.left:
            return memory._replace(left=memory.left - 1)
        last = super().after(memory.last, left, right, choices)
        if self.exploit_after == "round" and not self.ends:
            return Phase(last, memory.Z, 0)
        # round l is over (its number has been raised), or duel l: play (Z(l), Z(l)), Z(l) the arm
        # of the largest C, of those tied the first
        number = self.round - 1 if self.exploit_after == "round" else self.duels
        Z = max(range(self.K), key=self.C)
        return Phase(last, Z, math.floor(self.beta**number))


REPLAYS = {
    "ws-s": (WSS, {}, {}),
    "ws-s, large beta": (WSS, {"beta": 2.0}, {"beta": 2.0}),
    "ws-s, fresh challenger": (
        WSS,
        {"beta": 1.3, "fresh_challenger": True},
        {"beta": 1.3, "fresh_challenger": True},
    ),
    "ws-s, duelpy": (
        WSS,
        {"beta": 1.2, "exploit_after": "duel"},
        {"beta": 1.2, "exploit_after": "duel"},
    ),
}
