"""Discounted UCB, Garivier and Moulines (ALT 2011)."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..choices import Choices
from .loops import PullOracle


class DUCB(PullOracle):
    """The largest upper confidence bound, from discounted rewards. No memory.

    Args:
      num_arms: K.
      gamma: the discount factor.
      bound: B, of the rewards.
      xi: of the padding function.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        gamma: float,
        bound: float = 1.0,
        xi: float = 0.5,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.gamma, self.B, self.xi = gamma, bound, xi
        self.I: list[int] = []  # I_s, the arm played at time s
        self.X: list[float] = []  # X_s, its reward
        self.s: list[int] = []  # s, of a late reward the time at which it is known

    def record(self, plan: int, outcome: float) -> None:
        super().record(plan, outcome)
        self.remember(plan, 1, float(outcome))

    def learn(self, counts: Iterable[int], totals: Iterable[float]) -> None:
        counts, totals = list(counts), list(totals)
        super().learn(counts, totals)
        for i in range(self.K):
            self.remember(i, counts[i], totals[i])

    def remember(self, i: int, n: int, total: float) -> None:
        """n rewards of arm i that are known at time t; of late ones the sum alone is told."""
        self.I += [i] * n
        self.X += [total / n] * n if n else []
        self.s += [self.used] * n

    def choose(self, memory: None, choices: Choices) -> tuple[int, None]:
        # for t from 1 to K, play I_t = t; with delays in turn, until all are known
        unknown = [i for i in range(self.K) if i not in self.I]
        if unknown:
            return min(unknown, key=lambda i: self.late[i]), None
        t, played, rewards = self.used, np.array(self.I), np.array(self.X)
        # N_t(gamma, i) = sum over s <= t of gamma^(t - s) 1{I_s = i}
        discount = self.gamma ** (t - np.array(self.s, float))
        number = [float(discount[played == i].sum()) for i in range(self.K)]
        # n_t(gamma) = sum over i of N_t(gamma, i); with delays all pulls until t count
        n = sum(self.gamma**ago for ago in range(t))
        # Xbar_t(gamma, i), c_t(gamma, i) = 2 B sqrt(xi log n_t(gamma) / N_t(gamma, i))
        mean = [float((discount * rewards)[played == i].sum()) / number[i] for i in range(self.K)]
        padding = [2 * self.B * math.sqrt(self.xi * math.log(n) / N) for N in number]
        scale = max(*map(abs, mean), *padding)
        best = self.first_best(range(self.K), lambda i: mean[i] + padding[i], scale, choices)
        return best, None
