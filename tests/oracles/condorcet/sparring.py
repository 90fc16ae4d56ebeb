"""Sparring, Ailon, Karnin and Joachims (ICML 2014), with two UCB machines."""

from __future__ import annotations

import math

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


def select(
    plays: np.ndarray,
    rewards: np.ndarray,
    n: int,
    exploration: float,
    unplayed: float,
    choices: Choices,
) -> int:
    """The arm of the largest index of a UCB machine, the lowest one among ties.

    The index is mean + sqrt(exploration log n / N_k), or `unplayed` if N_k = 0. Arms of equal
    records have equal indices in any arithmetic, so only the first of them is allowed.
    """

    def index(k: int) -> float:
        if plays[k] == 0:
            return unplayed
        return rewards[k] / plays[k] + math.sqrt(exploration * math.log(n) / plays[k])

    if math.isinf(unplayed) and not plays.all():
        return int(np.argmin(plays > 0))
    first: dict[Pair, int] = {}
    for k in choices.largest(range(len(plays)), index):
        first.setdefault((int(plays[k]), int(rewards[k])), k)
    return choices.first_of(list(first.values()))


class Sparring(SequentialOracle):
    """A left and a right machine, each rewarded if its arm wins. No memory beyond their records.

    Args:
      num_arms: K.
      exploration: factor of log n / N_k in the index.
      unplayed: index of an arm never played: infinite for each arm once, in index order, first;
        1 in the program of Wu and Liu.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        exploration: float = 2.5,
        unplayed: float = math.inf,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.exploration, self.unplayed = exploration, unplayed
        # Rows: the left and the right machine.
        self.plays = np.zeros((2, num_arms), dtype=np.int64)
        self.rewards = np.zeros((2, num_arms), dtype=np.int64)

    def choose(self, memory: None, choices: Choices) -> tuple[Pair, None]:
        left, right = (
            # n: the machine's own number of plays
            select(plays, rewards, plays.sum(), self.exploration, self.unplayed, choices)
            for plays, rewards in zip(self.plays, self.rewards, strict=True)
        )
        return (left, right), None

    def record(self, left: int, right: int, left_wins: bool) -> None:
        # the winner's side gets 1, the loser's 0, also where both chose the same arm
        self.plays[0, left] += 1
        self.plays[1, right] += 1
        self.rewards[0, left] += left_wins
        self.rewards[1, right] += not left_wins


REPLAYS = {
    "sparring": (Sparring, {}, {}),
    "sparring, unplayed 1": (Sparring, {"unplayed": 1.0}, {"unplayed": 1.0}),
}
