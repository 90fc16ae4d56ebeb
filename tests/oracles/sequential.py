"""The loop around the sequential oracles: which hidden states agree with what was observed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from .choices import Choices, every_outcome

Pair = tuple[int, int]


class SequentialOracle:
    """All that a sequential algorithm may do, given the comparisons made so far.

    What the observed comparisons determine (counts, time) is kept once, by the subclass. What they
    leave open (a set that a tie or a doubtful comparison of floats decides) is the memory, a
    hashable value: every memory that agrees with the comparisons so far is kept.

    Args:
      num_arms: K.
      rng: take random choices for real instead of keeping all of them in view.
    """

    def __init__(self, num_arms: int, rng: np.random.Generator | None = None):
        self.K = num_arms
        self.rng = rng
        self.t = 1  # index of the next comparison
        self.N = np.zeros((num_arms, num_arms), dtype=np.int64)  # comparisons, symmetric
        self.W = np.zeros((num_arms, num_arms), dtype=np.int64)  # wins of i over j
        self.memories: list[Any] = [None]
        self._allowed: list[tuple[Pair, Any]] | None = None

    # ---- what a subclass adds -----------------------------------------------------------------

    def choose(self, memory: Any, choices: Choices) -> tuple[Pair, Hashable]:
        """The pair to compare at time t, and the memory after choosing it."""
        raise NotImplementedError

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

    # ---- what a test uses ---------------------------------------------------------------------

    def _choices(self) -> list[tuple[Pair, Any]]:
        if self._allowed is None:
            found: dict[tuple[Pair, Any], None] = {}
            for memory in self.memories:
                for outcome in every_outcome(lambda x, m=memory: self.choose(m, x), self.rng):
                    found[outcome] = None
            self._allowed = list(found)
        return self._allowed

    def allowed(self) -> set[Pair]:
        """Every (left, right) that may be compared next."""
        return {pair for pair, _ in self._choices()}

    def play(self, left: int, right: int, left_wins: bool) -> None:
        """Goes on with the comparison that was really made."""
        possible = [memory for pair, memory in self._choices() if pair == (left, right)]
        assert possible, f"({left}, {right}) was not allowed at t = {self.t}"
        self.record(left, right, left_wins)
        following: dict[Any, None] = {}
        for memory in possible:
            for after in every_outcome(lambda x, m=memory: self.after(m, left, right, x), self.rng):
                following[after] = None
        self.memories = list(following)
        self.t += 1
        self._allowed = None
