"""BaSE, Algorithm 1 of "Batched Multi-armed Bandits Problem", Gao et al. (NeurIPS 2019)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..choices import Choices
from .loops import ArmsOracle, Counts, GridOracle


def eliminate(
    oracle: ArmsOracle, A: frozenset[int], gamma: float, horizon: int, choices: Choices
) -> frozenset[int]:
    """(b): A without the arms that are significantly worse than the best one.

    K is the number of all arms; tau_m the number of pulls of each arm of A.
    """
    tau = min(oracle.N[i] for i in A)
    # Ybar_max = max_A Ybar_j
    best = max(oracle.mean(j) for j in A)
    radius = math.sqrt(gamma * math.log(horizon * oracle.K) / tau)
    scale = oracle.scale(A)
    # if Ybar_max - Ybar_i >= sqrt(gamma log(T K) / tau_m) then A <- A \ {i}
    gone = {
        i
        for i in sorted(A)
        if oracle.mean(i) < best and choices.at_least(best - oracle.mean(i), radius, scale)
    }
    return A - gone


class BaSE(GridOracle):
    """Batched successive elimination. The memory is the set A.

    Args:
      num_arms, horizon, num_batches, grid, rng: see `GridOracle`.
      gamma: the tuning parameter.
      commit: the last batch goes to the best arm, as in Algorithm 1; else it explores, as in the
        authors' program.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        num_batches: int | None = None,
        grid: str | Sequence[int] = "minimax",
        gamma: float = 1.0,
        commit: bool = True,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, horizon, num_batches, grid, rng)
        self.gamma, self.commit = gamma, commit
        # Initialization: A <- I
        self.memories = [frozenset(range(num_arms))]

    def choose(self, memory: frozenset[int], choices: Choices) -> tuple[Counts, frozenset[int]]:
        A = memory
        if self.left == 0:
            return self.none(), A
        if len(A) == 1:
            # nothing is left to explore
            return self.only(min(A)), A
        if self.commit and self.next_batch() == self.M:
            # for t <- t_(M-1) + 1 to T: pull i_0 in argmax_A Ybar_j, the first one; M = 1: no data
            pulled = [i for i in A if self.N[i] > 0]
            if not pulled:
                return self.only(min(A)), A
            i0 = self.first_best(pulled, self.mean, self.scale(pulled), choices)
            return self.only(i0), A
        # (a) from t_(m-1) + 1 to t_m, pull each arm of A the same number of times
        return self.explore(A), A

    def after(self, memory: frozenset[int], choices: Choices) -> frozenset[int]:
        if self.left == 0:
            return memory
        # (b) at time t_m
        return eliminate(self, memory, self.gamma, self.T, choices)
