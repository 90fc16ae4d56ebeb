"""Sliding-window UCB, Garivier and Moulines (ALT 2011)."""

from __future__ import annotations

import math
from collections.abc import Iterable

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
        self.X: list[float | None] = []  # X_s, its reward; None while it is withheld

    def record(self, plan: int, outcome: float) -> None:
        super().record(plan, outcome)
        self.I.append(plan)
        self.X.append(float(outcome))

    def make(self, plan: int) -> None:
        super().make(plan)
        self.I.append(plan)
        self.X.append(None)

    def learn(self, counts: Iterable[int], totals: Iterable[float]) -> None:
        counts, totals = list(counts), list(totals)
        super().learn(counts, totals)
        for s, (i, x) in enumerate(zip(self.I, self.X, strict=True)):
            if x is None:  # which of the late rewards is which is not said
                self.X[s] = totals[i] / counts[i]

    def choose(self, memory: None, choices: Choices) -> tuple[int, None]:
        t = len(self.I)
        last = range(max(t - self.tau, 0), t)
        # N_t(tau, i) = sum over s in (t - tau, t] of 1{I_s = i}
        played = [[self.X[s] for s in last if self.I[s] == i] for i in range(self.K)]
        known = [[x for x in rewards if x is not None] for rewards in played]
        number = list(map(len, known))
        # for t from 1 to K, play I_t = t; an arm without plays has an infinite bound later, too;
        # with delays such arms are played in turn
        if 0 in number:
            unknown = [i for i in range(self.K) if number[i] == 0]
            return min(unknown, key=lambda i: len(played[i])), None
        # Xbar_t(tau, i), c_t(tau, i) = B sqrt(xi log(min(t, tau)) / N_t(tau, i))
        mean = [math.fsum(known[i]) / number[i] for i in range(self.K)]
        padding = [self.B * math.sqrt(self.xi * math.log(min(t, self.tau)) / n) for n in number]
        scale = max(*map(abs, mean), *padding)
        best = self.first_best(range(self.K), lambda i: mean[i] + padding[i], scale, choices)
        return best, None
