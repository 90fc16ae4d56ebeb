"""Self-Sparring, Sui, Zhuang, Burdick and Yue (UAI 2017), with independent Beta posteriors."""

from __future__ import annotations

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class SelfSparring(SequentialOracle):
    """Two samples of one Beta number for every arm. No memory.

    Args:
      num_arms: K.
      rng: see `Oracle`.
    """

    def __init__(self, num_arms: int, rng: np.random.Generator | None = None):
        super().__init__(num_arms, rng)
        self.won = np.ones(num_arms)  # the parameters of Beta
        self.lost = np.ones(num_arms)
        self.theta: np.ndarray | None = None

    def allowed(self, theta: np.ndarray | None = None) -> set[Pair]:
        """Every pair that may come next; given both samples, (2, K), the one that they choose."""
        self.theta, self._allowed = theta, None
        return super().allowed()

    def choose(self, memory: None, choices: Choices) -> tuple[Pair, None]:
        if self.theta is None:  # any arm may have the largest number
            return (choices.any_of(range(self.K)), choices.any_of(range(self.K))), None
        first, second = (np.flatnonzero(x == x.max()).tolist() for x in self.theta)
        return (choices.any_of(first), choices.any_of(second)), None

    def record(self, left: int, right: int, left_wins: bool) -> None:
        winner, loser = (left, right) if left_wins else (right, left)
        self.won[winner] += 1
        self.lost[loser] += 1


REPLAYS = {"self-sparring": (SelfSparring, {}, {})}
"""Any pair may come next; `tests/policies/adversarial` has the law of its choice."""
