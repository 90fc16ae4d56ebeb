"""Runs of the oracles for Copeland winners, as their tests need them."""

from __future__ import annotations

import numpy as np

from tests.oracles.copeland.scb import SCB, Pull
from tests.oracles.sequential import SequentialOracle


def seen(oracle: SequentialOracle, wins: list[list[int]], t: int) -> None:
    """The oracle at time t, after comparisons with these wins."""
    oracle.W[:] = wins
    oracle.N[:] = oracle.W + oracle.W.T
    oracle.t = t


def play_out(oracle: SequentialOracle, beats: set[tuple[int, int]], steps: int):
    """The pairs of a run that leaves no choice; (i, j) in `beats` where i always beats j."""
    pairs = []
    for _ in range(steps):
        ((left, right),) = oracle.allowed()
        oracle.play(left, right, left == right or (left, right) in beats)
        pairs.append((left, right))
    return pairs


class Recorded(SCB):
    """A real run, with its draws."""

    def __init__(self, num_arms: int, scale: float, rng: np.random.Generator | None):
        super().__init__(num_arms, scale=scale, rng=rng)
        self.drawn: dict[Pull, int] = {}

    def opponent(self, memory, i, position):
        j = super().opponent(memory, i, position)
        self.drawn[Pull(i, self.t, position, memory.r, memory.s)] = j
        return j
