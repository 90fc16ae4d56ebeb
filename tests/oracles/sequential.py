"""The loop around the sequential oracles: which hidden states agree with what was observed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from .choices import Choices, Oracle

Pair = tuple[int, int]


class SequentialOracle(Oracle):
    """An oracle whose plans are pairs, one comparison at a time."""

    def __init__(self, num_arms: int, rng: np.random.Generator | None = None):
        super().__init__(num_arms, rng)
        self.t = 1  # index of the next comparison
        self.N = np.zeros((num_arms, num_arms), dtype=np.int64)  # comparisons, symmetric
        self.W = np.zeros((num_arms, num_arms), dtype=np.int64)  # wins of i over j

    def record(self, left: int, right: int, left_wins: bool) -> None:
        """Adds a comparison to the counts; one of an arm with itself teaches nothing."""
        if left != right:
            self.N[left, right] += 1
            self.N[right, left] += 1
            winner, loser = (left, right) if left_wins else (right, left)
            self.W[winner, loser] += 1

    def after(self, memory: Any, left: int, right: int, choices: Choices) -> Hashable:
        """The memory after comparison t, whose outcome is in the counts already."""
        return memory

    def play(self, left: int, right: int, left_wins: bool) -> None:
        """Goes on with the comparison that was really made."""
        self.go_on(
            (left, right),
            lambda: self.record(left, right, left_wins),
            lambda memory, choices: self.after(memory, left, right, choices),
        )
        self.t += 1
