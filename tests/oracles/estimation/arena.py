"""Active sampling of pairs, section 5 of "Chatbot Arena", Chiang et al. (ICML 2024)."""

from __future__ import annotations

import itertools
import math

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class Arena(SequentialOracle):
    """Equation (9). No memory: all comparisons so far, with their probabilities, are kept.

    Args:
      num_arms: K.
      epsilon: probability of a uniformly random pair.
      ipw: Sigma as in equation (5), else m (1 - m) for m = (w + 1) / (n + 2).
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        epsilon: float = 0.01,
        ipw: bool = False,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.epsilon, self.ipw = epsilon, ipw
        self.pairs = list(itertools.combinations(range(num_arms), 2))
        self.shown: list[tuple[Pair, int, float]] = []  # A_t, H_t, P_t(A_t)

    def sigma(self, a: Pair) -> float:
        """The variance of pair a."""
        i, j = a
        if not self.ipw:
            m = (self.W[i, j] + 1) / (self.N[i, j] + 2)
            return m * (1 - m)
        # (4): X_t(a) = H_t 1{A_t = a} / P_t(a); (5): Sigma = mean of (X_t - theta)^2
        X = np.array([H / P if a == A else 0.0 for A, H, P in self.shown])
        return float(np.mean((X - X.mean()) ** 2))

    def probabilities(self) -> dict[Pair, float]:
        """P_t(a) of the next comparison."""
        unseen = [a for a in self.pairs if self.N[a] == 0]
        if unseen:
            return {a: (a in unseen) / len(unseen) for a in self.pairs}
        # (9): P_t(a) proportional to sqrt(Sigma_aa / n_a) - sqrt(Sigma_aa / (n_a + 1))
        weight = {}
        for a in self.pairs:
            n, sigma = self.N[a], self.sigma(a)
            weight[a] = math.sqrt(sigma / n) - math.sqrt(sigma / (n + 1))
        total, uniform = sum(weight.values()), 1 / len(self.pairs)
        rule = {a: w / total if total > 0 else uniform for a, w in weight.items()}
        return {a: self.epsilon * uniform + (1 - self.epsilon) * p for a, p in rule.items()}

    def choose(self, memory: None, choices: Choices) -> tuple[Pair, None]:
        chances = self.probabilities()
        i, j = choices.any_of([a for a, p in chances.items() if p > 0])
        return ((i, j) if choices.any_of([True, False]) else (j, i)), None

    def record(self, left: int, right: int, left_wins: bool) -> None:
        a = min(left, right), max(left, right)
        if self.ipw:
            self.shown.append((a, int(left_wins == (left < right)), self.probabilities()[a]))
        super().record(left, right, left_wins)


REPLAYS = {
    "arena": (Arena, {}, {}),
    "arena, ipw": (Arena, {"variances": "ipw", "epsilon": 0.3}, {"ipw": True, "epsilon": 0.3}),
}
