"""Discounted UCB, Garivier and Moulines (ALT 2011)."""

from __future__ import annotations

import math

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

    def record(self, plan: int, outcome: float) -> None:
        super().record(plan, outcome)
        self.I.append(plan)
        self.X.append(float(outcome))

    def choose(self, memory: None, choices: Choices) -> tuple[int, None]:
        # for t from 1 to K, play I_t = t
        if self.used < self.K:
            return self.used, None
        played, rewards = np.array(self.I), np.array(self.X)
        # N_t(gamma, i) = sum over s <= t of gamma^(t - s) 1{I_s = i}
        discount = self.gamma ** np.arange(self.used - 1.0, -1.0, -1.0)
        number = [float(discount[played == i].sum()) for i in range(self.K)]
        # Xbar_t(gamma, i), c_t(gamma, i) = 2 B sqrt(xi log n_t(gamma) / N_t(gamma, i))
        mean = [float((discount * rewards)[played == i].sum()) / number[i] for i in range(self.K)]
        log = math.log(max(sum(number), 1.0))
        padding = [2 * self.B * math.sqrt(self.xi * log / n) for n in number]
        scale = max(*map(abs, mean), *padding)
        best = self.first_best(range(self.K), lambda i: mean[i] + padding[i], scale, choices)
        return best, None
