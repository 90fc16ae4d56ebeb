"""Algorithm 7 of "Double Explore-then-Commit" (COLT 2021): K arms."""

from __future__ import annotations

import math

from ...choices import Choices
from ..loops import Counts
from .stages import Stage, StagesOracle


class ManyArms(StagesOracle):
    """DETC of K arms. `Stage.extra` is the arm of stage III; stage 5 explores once more."""

    def others(self, stage: Stage) -> list[int]:
        return [i for i in range(self.K) if i != stage.leader]

    def most(self) -> int:
        """log^2 T, in whole pulls."""
        return max(math.ceil(self.log**2), 1)

    def choose(self, memory: Stage, choices: Choices) -> tuple[Counts, Stage]:
        if memory.number == 1:
            # until t > K sqrt(log T)
            n = 1
            while n * self.K <= self.K * math.sqrt(self.log):
                n += 1
            return self.every(n), memory
        if memory.number == 2:
            return self.only(memory.leader, self.most()), memory
        if memory.number == 3:
            return self.only(int(memory.extra), 1), memory
        if memory.number == 5:
            return self.every(self.most()), memory
        return self.only(memory.leader), memory

    def after(self, memory: Stage, choices: Choices) -> Stage:
        if self.left == 0:
            return memory
        if memory.number == 1:
            return self.turn(2, memory, leader=self.best(choices))
        if memory.number == 2:
            anchor = self.stage_mean(memory, memory.leader)
            return self.turn(3, memory, anchor=anchor, extra=self.others(memory)[0])
        if memory.number == 3:
            i = int(memory.extra)
            full = self.n(memory, i) >= self.log**2
            if not full and not self.told_apart(memory, i, choices):
                return memory
            later = [j for j in self.others(memory) if j > i]
            if later:
                return memory._replace(extra=later[0])
            return self.judged(memory, choices)
        if memory.number == 5:
            arms = range(self.K)
            scale = max(self.stage_scale(memory, i) for i in arms)
            best = self.first_best(arms, lambda i: self.stage_mean(memory, i), scale, choices)
            return self.turn(4, memory, leader=best)
        return memory

    def judged(self, stage: Stage, choices: Choices) -> Stage:
        """IV: commit to 1' if mu' >= max theta and no arm was pulled log^2 T times."""
        failed = any(self.n(stage, i) >= self.log**2 for i in self.others(stage))
        beaten = not all(
            choices.at_least(stage.anchor, self.stage_mean(stage, i), self.size(stage, i))
            for i in self.others(stage)
        )
        return self.turn(5 if failed or beaten else 4, stage)
