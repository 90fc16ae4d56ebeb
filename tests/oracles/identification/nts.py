"""Noisy tournament sampling, Haddenhorst et al. (UAI 2021): Algorithm 6 with Algorithm 3."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle

NONE = "no Condorcet winner"


def ceiling(error: float, margin: float) -> int:
    """The ceiling in C(n) = 1 / (2 n) ceil(log((1 - g) / g) / log((1/2 + h) / (1/2 - h)))."""
    return math.ceil(math.log((1 - error) / error) / math.log((0.5 + margin) / (0.5 - margin)))


def levels(num_arms: int) -> list[list[int]]:
    """The nodes of a bracket of K leaves as a heap, level by level, the leaves' parents first."""
    height = (num_arms - 1).bit_length()
    return [list(range(2**depth, 2 ** (depth + 1))) for depth in reversed(range(height))]


class NTS(SequentialOracle):
    """Noisy tournament sampling.

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
        self.ceiling = ceiling(gamma / num_arms, margin)
        self.edges: set[Pair] = set()

    def missing(self) -> Pair | None:
        """The pair without an edge that the tournament asks for; None if it has an answer."""
        first_leaf = 2 ** (self.K - 1).bit_length()
        at: dict[int, int | None] = {first_leaf + arm: arm for arm in range(self.K)}
        for nodes in levels(self.K):
            for node in nodes:
                pair = [
                    arm for child in (2 * node, 2 * node + 1) if (arm := at.get(child)) is not None
                ]
                if len(pair) == 2:
                    i, j = pair
                    if not {(i, j), (j, i)} & self.edges:
                        return i, j
                    pair = [i if (i, j) in self.edges else j]
                at[node] = pair[0] if pair else None
        champion = at[1]
        assert champion is not None
        self.champion = champion
        if self.answer() is None:
            return champion, min(j for j in self.others() if (champion, j) not in self.edges)
        return None

    def others(self) -> set[int]:
        """All arms but the champion."""
        return set(range(self.K)) - {self.champion}

    def answer(self) -> int | str | None:
        """The arm with edges to all others, `NONE` if every arm is beaten."""
        for i in range(self.K):
            if all((i, j) in self.edges for j in range(self.K) if j != i):
                return i
        beaten = {j for _, j in self.edges}
        return NONE if len(beaten) == self.K else None

    def choose(self, memory: None, choices: Choices) -> tuple[Pair, None]:
        pair = self.missing()
        if self.answer() == NONE:
            beaten = [sum(i == arm for i, _ in self.edges) for arm in range(self.K)]
            return (beaten.index(max(beaten)),) * 2, None
        return pair or (self.champion, self.champion), None

    def record(self, left: int, right: int, left_wins: bool) -> None:
        super().record(left, right, left_wins)
        for i, j in ((left, right), (right, left)):
            n = int(self.N[i, j])
            if n and Fraction(int(self.W[i, j]), n) > Fraction(1, 2) + Fraction(
                self.ceiling, 2 * n
            ):
                self.edges.add((i, j))


FAST = {"gamma": 0.9, "margin": 0.3}
REPLAYS = {"nts": (NTS, FAST, FAST)}
