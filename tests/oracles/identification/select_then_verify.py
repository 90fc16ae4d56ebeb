"""SELECT-then-verify, the baseline of Haddenhorst et al. (UAI 2021)."""

from __future__ import annotations

import math

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle
from .nts import NONE, ceiling


class SelectThenVerify(SequentialOracle):
    """A knockout of matches of N duels, then tests of its winner.

    Args:
      num_arms: K.
      gamma, margin: as in the policy.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        gamma: float = 0.05,
        margin: float = 0.05,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        if num_arms == 2:  # e is infinite and log2(log2 K) is 0; their product has a limit
            number = -math.log(gamma / 2) / (2 * margin**2)
        else:
            loglog = math.log(math.log2(num_arms))
            e = -math.log(gamma / 2) / loglog
            number = (1 + e) * math.log(2) * (loglog / math.log(2)) / (2 * margin**2)
        self.N_match = math.floor(number) + 1
        self.lead_to_pass = ceiling(gamma / (2 * (num_arms - 1)), margin) + 1
        self.answer: int | str | None = None
        self.won = [0] * num_arms
        self.begin_round(list(range(num_arms)))

    def begin_round(self, arms: list[int]) -> None:
        self.matches = [arms[i : i + 2] for i in range(0, len(arms), 2)]
        self.ahead: list[int] = []
        self.results: list[bool] = []
        if len(arms) == 1:
            self.to_test = [j for j in range(self.K) if j != arms[0]]
            self.champion = arms[0]
            self.matches = []

    def choose(self, memory: None, choices: Choices) -> tuple[Pair, None]:
        if self.answer == NONE:
            return (self.won.index(max(self.won)),) * 2, None
        if self.answer is not None:
            return (self.champion, self.champion), None
        if self.matches:
            i, j = self.matches[0]
            return (i, j), None
        return (self.champion, self.to_test[0]), None

    def record(self, left: int, right: int, left_wins: bool) -> None:
        super().record(left, right, left_wins)
        if self.answer is not None:
            return
        self.results.append(left_wins)
        wins, losses = self.results.count(True), self.results.count(False)
        if self.matches:
            if len(self.results) == self.N_match:
                self.ahead.append(left if wins >= losses else right)
                self.won[self.ahead[-1]] += 1
                self.matches.pop(0)
                self.results = []
            if self.matches and len(self.matches[0]) == 1:
                self.ahead += self.matches.pop(0)
            if not self.matches:
                self.begin_round(self.ahead)
        elif abs(wins - losses) == self.lead_to_pass:
            self.results = []
            self.won[left if wins > losses else right] += 1
            if losses > wins:
                self.answer = NONE
            else:
                self.to_test.pop(0)
                if not self.to_test:
                    self.answer = self.champion


FAST = {"gamma": 0.9, "margin": 0.4}
REPLAYS = {"select-then-verify": (SelectThenVerify, FAST, FAST)}
