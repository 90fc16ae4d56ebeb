"""Algorithm 5 of "Double Explore-then-Commit" (COLT 2021): two arms, unknown gap, batches."""

from __future__ import annotations

import math

from ...choices import TOLERANCE, Choices
from ..loops import Counts
from .stages import Stage
from .unknown_gap import UnknownGap


class Batched(UnknownGap):
    """Algorithm 2 whose stages I and III are tested now and then. `Stage.extra` is D'."""

    def choose(self, memory: Stage, choices: Choices) -> tuple[Counts, Stage]:
        if self.left == 0:
            return self.only(0), memory
        k = self.tests(memory)
        if memory.number == 1:
            # t = 2 k sqrt(log T), k = 1, 2, ...
            each = math.ceil((k + 1) * math.sqrt(self.log))
            return self.every(max(each - self.N[0], 1)), memory
        if memory.number == 3:
            other, most = 1 - memory.leader, self.most()
            at = self.first_test() if k == 0 else self.later_test(memory, k, choices)
            at = max(min(at, most), 1)
            return self.only(other, max(at - self.n(memory, other), 1)), memory
        if memory.number == 2:
            # while 1' has at most T_1 pulls
            n = math.floor(self.T1) + 1 - self.N[memory.leader]
            return self.only(memory.leader, n), memory
        return self.only(memory.leader), memory

    def most(self) -> int:
        """log^2 T, in whole pulls."""
        return max(math.ceil(self.log**2), 1)

    def first_test(self) -> int:
        """N_1 = 2 log T / loglog T."""
        return math.ceil(2 * self.log / math.log(self.log)) if self.log > 1 else 1

    def later_test(self, stage: Stage, k: int, choices: Choices) -> int:
        """(2/D'^2) N_2 log(T log^3 T) + (k/D'^2) N_2 (log T)^(2/3)."""
        log, gap = self.log, stage.extra
        if gap == 0:
            return self.most()
        N2 = (1 + log**-0.25) ** 2
        t = N2 / gap**2 * (2 * math.log(self.T * log**3) + k * log ** (2 / 3))
        slack = TOLERANCE * self.size(stage, 1 - stage.leader) / gap if self.rng is None else 0
        ends = [min(math.ceil(t * (1 + s)), self.most()) for s in (-slack, slack)]
        return choices.any_of(range(ends[0], ends[1] + 1))

    def challenged(self, stage: Stage, choices: Choices) -> Stage:
        other = 1 - stage.leader
        if self.tests(stage) == 1:
            stage = stage._replace(extra=abs(stage.anchor - self.stage_mean(stage, other)))
        if self.n(stage, other) >= self.log**2:
            return self.commit(stage, choices)
        return super().challenged(stage, choices)
