"""Algorithm 1 of "Double Explore-then-Commit" (COLT 2021): two arms, known gap."""

from __future__ import annotations

import math

import numpy as np

from ...choices import Choices
from ..loops import Counts
from .stages import Stage, StagesOracle


class KnownGap(StagesOracle):
    """DETC of a known gap.

    Args:
      num_arms: 2.
      horizon: T.
      gap: D.
      epsilon: e; the theory's if None.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        gap: float,
        epsilon: float | None = None,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, horizon, rng)
        D = self.D = float(np.float32(gap))
        self.L = math.log(horizon * D**2)
        if epsilon is None:
            # horizon 1: log T is 0, the bound infinite
            bound = math.sqrt(self.L / (D**2 * self.log**2)) if horizon > 1 else math.inf
            self.e = min(bound, 1 / 2)
        else:
            self.e = float(np.float32(epsilon))
        self.T1 = math.ceil(2 * self.L / (self.e**2 * D**2))
        self.tau = 4 * math.ceil(math.log(self.T1 * D**2) / D**2)

    def choose(self, memory: Stage, choices: Choices) -> tuple[Counts, Stage]:
        if memory.number == 1:
            # pull each once; while t <= 2 tau: pull each once more
            t = 2
            while t <= 2 * self.tau and t < self.T:
                t += 2
            return self.every(t // 2), memory
        if memory.number == 2:
            # while 1' has at most T_1 pulls
            return self.only(memory.leader, self.T1 + 1 - self.N[memory.leader]), memory
        if memory.number == 3:
            return self.only(1 - memory.leader, self.until_test(memory)), memory
        return self.only(memory.leader), memory

    def until_test(self, stage: Stage) -> int:
        """Pulls of 2' before the next test: each is tested."""
        return 1

    def after(self, memory: Stage, choices: Choices) -> Stage:
        if self.left == 0:
            return memory
        if memory.number == 1:
            memory = self.turn(2, memory, leader=self.best(choices))
        if memory.number == 2 and self.N[memory.leader] > self.T1:
            return self.turn(3, memory, anchor=self.mean(memory.leader))
        if memory.number == 3:
            other = 1 - memory.leader
            t2, theta = self.n(memory, other), self.stage_mean(memory, other)
            # while 2 (1 - e) t2 D |mu' - theta| < log(T D^2)
            weight = 2 * (1 - self.e) * t2 * self.D
            distance = weight * abs(memory.anchor - theta)
            if choices.at_least(distance, self.L, weight * self.size(memory, other)):
                return self.commit(memory, choices)
        return memory
