"""POCOWISTA, Bengs, Haddenhorst and Huellermeier (AISTATS 2024), by its authors' program."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class Verdict(NamedTuple):
    """Of a pair: points of the first, 1, 1/2 or 0."""

    i: int
    j: int
    points: float


class Pocowista(SequentialOracle):
    """The memory is the verdicts so far, which may hang on a doubtful comparison of floats.

    `play` takes None for a tie.

    Args:
      num_arms: K.
      delta: the error.
      rng: see `Oracle`.
    """

    def __init__(self, num_arms: int, delta: float = 0.05, rng: np.random.Generator | None = None):
        super().__init__(num_arms, rng)
        self.memories = [()]
        self.delta_prime = delta / math.comb(num_arms, 2)
        self.pair: Pair | None = None
        self.S = [0, 0, 0]

    def scores(self, verdicts: tuple[Verdict, ...]) -> tuple[list[float], list[set[int]]]:
        """hat, and D."""
        hat, decided = [0.0] * self.K, [{i} for i in range(self.K)]
        for i, j, points in verdicts:
            hat[i] += points
            hat[j] += 1 - points
            decided[i].add(j)
            decided[j].add(i)
        return hat, decided

    def choose(self, memory: tuple[Verdict, ...], choices: Choices) -> tuple[Pair, tuple]:
        hat, decided = self.scores(memory)
        pot = [self.K - len(decided[i]) + hat[i] for i in range(self.K)]
        b = max(range(self.K), key=lambda i: hat[i])
        if all(hat[b] >= pot[i] for i in range(self.K) if i != b):
            return (b, b), memory
        i = max(range(self.K), key=lambda k: pot[k])
        rest = [j for j in range(self.K) if j not in decided[i]]
        return (i, max(rest, key=lambda j: hat[j])), memory

    def record(self, left: int, right: int, left_wins: bool | None) -> None:
        if (left, right) != self.pair:
            self.pair, self.S = (left, right), [0, 0, 0]
        self.S[2 if left_wins is None else int(not left_wins)] += 1

    def after(
        self, memory: tuple[Verdict, ...], left: int, right: int, choices: Choices
    ) -> tuple[Verdict, ...]:
        if left == right:
            return memory
        a, b = sorted(self.S)[:0:-1]
        log_f = math.log(a + b + 1) + math.log(math.comb(a + b, a)) - (a + b) * math.log(2)
        if choices.greater(log_f, math.log(self.delta_prime / 2), scale=a + b):
            return memory
        verdict = max(range(3), key=lambda k: self.S[k])
        return (*memory, Verdict(left, right, (1.0, 0.0, 0.5)[verdict]))


FAST = {"delta": 0.9}
REPLAYS = {"pocowista": (Pocowista, FAST, FAST)}
