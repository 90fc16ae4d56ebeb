"""Sequential halving, Algorithm 3 of "Almost Optimal Exploration in Multi-Armed Bandits", Karnin,
Koren and Somekh (ICML 2013)."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from ..arms.loops import Counts, GridOracle, equal_pulls
from ..choices import TOLERANCE, Choices


class SequentialHalving(GridOracle):
    """ceil(log2 K) rounds. The memory is S_r, the arms that are left.

    Args:
      num_arms: n of the paper.
      horizon: T, the budget.
      num_batches: B, the number of rounds; None: the paper's ceil(log2 n). After r rounds of
        another number ceil(n / c^r) arms are left, c^B = 2^ceil(log2 n).
      keep_rewards: averages are of all rewards, not of the round's.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        num_batches: int | None = None,
        keep_rewards: bool = False,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, horizon, grid=[horizon], rng=rng)
        self.halves, self.keep_rewards = num_batches is None, keep_rewards
        self.logarithm = math.ceil(math.log2(num_arms))
        self.B = num_batches or self.logarithm
        self.pulls, self.sums, self.size = [0] * num_arms, [0.0] * num_arms, [0.0] * num_arms
        # S_0 = [n]
        self.memories = [frozenset(range(num_arms))]

    def kept(self, size: int) -> int:
        """The number of arms that are left after the round just played, which began with `size`."""
        if self.halves:
            return math.ceil(size / 2)
        with localcontext() as context:
            context.prec = 50
            power = Decimal(2) ** (Decimal(self.logarithm * min(self.rounds, self.B)) / self.B)
            return math.ceil((self.K / power).quantize(Decimal(10) ** -30))

    def record(self, plan: Counts, outcome: Any) -> None:
        super().record(plan, outcome)
        for i, (n, total) in enumerate(zip(plan, outcome, strict=True)):
            self.pulls[i] = self.pulls[i] * self.keep_rewards + n
            self.sums[i] = self.sums[i] * self.keep_rewards + float(total)
            self.size[i] = max(self.size[i] * self.keep_rewards, abs(self.sums[i]))

    def answer(self) -> int | None:
        """The arm in S_B; None before."""
        (S,) = self.memories
        return min(S) if len(S) == 1 else None

    def choose(self, memory: frozenset[int], choices: Choices) -> tuple[Counts, frozenset[int]]:
        S = memory
        if self.left == 0:
            return self.none(), S
        if len(S) == 1:
            # what is left of the budget
            return self.only(min(S)), S
        # sample each arm i in S_r for t_r = floor(T / (|S_r| B)) times
        return equal_pulls(self.K, S, self.T // (len(S) * self.B) * len(S)), S

    def after(self, memory: frozenset[int], choices: Choices) -> frozenset[int]:
        S = memory
        if len(S) == 1:
            return S
        # S_(r+1) = the ceil(|S_r| / 2) arms in S_r with the largest empirical average
        number = self.kept(len(S))
        mean = {i: self.sums[i] / self.pulls[i] for i in S}
        edge = sorted(mean.values(), reverse=True)[number - 1]
        slack = TOLERANCE * max(self.size[i] / self.pulls[i] for i in S)
        sure = frozenset(i for i in S if mean[i] > edge + slack)
        level = [i for i in sorted(S - sure) if mean[i] >= edge - slack]
        ways = itertools.combinations(level, number - len(sure))
        return sure | frozenset(choices.any_of(ways))
