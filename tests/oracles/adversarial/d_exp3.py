"""D-EXP3, Saha, Koren and Mansour (ICML 2021): Algorithms 1 and 2."""

from __future__ import annotations

import math

import numpy as np

from .draws import DrawingOracle


class DEXP3(DrawingOracle):
    """Exponential weights of estimated Borda scores.

    Args:
      num_arms: K.
      horizon: T.
      delta: the error probability of Algorithm 2; None: Algorithm 1.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        delta: float | None = None,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        K, T = num_arms, horizon
        self.eta = (math.log(K) / (T * math.sqrt(K))) ** (2 / 3)
        self.g = min(1, math.sqrt(self.eta * K))
        self.beta = 0 if delta is None else math.sqrt(math.log(K / delta) / (K * T))
        self.S = np.zeros(K)

    def probabilities(self) -> np.ndarray:
        w = np.exp(self.eta * (self.S - self.S.max()))
        return (1 - self.g) * w / w.sum() + self.g / self.K

    def record(self, left: int, right: int, left_wins: bool) -> None:
        q = self.probabilities()
        self.S += self.beta / q
        self.S[left] += left_wins / (self.K * q[left] * q[right])


REPLAYS = {"d-exp3": (DEXP3, {}, {"horizon": 500})}
"""Every pair may come next; `tests/policies/adversarial` replays its uniform numbers."""
