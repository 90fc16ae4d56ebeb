"""Dvoretzky-Kiefer-Wolfowitz tournament for duels, Haddenhorst et al. (NeurIPS 2021)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class Entered(NamedTuple):
    """The memory: who meets; None for the challenger between matches."""

    champion: int
    challenger: int | None
    unseen: frozenset[int]


class DKWT(SequentialOracle):
    """K - 1 matches. The memory is an `Entered`, None before the first comparison.

    Args:
      num_arms: K.
      gamma: the error.
      rng: see `Oracle`.
    """

    def __init__(self, num_arms: int, gamma: float = 0.05, rng: np.random.Generator | None = None):
        super().__init__(num_arms, rng)
        self.gamma_prime = gamma / num_arms
        self.begin(1)

    def begin(self, r: int) -> None:
        """Round r of a match, without duels."""
        self.r, self.wins = r, [0, 0]
        self.h = Fraction(1, 2 ** (r + 1))
        g = 6 * self.gamma_prime / (math.pi**2 * r**2)
        self.T = math.ceil(8 * math.log(4 / g) / self.h**2)

    def choose(self, memory: Entered | None, choices: Choices) -> tuple[Pair, Entered]:
        if memory is None:
            first = choices.any_of(range(self.K))
            memory = Entered(first, None, frozenset(range(self.K)) - {first})
        if memory.challenger is None and memory.unseen:
            arm = choices.any_of(sorted(memory.unseen))
            memory = Entered(memory.champion, arm, memory.unseen - {arm})
        champion, challenger, _ = memory
        return (champion, champion if challenger is None else challenger), memory

    def record(self, left: int, right: int, left_wins: bool) -> None:
        super().record(left, right, left_wins)
        self.winner: int | None = None
        if left == right:
            return
        self.wins[not left_wins] += 1
        if sum(self.wins) == self.T:
            first, second = (Fraction(w, self.T) for w in self.wins)
            if abs(first - second) > self.h:
                self.winner = left if first > second else right
                self.begin(1)
            else:
                self.begin(self.r + 1)

    def after(self, memory: Entered, left: int, right: int, choices: Choices) -> Entered:
        if self.winner is None:
            return memory
        return Entered(self.winner, None, memory.unseen)


REPLAYS = {"dkwt": (DKWT, {"gamma": 0.99}, {"gamma": 0.99})}
