"""PBR for the Copeland winner, Busa-Fekete, Szorenyi, Weng, Cheng and Huellermeier (ICML 2013).

Preference-based racing with k = 1, as the experiments of Zoghi et al. (NIPS 2015) use it: for a
finite horizon, then the winner plays itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class Race(NamedTuple):
    """The memory."""

    active: tuple[Pair, ...]  # in lexicographic order, i < j
    position: int  # of the next pair of the round in `active`
    sure: frozenset[Pair]  # the (i, j) with l_ij > 1/2, which is u_ji < 1/2
    winner: int  # the arm that is played against itself; -1 before that


class PBR(SequentialOracle):
    """Preference-based racing.

    Args:
      num_arms: K.
      horizon: T; delta = 1/T.
      max_samples: n_max; T if None.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        max_samples: int | None = None,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        n_max = horizon if max_samples is None else max_samples
        # log(2 K^2 n_max / delta)
        self.log_inverse = math.log(2 * num_arms**2 * n_max * horizon)
        pairs = tuple((i, j) for i in range(num_arms) for j in range(i + 1, num_arms))
        self.memories = [Race(pairs, 0, frozenset(), -1)]

    def c(self, n: int) -> float:
        """c_ij = sqrt(log(2 K^2 n_max / delta) / (2 n_ij))."""
        return math.sqrt(self.log_inverse / (2 * n))

    def surely_first(self, sure: frozenset[Pair]) -> list[int]:
        """The arms i with K - 1 - z_j < w_i for at least K - 1 arms j != i."""
        K, w, z = self.K, self.w(sure), self.z(sure)
        return [
            i for i in range(K) if sum(K - 1 - z[j] < w[i] for j in range(K) if j != i) >= K - 1
        ]

    def surely_out(self, sure: frozenset[Pair]) -> list[int]:
        """The arms i with w_j > K - 1 - z_i for at least one arm j != i."""
        K, w, z = self.K, self.w(sure), self.z(sure)
        return [i for i in range(K) if sum(w[j] > K - 1 - z[i] for j in range(K) if j != i) >= 1]

    def w(self, sure: frozenset[Pair]) -> list[int]:
        """w_i = #{j : l_ij > 1/2}."""
        return [sum(i == a for i, _ in sure) for a in range(self.K)]

    def z(self, sure: frozenset[Pair]) -> list[int]:
        """z_i = #{j : u_ij < 1/2}."""
        return [sum(j == a for _, j in sure) for a in range(self.K)]

    def choose(self, memory: Race, choices: Choices) -> tuple[Pair, Race]:
        if memory.winner >= 0:
            return (memory.winner, memory.winner), memory
        # A round: every active pair once.
        return memory.active[memory.position], memory

    def after(self, memory: Race, left: int, right: int, choices: Choices) -> Race:
        active, position, sure, winner = memory
        if winner >= 0:
            return memory
        if position + 1 < len(active):
            return memory._replace(position=position + 1)
        # The round is over: which intervals of active pairs exclude 1/2. Those of inactive pairs
        # stay as they are, since no pair that is inactive is compared again.
        for i, j in active:
            n = int(self.N[i, j])
            gap = self.W[i, j] / n - 0.5
            if choices.greater(abs(gap), self.c(n), scale=1.0):
                sure = sure | {(i, j) if gap > 0 else (j, i)}
        # A pair is inactive if both arms are decided, or if its interval excludes 1/2.
        first = self.surely_first(sure)
        decided = set(first) | set(self.surely_out(sure))
        active = tuple(
            (i, j) for i, j in active if not ({i, j} <= decided or {(i, j), (j, i)} & sure)
        )
        # Stop when an arm is surely first, or when no pair is active: the arm of the largest w_i.
        if first:
            (winner,) = first
        elif not active:
            w = self.w(sure)
            winner = w.index(max(w))
        return Race(active, 0, sure, winner)
