"""Winner Stays for weak regret (WS-W), Chen and Frazier (ICML 2017), Algorithm 1."""

from __future__ import annotations

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class WSW(SequentialOracle):
    """WS-W. The memory is the last pair, or None where none is remembered.

    Args:
      num_arms: K.
      fresh_challenger: whether the first challenger of a round is drawn anew.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        fresh_challenger: bool = False,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.fresh_challenger = fresh_challenger
        self.round = 1  # l

    def C(self, arm: int) -> int:
        """C_arm: duels won minus duels lost."""
        return int(self.W[arm].sum() - self.W[:, arm].sum())

    def largest(self, arms: list[int], last: Pair | None, choices: Choices) -> int:
        """argmax C: i_(t-1) if it is in the set, else j_(t-1), else any."""
        top = max(map(self.C, arms))
        tied = [arm for arm in arms if self.C(arm) == top]
        for before in last or ():
            if before in tied:
                return before
        return choices.any_of(tied)

    def choose(self, memory: Pair | None, choices: Choices) -> tuple[Pair, Pair | None]:
        i = self.largest(list(range(self.K)), memory, choices)
        j = self.largest([arm for arm in range(self.K) if arm != i], memory, choices)
        return (i, j), memory

    def record(self, left: int, right: int, left_wins: bool) -> None:
        super().record(left, right, left_wins)
        # round l ends exactly when the winner of a duel reaches C = (K - 1) l
        self.ends = self.C(left if left_wins else right) == (self.K - 1) * self.round
        self.round += self.ends

    def after(self, memory: Pair | None, left: int, right: int, choices: Choices) -> Pair | None:
        return None if self.ends and self.fresh_challenger else (left, right)


REPLAYS = {
    "ws-w": (WSW, {}, {}),
    "ws-w, fresh challenger": (WSW, {"fresh_challenger": True}, {"fresh_challenger": True}),
}
