"""Successive elimination: Algorithm 1 of Gao et al. (NeurIPS 2019) with M = T, sweep by sweep."""

from __future__ import annotations

import numpy as np

from ..choices import Choices
from .base import eliminate
from .loops import Counts, GridOracle, equal_pulls


class SuccessiveElimination(GridOracle):
    """Each arm of A once, then the test of BaSE. The memory is the set A.

    Args:
      num_arms: K.
      horizon: T.
      gamma: the tuning parameter.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        gamma: float = 1.0,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, horizon, grid=[horizon], rng=rng)
        self.gamma = gamma
        self.memories = [frozenset(range(num_arms))]

    def choose(self, memory: frozenset[int], choices: Choices) -> tuple[Counts, frozenset[int]]:
        A = memory
        if len(A) == 1:
            return self.only(min(A)), A
        # one sweep, cut at T
        return equal_pulls(self.K, A, min(len(A), self.left)), A

    def after(self, memory: frozenset[int], choices: Choices) -> frozenset[int]:
        if self.left == 0:
            return memory
        return eliminate(self, memory, self.gamma, self.T, choices)
