"""MultiSBM, Ailon, Karnin and Joachims (ICML 2014), with UCB machines."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle
from .sparring import select


class MultiSBM(SequentialOracle):
    """One machine per left arm. The memory is x, the left arm, None before the first comparison.

    Args:
      num_arms: K.
      exploration: factor of log n / N_k in the index.
      unplayed: see `Sparring`.
      clock: what n is: the machine's "own" plays so far, or "global", the index of the comparison,
        as in the program of Wu and Liu.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        exploration: float = 2.5,
        unplayed: float = math.inf,
        clock: Literal["own", "global"] = "own",
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.exploration, self.unplayed, self.clock = exploration, unplayed, clock
        # Row x: the records of the machine S_x.
        self.plays = np.zeros((num_arms, num_arms), dtype=np.int64)
        self.rewards = np.zeros((num_arms, num_arms), dtype=np.int64)

    def choose(self, memory: int | None, choices: Choices) -> tuple[Pair, int]:
        # x_1 uniform
        x = choices.any_of(range(self.K)) if memory is None else memory
        # y = S_x.select
        plays, rewards = self.plays[x], self.rewards[x]
        n = plays.sum() if self.clock == "own" else self.t
        return (x, select(plays, rewards, n, self.exploration, self.unplayed, choices)), x

    def record(self, left: int, right: int, left_wins: bool) -> None:
        # feedback to S_x: 1 if y beats x, else 0
        self.plays[left, right] += 1
        self.rewards[left, right] += not left_wins

    def after(self, memory: int, left: int, right: int, choices: Choices) -> int:
        # next x = y
        return right


REPLAYS = {
    "multisbm": (MultiSBM, {}, {}),
    "multisbm, global": (
        MultiSBM,
        {"unplayed": 1.0, "clock": "global"},
        {"unplayed": 1.0, "clock": "global"},
    ),
}
