"""Algorithm 6 of "Double Explore-then-Commit" (COLT 2021): two arms, no horizon."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...choices import Choices
from ..loops import PullOracle
from .stages import log_plus


class Epoch(NamedTuple):
    """The memory: the epoch r, its 1', and the arm that it commits to (-1: it still explores)."""

    r: int = 0
    leader: int = -1
    committed: int = -1


class Anytime(PullOracle):
    """DETC without a horizon.

    Args:
      num_arms: 2.
      rng: see `Oracle`.
    """

    def __init__(self, num_arms: int, rng: np.random.Generator | None = None):
        super().__init__(num_arms, rng)
        self.memories = [Epoch()]

    def choose(self, memory: Epoch, choices: Choices) -> tuple[int, Epoch]:
        # each arm once
        if self.used < 2:
            return self.used, memory
        # for r = 1, 2, ... until t > 2^(r+1); with delays t is of known rewards
        r, t = memory.r, sum(self.N)
        while r == 0 or t > 2 ** (r + 1):
            r += 1
        if r > memory.r:
            leader = 0 if self.N[0] >= self.N[1] else 1
            memory = Epoch(r, leader)
        if memory.committed < 0:
            other = 1 - memory.leader
            if self.N[other] == 0:
                return other, memory
            # while |mu_1' - mu_2'| < sqrt(2/n log(x (log^2 x + 1))), x = r 2^r / n
            n = self.N[other]
            x = memory.r * 2**memory.r / n
            radius = math.sqrt(2 / n * log_plus(x * (math.log(x) ** 2 + 1)))
            scale = self.scale(range(2))
            if not choices.at_least(abs(self.mean(0) - self.mean(1)), radius, scale):
                return other, memory
            best = self.first_best(range(2), self.mean, scale, choices)
            memory = memory._replace(committed=best)
        return memory.committed, memory
