"""Algorithm 4 of "Double Explore-then-Commit" (COLT 2021): two arms, known gap, batches."""

from __future__ import annotations

import math

from .known_gap import KnownGap
from .stages import Stage


class BatchedKnownGap(KnownGap):
    """Algorithm 1 whose stage III is tested now and then."""

    def until_test(self, stage: Stage) -> int:
        # t2 = ceil(tau0 + k (2 sqrt(log(T D^2)) + 4) / (2 (1 - e)^2 D^2)), the next that is later
        below = 2 * (1 - self.e) ** 2 * self.D**2
        made, k, t2 = self.n(stage, 1 - stage.leader), 0, 0
        while t2 <= made:
            k += 1
            t2 = math.ceil((self.L + k * (2 * math.sqrt(self.L) + 4)) / below)
        return t2 - made
