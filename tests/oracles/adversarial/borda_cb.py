"""Borda Confidence Bound, Saha, Koren and Mansour (ICML 2021), Algorithm 3."""

from __future__ import annotations

import itertools
import math

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class BordaCB(SequentialOracle):
    """Uniform pairs, then one arm. The memory is the arm committed to, or None.

    Args:
      num_arms: K.
      horizon: T.
      delta: the probability that the bounds fail.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        delta: float = 0.1,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.T, self.delta = horizon, delta
        self.S = np.zeros(num_arms)

    def choose(self, memory: int | None, choices: Choices) -> tuple[Pair, int | None]:
        if memory is not None:
            return (memory, memory), memory
        return choices.any_of(itertools.permutations(range(self.K), 2)), None

    def record(self, left: int, right: int, left_wins: bool) -> None:
        if left != right:  # a comparison before it commits
            self.S[left] += self.K * left_wins

    def after(self, memory: int | None, left: int, right: int, choices: Choices) -> int | None:
        if memory is not None:
            return memory
        b = self.S / self.t
        width = 2 * math.sqrt(self.K / self.t * math.log(2 * self.K * self.T / self.delta))
        lower, upper = b - width, b + width
        i = int(lower.argmax())
        others = max(upper[j] for j in range(self.K) if j != i)
        return i if choices.greater(lower[i], others) else None


REPLAYS = {
    "borda-cb": (BordaCB, {"horizon": 1, "delta": 0.9}, {"horizon": 1, "delta": 0.9}),
}
