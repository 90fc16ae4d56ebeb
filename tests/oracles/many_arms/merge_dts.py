"""MergeDTS, Li, Markov, de Rijke and Zoghi (TOIS 2020), by the program of its authors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..choices import Choices
from ..sequential import Pair
from .merge_rucb import PAIRS, MergeRUCB


class MergeDTS(MergeRUCB):
    """MergeDTS: MergeRUCB with another rule for the pair.

    The samples are fed by `allowed`, or drawn there where `rng` is given; without samples, all
    samples are possible.

    Args:
      num_arms: K.
      mirrored: whether theta_ij + theta_ji = 1, where samples are drawn.
      rng: see `Oracle`.
      **settings: those of `MergeRUCB`.
    """

    def __init__(
        self,
        num_arms: int,
        mirrored: bool = True,
        rng: np.random.Generator | None = None,
        **settings: Any,
    ):
        super().__init__(num_arms, rng=rng, **settings)
        self.mirrored = mirrored
        self.theta1: np.ndarray | None = None
        self.theta2: np.ndarray | None = None

    def allowed(
        self, theta1: np.ndarray | None = None, theta2: np.ndarray | None = None
    ) -> set[Pair]:
        """Every pair that may be compared next.

        Args:
          theta1: (K, K), samples of the first phase, only compared with 1/2.
          theta2: (K, K), theta2[j, c] the second sample of theta_jc.
        """
        if theta1 is not None and theta2 is not None:
            self.theta1, self.theta2, self._allowed = theta1, theta2, None
        elif self.rng is not None and self._allowed is None:
            self.theta1, self.theta2 = self.sample(), self.sample()
        return super().allowed()

    def sample(self) -> np.ndarray:
        """theta_ij ~ Beta(w_ij, w_ji), wins that begin at 1."""
        assert self.rng is not None
        theta = self.rng.beta(self.W + 1, self.W.T + 1)
        return np.triu(theta, 1) + np.tril(1 - theta.T, -1) if self.mirrored else theta

    def duel(self, L: list[int], since: int, choices: Choices) -> Pair:
        """3. c = argmax #{theta_cj > 1/2}; fresh theta_jc, d = argmin_{j != c} theta_jc."""
        theta1, theta2 = self.theta1, self.theta2
        if theta1 is None or theta2 is None:
            c = choices.any_of(L)
            return c, choices.any_of([j for j in L if j != c])
        score = {i: sum(bool(theta1[i, j] > 0.5) for j in L if j != i) for i in L}
        c = choices.any_of([i for i in L if score[i] == max(score.values())])
        others = [j for j in L if j != c]
        least = min(theta2[j, c] for j in others)
        return c, choices.any_of([j for j in others if theta2[j, c] == least])


REPLAYS = {
    "merge-dts": (MergeDTS, PAIRS, PAIRS),
    "merge-dts, independent": (MergeDTS, {**PAIRS, "mirrored": False}, PAIRS),
}
"""Without samples: what groups allow, and when arms leave and groups are merged."""
