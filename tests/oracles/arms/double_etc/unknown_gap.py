"""Algorithm 2 of "Double Explore-then-Commit" (COLT 2021): two arms, unknown gap."""

from __future__ import annotations

import numpy as np

from ...choices import Choices
from ..loops import Counts
from .stages import Stage, StagesOracle


class UnknownGap(StagesOracle):
    """DETC, in rounds of one pull.

    Args:
      num_arms: 2.
      horizon: T.
      commit_pulls: T_1; log^2 T if None.
      rng: see `Oracle`.
    """

    POWER = 2

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        commit_pulls: float | None = None,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, horizon, rng)
        self.T1 = self.log**self.POWER if commit_pulls is None else float(np.float32(commit_pulls))

    def choose(self, memory: Stage, choices: Choices) -> tuple[Counts, Stage]:
        if memory.number == 1:
            return self.only(self.in_turn(memory), 1), memory
        if memory.number == 3:
            return self.only(1 - memory.leader, 1), memory
        # while 1' has at most T_1 pulls; to the end
        return self.only(memory.leader, 1), memory

    def in_turn(self, stage: Stage) -> int:
        """The first arm, then the second."""
        return (self.used - self.before[stage.since][2]) % 2

    def is_level(self, stage: Stage) -> bool:
        return self.n(stage, 0) == self.n(stage, 1)

    def after(self, memory: Stage, choices: Choices) -> Stage:
        if self.left == 0:
            return memory
        # both once more, while |mu_1 - mu_2| < sqrt(16/t log+(T_1/t))
        explored = memory.number == 1 and self.is_level(memory)
        if explored and self.apart(sum(self.N), 16, self.T1, choices):
            memory = self.turn(2, memory, leader=self.best(choices))
        if memory.number == 2 and self.N[memory.leader] > self.T1:
            return self.turn(3, memory, anchor=self.mean(memory.leader))
        if memory.number == 3:
            return self.challenged(memory, choices)
        return memory

    def challenged(self, stage: Stage, choices: Choices) -> Stage:
        """After a pull of 2'."""
        if self.told_apart(stage, 1 - stage.leader, choices):
            return self.commit(stage, choices)
        return stage
