"""REX3, Gajane, Urvoy and Clerot (ICML 2015), Algorithm 1."""

from __future__ import annotations

import math

import numpy as np

from .draws import DrawingOracle


class REX3(DrawingOracle):
    """Exponential weights, moved by the difference of two arms.

    Args:
      num_arms: K.
      horizon: T; None: g follows the number of comparisons.
      gain: Gmax / T.
      half: halve psi.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int | None = None,
        gain: float = 0.5,
        half: bool = True,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.T, self.gain, self.half = horizon, gain, half
        self.w = np.ones(num_arms)  # fixed g
        self.R = np.zeros(num_arms)  # the sums of psi / (2 p): w = exp(g R / K)

    def g(self) -> float:
        Gmax = self.gain * (self.t if self.T is None else self.T)
        return min(0.5, math.sqrt(self.K * math.log(self.K) / (math.e * Gmax)))

    def probabilities(self) -> np.ndarray:
        g = self.g()
        w = self.w if self.T is not None else np.exp(g / self.K * (self.R - self.R.max()))
        return (1 - g) * w / w.sum() + g / self.K

    def record(self, left: int, right: int, left_wins: bool) -> None:
        if left != right:
            p = self.probabilities()
            psi = 1 if left_wins else -1
            for arm, sign in ((left, 1), (right, -1)):
                step = sign * psi / (2 * p[arm] if self.half else p[arm])
                self.R[arm] += step
                self.w[arm] *= math.exp(self.g() / self.K * step)


REPLAYS = {"rex3": (REX3, {}, {"horizon": 500})}
"""Every pair may come next; `tests/policies/adversarial` replays its uniform numbers."""
