"""Versatile-DB, Saha and Gaillard (ICML 2022): Algorithm 3 and Remark 2."""

from __future__ import annotations

import math

import numpy as np

from .draws import DrawingOracle


def weights(L: np.ndarray, eta: float) -> np.ndarray:
    """w_i = 4 / (eta (L_i - x))^2 with x < min L such that sum w = 1.

    x is at most min L - 2 / eta, where the largest weight is 1; Newton's method falls from there.
    """
    x = L.min() - 2 / eta
    while True:
        w = 4 / (eta * (L - x)) ** 2
        if abs(w.sum() - 1) < 1e-12:
            return w
        x -= (w.sum() - 1) / (eta * (w**1.5).sum())


class VersatileDB(DrawingOracle):
    """Two players, or one.

    Args:
      num_arms: K.
      reduced: estimates of reduced variance.
      shared: one player draws both arms.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        reduced: bool = True,
        shared: bool = False,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.reduced = reduced
        L = np.zeros(num_arms)
        self.L = [L, L] if shared else [L, L.copy()]  # one object, where it is shared
        self.shared = shared

    def eta(self) -> float:
        return (4 if self.reduced else 2) / math.sqrt(self.t)

    def probabilities(self) -> np.ndarray:
        return np.array([weights(L, self.eta()) for L in self.L])

    def estimate(self, w: np.ndarray, a: int, loss: float) -> np.ndarray:
        """IW: loss / w_a for a; RV: b_i for all i, and (loss - b_a) / w_a for a."""
        estimate = np.zeros(self.K)
        if self.reduced:
            estimate[w >= self.eta() ** 2] = 0.5
        estimate[a] += (loss - estimate[a]) / w[a]
        return estimate

    def record(self, left: int, right: int, left_wins: bool) -> None:
        o = float(left_wins)
        for L, w, a, loss in zip(self.L, self.chances(), (left, right), (1 - o, o), strict=True):
            L += self.estimate(w, a, loss) * (0.5 if self.shared else 1)


REPLAYS = {
    "versatile-db": (VersatileDB, {}, {}),
    "versatile-db, iw": (VersatileDB, {"estimates": "iw"}, {"reduced": False}),
    "versatile-db, shared": (VersatileDB, {"shared": True}, {"shared": True}),
    "versatile-db, shared iw": (
        VersatileDB,
        {"estimates": "iw", "shared": True},
        {"reduced": False, "shared": True},
    ),
}
