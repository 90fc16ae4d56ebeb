"""Sliding-window UCB, Garivier and Moulines (ALT 2011)."""

from __future__ import annotations

import math

import numpy as np

from ..choices import Choices
from .loops import PullOracle


class SWUCB(PullOracle):
    """The largest upper confidence bound, from the last tau plays. No memory.

    Args:
      num_arms: K.
      tau: the window.
      bound: B, of the rewards.
      xi: of the padding function.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        tau: int,
        bound: float = 1.0,
        xi: float = 0.5,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.tau, self.B, self.xi = tau, bound, xi
        self.I: list[int] = []  # I_s, the arm played at time s
        self.X: list[float] = []  # X_s, its reward

    def record(self, plan: int, outcome: float) -> None:
        super().record(plan, outcome)
        self.I.append(plan)
        self.X.append(float(outcome))

    def choose(self, memory: None, choices: Choices) -> tuple[int, None]:
        t = len(self.I)
        last = range(max(t - self.tau, 0), t)
        # N_t(tau, i) = sum over s in (t - tau, t] of 1{I_s = i}
        number = [sum(self.I[s] == i for s in last) for i in range(self.K)]
        # for t from 1 to K, play I_t = t; an arm without plays has an infinite bound later, too
        if 0 in number:
            return number.index(0), None
        # Xbar_t(tau, i), c_t(tau, i) = B sqrt(xi log(min(t, tau)) / N_t(tau, i))
        mean = [math.fsum(self.X[s] for s in last if self.I[s] == i) for i in range(self.K)]
        mean = [total / n for total, n in zip(mean, number, strict=True)]
        padding = [self.B * math.sqrt(self.xi * math.log(min(t, self.tau)) / n) for n in number]
        scale = max(*map(abs, mean), *padding)
        best = self.first_best(range(self.K), lambda i: mean[i] + padding[i], scale, choices)
        return best, None
