"""Explore-then-commit of Perchet, Rigollet, Chassang and Snowberg, "Batched bandit problems" (Ann.
Statist. 2016), as in Figure 1 (d) of Gao et al. (NeurIPS 2019)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..choices import Choices
from .loops import Counts, GridOracle, named_grid


class ETC(GridOracle):
    """Explore equally until the two best arms are far apart. The memory is the winner, or None.

    Args:
      num_arms: K, 2 in the paper.
      horizon: T.
      num_batches: M; not needed with a grid of times.
      grid: "minimax", "geometric", "arithmetic", or t_1, ..., t_M.
      rng: see `ArmsOracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        num_batches: int | None = None,
        grid: str | Sequence[int] = "minimax",
        rng: np.random.Generator | None = None,
    ):
        if isinstance(grid, str):
            assert num_batches is not None, "a named grid needs the number of batches"
            grid = named_grid(grid, horizon, num_batches)
        super().__init__(num_arms, horizon, grid, rng)

    def winner(self, choices: Choices) -> int | None:
        """The arm that a batch m >= 2 commits to, None if it explores."""
        t, arms = self.used, range(self.K)
        scale = self.scale(arms)
        # for two arms pulled equally, |S1 - S2| / t: half the difference of the averages
        first, second = sorted((self.mean(i) for i in arms), reverse=True)[:2]
        half = (first - second) / 2
        # |S1 - S2| / t > sqrt(4 log(2 T / t) / t)
        decided = choices.greater(half, math.sqrt(4 * math.log(2 * self.T / t) / t), scale)
        # the last batch commits in any case, but for M = 2
        last = self.next_batch() == self.M >= 3
        return self.first_best(arms, self.mean, scale, choices) if decided or last else None

    def choose(self, memory: int | None, choices: Choices) -> tuple[Counts, int | None]:
        if self.left == 0:
            return self.none(), memory
        if memory is None and self.used > 0:
            memory = self.winner(choices)
        if memory is not None:
            return self.only(memory), memory
        return self.explore(range(self.K)), None
