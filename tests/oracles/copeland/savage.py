"""SAVAGE, Urvoy, Clerot, Feraud and Naamane (ICML 2013), for a finite horizon."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class SAVAGE(SequentialOracle):
    """Sensitivity analysis of variables for generic exploration. The memory is the set of pairs.

    Args:
      num_arms: K.
      horizon: T; delta = 1/T.
      test: which pairs are independent of the answer: for the "condorcet" or the "copeland"
        winner.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        test: Literal["condorcet", "copeland"] = "condorcet",
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.test = test
        # log(K (K - 1) T / delta)
        self.log_inverse = math.log(num_arms * (num_arms - 1) * horizon**2)
        # W = all pairs
        self.memories = [frozenset((i, j) for i in range(num_arms) for j in range(i + 1, num_arms))]

    def c(self, n: int) -> float:
        """c(n) = sqrt(log(K (K - 1) T^2) / (2 n))."""
        return math.sqrt(self.log_inverse / (2 * n))

    def sure_wins(self, choices: Choices) -> set[Pair]:
        """The (i, j) with mu_ij - c_ij > 1/2, that is mu_ji + c_ji < 1/2; none without data."""
        found = set()
        for i in range(self.K):
            for j in range(i + 1, self.K):
                n = int(self.N[i, j])
                if n > 0:
                    gap = self.W[i, j] / n - 0.5
                    if choices.greater(abs(gap), self.c(n), scale=1.0):
                        found.add((i, j) if gap > 0 else (j, i))
        return found

    def highest(self, sure: set[Pair]) -> list[int]:
        """hi_i = #{j != i : u_ij > 1/2}."""
        return [sum((j, i) not in sure for j in range(self.K) if j != i) for i in range(self.K)]

    def choose(self, memory: frozenset[Pair], choices: Choices) -> tuple[Pair, frozenset[Pair]]:
        W = memory
        if not W:
            # when W is empty, play the winner argmax hi (the lowest index) against itself
            hi = self.highest(self.sure_wins(choices))
            winner = hi.index(max(hi))
            return (winner, winner), W
        # compare a pair of W with the fewest samples: the first in lexicographic order
        return min(W, key=lambda pair: (self.N[pair], pair)), W

    def after(
        self, memory: frozenset[Pair], left: int, right: int, choices: Choices
    ) -> frozenset[Pair]:
        W = memory
        if not W:
            return W
        sure = self.sure_wins(choices)
        if self.test == "condorcet":
            # drop (i, j) if i or j is surely beaten: mu_ik + c_ik < 1/2 for some k
            beaten = {loser for _, loser in sure}
            return frozenset(pair for pair in W if not beaten & set(pair))
        # drop (i, j) if its interval excludes 1/2, or hi_i < max lo and hi_j < max lo
        hi = self.highest(sure)
        lo = [sum((i, j) in sure for j in range(self.K)) for i in range(self.K)]
        return frozenset(
            (i, j) for i, j in W if not ({(i, j), (j, i)} & sure or max(hi[i], hi[j]) < max(lo))
        )


REPLAYS = {
    "savage": (SAVAGE, {"horizon": 2}, {"horizon": 2}),
    "savage, copeland": (
        SAVAGE,
        {"horizon": 2, "test": "copeland"},
        {"horizon": 2, "test": "copeland"},
    ),
}
