"""Algorithm 3 of "Double Explore-then-Commit" (COLT 2021): two arms, the minimax variant."""

from __future__ import annotations

import math

from ...choices import Choices
from ..loops import Counts
from .stages import Stage, log_plus
from .unknown_gap import UnknownGap


class Minimax(UnknownGap):
    """Algorithm 2 whose stage III is short; stage 5 explores once more."""

    POWER = 10

    def choose(self, memory: Stage, choices: Choices) -> tuple[Counts, Stage]:
        if memory.number == 5:
            return self.only(self.in_turn(memory), 1), memory
        return super().choose(memory, choices)

    def challenged(self, stage: Stage, choices: Choices) -> Stage:
        other = 1 - stage.leader
        if self.n(stage, other) >= self.log**2:
            return self.turn(5, stage)
        # while |mu' - theta| < sqrt(2/t2 log(e T/t2 (log^2(T/t2) + 1)))
        if self.told_apart(stage, other, choices, math.e):
            return self.commit(stage, choices)
        return stage

    def after(self, memory: Stage, choices: Choices) -> Stage:
        if self.left == 0 or memory.number != 5:
            return super().after(memory, choices)
        if not self.is_level(memory):
            return memory
        s = self.n(memory, 0)
        p = [self.stage_mean(memory, i) for i in range(2)]
        scale = max(self.stage_scale(memory, i) for i in range(2))
        # while |p_1 - p_2| < sqrt(8/s log+(T/s))
        if choices.at_least(abs(p[0] - p[1]), math.sqrt(8 / s * log_plus(self.T / s)), scale):
            return self.turn(
                4, memory, leader=self.first_best(range(2), p.__getitem__, scale, choices)
            )
        return memory
