"""RMED2 and RMED2FH of Komiyama, Honda, Kashima and Nakagawa (COLT 2015)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..choices import Choices
from ..divergence import kl_half
from ..sequential import Pair, SequentialOracle
from .rmed1 import RMED1, Loop


class Progress(NamedTuple):
    """The memory: that of RMED1, and what RMED2 adds."""

    loop: Loop
    forced: bool = False  # the comparison just chosen is one of the exploration
    best: int = -1  # RMED2FH: i* when the initial phase ended
    fixed: tuple[tuple[int, int], ...] = ()  # RMED2FH: (i, b_i) for those i that needed it so far


class RMED2(SequentialOracle):
    """RMED1 with exploration of every pair and cheaper opponents.

    Args:
      num_arms: K.
      f: f(K); 0.3 K^1.01 if None.
      alpha: every pair is compared alpha log log t times.
      floor: least estimated regret in the choice of the opponent.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        f: float | None = None,
        alpha: float = 3.0,
        floor: float = 0.01,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.alpha, self.floor = alpha, floor
        # RMED1 of the same counts: mu, O, I and the lists
        self.rmed1 = RMED1(num_arms, f, rng)
        self.rmed1.N, self.rmed1.W = self.N, self.W
        self.memories = [Progress(self.rmed1.memories[0])]

    @staticmethod
    def loglog(t: int) -> float:
        """log log t, which the authors write log(log t + 0.01)."""
        return math.log(math.log(t) + 0.01)

    def need(self, choices: Choices) -> int:
        """The least number n >= 1 that is not below alpha log log t."""
        threshold = self.alpha * self.loglog(self.t)
        n = max(1, round(threshold))
        return n + choices.greater(threshold, n)

    def opponent(self, arm: int, best: int, choices: Choices) -> int:
        """b_l = argmin_{j != l} (Delta_i*l + Delta_i*j) / d+(mu_lj, 1/2); -1 if all are infinite.

        A negative numerator, the estimated regret, counts as `floor`.
        """
        mu = self.rmed1.mu

        def ratio(j: int) -> float:
            regret = mu(best, arm) - 0.5 + mu(best, j) - 0.5
            return max(regret, self.floor) / kl_half(mu(arm, j))

        # d+ = 0 unless mu_lj < 1/2
        finite = [j for j in range(self.K) if j != arm and 2 * self.W[arm, j] < self.N[arm, j]]
        return choices.any_of(choices.smallest(finite, ratio)) if finite else -1

    def b(self, arm: int, best: int, memory: Progress, choices: Choices) -> tuple[int, Progress]:
        """b_l, from the counts of now."""
        return self.opponent(arm, best, choices), memory

    def choose(self, memory: Progress, choices: Choices) -> tuple[Pair, Progress]:
        # while some pair has n_ij < alpha log log t: compare it
        need = self.need(choices)
        for i in range(self.K):
            for j in range(i + 1, self.K):
                if self.N[i, j] < need:
                    return (i, j), memory._replace(forced=True)
        # for l in L_C (fixed order):
        l = memory.loop.L_C[memory.loop.position]  # noqa: E741 (the paper's name)
        best = choices.first_of(choices.smallest(range(self.K), self.rmed1.I))
        O = self.rmed1.O(l)  # noqa: E741
        b, memory = self.b(l, best, memory, choices)
        # if b_l in O_l and (i* not in O_l or n_l,i* > n_l,b_l / log log t): m = b_l
        if b in O:
            enough = float(self.N[l, b] / self.loglog(self.t))
            if best not in O or choices.greater(float(self.N[l, best]), enough):
                return (l, b), memory
        # else as in RMED1: m = i* if i* in O_l or O_l empty, else argmin_{j != l} mu_lj
        if best in O or not O:
            return (l, best), memory
        others = [j for j in range(self.K) if j != l]
        return (l, choices.any_of(choices.smallest(others, lambda j: self.rmed1.mu(l, j)))), memory

    def after(self, memory: Progress, left: int, right: int, choices: Choices) -> Progress:
        if memory.forced:
            return memory._replace(forced=False)  # the lists stay as they are
        self.rmed1.t = self.t
        return memory._replace(loop=self.rmed1.after(memory.loop, left, right, choices))


class RMED2FH(RMED2):
    """RMED2 for a known horizon: all the exploration comes first, then opponents stay the same.

    Args:
      num_arms: K.
      horizon: T.
      f: f(K); 0.3 K^1.01 if None.
      alpha: every pair is compared ceil(alpha log log T) times first.
      floor: least estimated regret in the choice of the opponent.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        f: float | None = None,
        alpha: float = 3.0,
        floor: float = 0.01,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, f, alpha, floor, rng)
        self.L = max(1, math.ceil(alpha * self.loglog(horizon)))
        self.explored: RMED2 | None = None  # with the counts at the end of the initial phase

    def need(self, choices: Choices) -> int:
        """L = ceil(alpha log log T)."""
        return self.L

    def b(self, arm: int, best: int, memory: Progress, choices: Choices) -> tuple[int, Progress]:
        """b_l, from the counts and i* at the end of the initial phase."""
        if self.explored is None:  # the first comparison after the initial phase
            self.explored = RMED2(self.K, alpha=self.alpha, floor=self.floor)
            self.explored.N[:], self.explored.W[:] = self.N, self.W
        if memory.best < 0:
            memory = memory._replace(best=best)
        fixed = dict(memory.fixed)
        if arm not in fixed:
            fixed[arm] = self.explored.opponent(arm, memory.best, choices)
            memory = memory._replace(fixed=tuple(sorted(fixed.items())))
        return fixed[arm], memory


REPLAYS = {
    "rmed2": (RMED2, {}, {}),
    "rmed2fh": (RMED2FH, {"horizon": 200}, {"horizon": 200}),
    "rmed2fh, long": (RMED2FH, {"horizon": 10**6}, {"horizon": 10**6}),
}
