"""Successive rejects, Figure 3 of "Best Arm Identification in Multi-Armed Bandits", Audibert,
Bubeck and Munos (COLT 2010)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..arms.loops import Counts, GridOracle
from ..choices import TOLERANCE, Choices


class SuccessiveRejects(GridOracle):
    """K - 1 phases. The memory is A_k, the arms that are left.

    Args:
      num_arms: K.
      horizon: n, the budget.
      rng: see `Oracle`.
    """

    def __init__(self, num_arms: int, horizon: int, rng: np.random.Generator | None = None):
        super().__init__(num_arms, horizon, grid=[horizon], rng=rng)
        # A_1 = {1, ..., K}
        self.memories = [frozenset(range(num_arms))]

    def n(self, k: int) -> int:
        """n_k = ceil(1 / logbar(K) (n - K) / (K + 1 - k)); with n = K, one pull."""
        logbar = Fraction(1, 2) + sum(Fraction(1, i) for i in range(2, self.K + 1))
        return max(1, math.ceil((self.T - self.K) / (logbar * (self.K + 1 - k))))

    def answer(self) -> int | None:
        """J_n, the unique element of A_K; None before."""
        (A,) = self.memories
        return min(A) if len(A) == 1 else None

    def choose(self, memory: frozenset[int], choices: Choices) -> tuple[Counts, frozenset[int]]:
        A = memory
        if self.left == 0:
            return self.none(), A
        if len(A) == 1:
            # what is left of the budget
            return self.only(min(A)), A
        # (1) for each i in A_k, select arm i for n_k - n_(k-1) rounds
        k = self.K + 1 - len(A)
        return tuple(self.n(k) - self.N[i] if i in A else 0 for i in range(self.K)), A

    def after(self, memory: frozenset[int], choices: Choices) -> frozenset[int]:
        A = memory
        while len(A) > 1:
            # (2) A_(k+1) = A_k minus the arm of the least average, on ties a random one
            k = self.K + 1 - len(A)
            worst = min(self.mean(i) for i in A)
            slack = TOLERANCE * self.scale(A)
            A -= {choices.any_of([i for i in sorted(A) if self.mean(i) <= worst + slack])}
            if self.n(k + 1) > self.n(k):
                break
        return A
