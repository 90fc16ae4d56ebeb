"""UCB1, Auer, Cesa-Bianchi and Fischer (2002), and as in Figure 1 of Gao et al. (NeurIPS 2019)."""

from __future__ import annotations

import math

import numpy as np

from ..choices import Choices
from .loops import PullOracle


class UCB1(PullOracle):
    """The largest upper confidence bound. No memory.

    Args:
      num_arms: K.
      horizon: T, for log T in the bound, as in the figure's program; None: log t, as in the paper
        of 2002, t the pulls made so far.
      scale: 2 in both.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int | None = None,
        scale: float = 2.0,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.horizon, self.factor = horizon, scale

    def choose(self, memory: None, choices: Choices) -> tuple[int, None]:
        # Initialization: play each machine once; with delays in turn, until all are known
        unknown = [i for i in range(self.K) if self.N[i] == 0]
        if unknown:
            return min(unknown, key=lambda i: self.late[i]), None
        # Loop: play machine j that maximizes xbar_j + sqrt(2 ln n / n_j)
        logarithm = math.log(self.used if self.horizon is None else self.horizon)
        radius = [math.sqrt(self.factor * logarithm / n) for n in self.N]
        scale = max(self.scale(range(self.K)), *radius)
        return self.first_best(
            range(self.K), lambda i: self.mean(i) + radius[i], scale, choices
        ), None
