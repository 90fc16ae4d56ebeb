"""Explore-then-commit of Perchet, Rigollet, Chassang and Snowberg, "Batched bandit problems" (Ann.
Statist. 2016), as in Figure 1 (d) of Gao et al. (NeurIPS 2019)."""

from __future__ import annotations

import math

from ..choices import Choices
from .loops import Counts, GridOracle


class ETC(GridOracle):
    """Explore equally until the two best arms are far apart. The memory is the winner, or None.

    K is 2 in the paper.
    """

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
