"""What the oracles of double explore-then-commit share: means of a stage alone, the tests.

Source: Jin, Xu, Xiao and Gu, "Double Explore-then-Commit" (COLT 2021).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...choices import Choices
from ..loops import ArmsOracle, Counts, equal_pulls


class Stage(NamedTuple):
    """The memory: what floats may have decided so far.

    `extra` is the number of an algorithm's own: the arm of stage III, or D'.
    """

    number: int = 1
    since: int = 0  # rounds played before it
    leader: int = -1  # 1'
    anchor: float = math.nan  # mu'
    extra: float = math.nan


def log_plus(x: float) -> float:
    """log+ x = max(0, log x)."""
    return max(0.0, math.log(x)) if x > 0 else 0.0


class StagesOracle(ArmsOracle):
    """Rounds in stages; all but the last stage are cut at T.

    Args:
      num_arms: K.
      horizon: T.
      rng: see `Oracle`.
    """

    def __init__(self, num_arms: int, horizon: int, rng: np.random.Generator | None = None):
        super().__init__(num_arms, rng)
        self.T = horizon
        self.log = math.log(horizon)
        self.before = [self.so_far()]  # by number of rounds played
        self.memories = [Stage()]

    @property
    def left(self) -> int:
        """The pulls that are left."""
        return self.T - self.used

    def record(self, plan: Counts, outcome: Any) -> None:
        super().record(plan, outcome)
        self.before.append(self.so_far())

    def learn(self, counts: Iterable[int], totals: Iterable[float]) -> None:
        super().learn(counts, totals)
        self.before.append(self.so_far())

    def so_far(self) -> tuple[Counts, tuple[float, ...], int]:
        """Pulls and sums of rewards of each arm, and pulls of all, withheld rewards included."""
        return tuple(self.N), tuple(self.S), self.used

    def turn(self, number: int, stage: Stage, **changes: Any) -> Stage:
        """The next stage begins with the next round."""
        return stage._replace(number=number, since=len(self.before) - 1, **changes)

    def tests(self, stage: Stage) -> int:
        """Rounds of the stage so far."""
        return len(self.before) - 1 - stage.since

    def n(self, stage: Stage, i: int) -> int:
        """Pulls of arm i in this stage."""
        return self.N[i] - self.before[stage.since][0][i]

    def stage_mean(self, stage: Stage, i: int) -> float:
        """The mean of the pulls of arm i in this stage."""
        return (self.S[i] - self.before[stage.since][1][i]) / self.n(stage, i)

    def stage_scale(self, stage: Stage, i: int) -> float:
        """The size of the numbers that this mean is made of."""
        return self.peak[i] / self.n(stage, i)

    # ---- plans --------------------------------------------------------------------------------

    def every(self, n: int) -> Counts:
        """Every arm n times, up to T."""
        return equal_pulls(self.K, range(self.K), min(n * self.K, self.left))

    def only(self, arm: int, n: int | None = None) -> Counts:
        """One arm n times, up to T; to the end if it is None."""
        n = self.left if n is None else min(n, self.left)
        return tuple(n * (i == arm) for i in range(self.K))

    # ---- tests --------------------------------------------------------------------------------

    def best(self, choices: Choices) -> int:
        """The arm of the largest mean of all pulls."""
        arms = range(self.K)
        return self.first_best(arms, self.mean, self.scale(arms), choices)

    def apart(self, t: float, factor: float, most: float, choices: Choices) -> bool:
        """|mu_1 - mu_2| >= sqrt(factor / t log+(most / t))."""
        distance = abs(self.mean(0) - self.mean(1))
        return choices.at_least(
            distance, math.sqrt(factor / t * log_plus(most / t)), self.scale(range(2))
        )

    def told_apart(self, stage: Stage, i: int, choices: Choices, factor: float = 1.0) -> bool:
        """Not |mu' - theta| < sqrt(2/t log(factor T/t (log^2(T/t) + 1)))."""
        t = self.n(stage, i)
        x = self.T / t
        radius = math.sqrt(2 / t * log_plus(factor * x * (math.log(x) ** 2 + 1)))
        distance = abs(stage.anchor - self.stage_mean(stage, i))
        return choices.at_least(distance, radius, self.size(stage, i))

    def size(self, stage: Stage, i: int) -> float:
        """The size of the numbers in mu' - theta."""
        return max(abs(stage.anchor), self.scale([stage.leader]), self.stage_scale(stage, i))

    def commit(self, stage: Stage, choices: Choices) -> Stage:
        """IV: 1' if mu' >= theta, else 2'."""
        other = 1 - stage.leader
        mean = self.stage_mean(stage, other)
        stays = choices.at_least(stage.anchor, mean, self.size(stage, other))
        return self.turn(4, stage, leader=stage.leader if stays else other)
