"""Beat the Winner, Pekoez, Ross and Zhang (2020), by the public program that names it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class Ring(NamedTuple):
    """The memory. The order of arms that have not played yet is open, until they come to the front;
    they are all in front of those that have played."""

    incumbent: int
    challenger: int | None  # None: the next of the queue
    unseen: frozenset[int]
    queue: tuple[int, ...]  # those that have played


class BeatTheWinner(SequentialOracle):
    """Beat the winner. The memory is a `Ring`, None before the first comparison.

    Args:
      num_arms: K.
      variant: in "btwr" the round is 1 again whenever the incumbent lost.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        variant: Literal["btw", "btwr"] = "btw",
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.variant = variant
        self.round = 1
        self.wins = {"incumbent": 0, "challenger": 0}

    def choose(self, memory: Ring | None, choices: Choices) -> tuple[Pair, Ring]:
        if memory is None:
            first = choices.any_of(range(self.K))
            memory = Ring(first, None, frozenset(range(self.K)) - {first}, ())
        if memory.challenger is None:
            if memory.unseen:
                arm = choices.any_of(sorted(memory.unseen))
                memory = memory._replace(challenger=arm, unseen=memory.unseen - {arm})
            else:
                memory = memory._replace(challenger=memory.queue[0], queue=memory.queue[1:])
        assert memory.challenger is not None
        return (memory.incumbent, memory.challenger), memory

    def record(self, left: int, right: int, left_wins: bool) -> None:
        super().record(left, right, left_wins)
        # duel until one of them has won as often as the number of the round
        self.wins["incumbent" if left_wins else "challenger"] += 1
        self.winner = next((who for who, n in self.wins.items() if n == self.round), None)
        if self.winner is not None:
            self.round += 1
            if self.variant == "btwr" and self.winner == "challenger":
                self.round = 1
            self.wins = dict.fromkeys(self.wins, 0)

    def after(self, memory: Ring, left: int, right: int, choices: Choices) -> Ring:
        if self.winner is None:
            return memory
        winner, loser = (left, right) if self.winner == "incumbent" else (right, left)
        return Ring(winner, None, memory.unseen, (*memory.queue, loser))


REPLAYS = {
    "beat-the-winner": (BeatTheWinner, {}, {}),
    "beat-the-winner, reset": (BeatTheWinner, {"variant": "btwr"}, {"variant": "btwr"}),
}
