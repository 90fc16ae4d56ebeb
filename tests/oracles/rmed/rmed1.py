"""RMED1, Algorithm 1 of Komiyama, Honda, Kashima and Nakagawa (COLT 2015)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..choices import Choices
from ..divergence import kl_half
from ..sequential import Pair, SequentialOracle


class Loop(NamedTuple):
    """The memory: the lists, and which arm of L_C comes next."""

    L_C: tuple[int, ...]  # in index order
    L_R: frozenset[int]
    L_N: frozenset[int]
    position: int


class RMED1(SequentialOracle):
    """Relative minimum empirical divergence.

    Args:
      num_arms: K.
      f: f(K); 0.3 K^1.01 if None.
      rng: see `Oracle`.
    """

    def __init__(
        self, num_arms: int, f: float | None = None, rng: np.random.Generator | None = None
    ):
        super().__init__(num_arms, rng)
        self.f = 0.3 * num_arms**1.01 if f is None else f
        # Initial phase: all pairs once, in lexicographic order.
        self.initial = [(i, j) for i in range(num_arms) for j in range(i + 1, num_arms)]
        # L_C, L_R <- [K], L_N <- {}
        arms = range(num_arms)
        self.memories = [Loop(tuple(arms), frozenset(arms), frozenset(), 0)]

    def mu(self, i: int, j: int) -> float:
        """mu_ij = w_ij / n_ij, 1/2 without data."""
        return 0.5 if self.N[i, j] == 0 else float(self.W[i, j] / self.N[i, j])

    def O(self, i: int) -> list[int]:  # noqa: E743 (the paper's name)
        """O_i = {j != i : mu_ij <= 1/2}, in integers."""
        return [j for j in range(self.K) if j != i and 2 * self.W[i, j] <= self.N[i, j]]

    def I(self, i: int) -> float:  # noqa: E743 (the paper's name)
        """I_i = sum over O_i of n_ij d(mu_ij, 1/2)."""
        return float(sum(self.N[i, j] * kl_half(self.mu(i, j)) for j in self.O(i)))

    def choose(self, memory: Loop, choices: Choices) -> tuple[Pair, Loop]:
        if self.t <= len(self.initial):
            return self.initial[self.t - 1], memory
        # for l in L_C (fixed order):
        l = memory.L_C[memory.position]  # noqa: E741 (the paper's name)
        # i* = argmin_i I_i: the lowest index; float sums that nearly tie may come in another order
        best = choices.first_of(choices.smallest(range(self.K), self.I))
        # m = i* if i* in O_l or O_l empty, else argmin_{j != l} mu_lj
        O = self.O(l)  # noqa: E741
        if best in O or not O:
            return (l, best), memory
        others = [j for j in range(self.K) if j != l]
        return (l, choices.any_of(choices.smallest(others, lambda j: self.mu(l, j)))), memory

    def after(self, memory: Loop, left: int, right: int, choices: Choices) -> Loop:
        if self.t <= len(self.initial):
            return memory  # no update of the lists in the initial phase
        L_C, L_R, L_N, position = memory
        # L_R <- L_R \ {l}
        L_R = L_R - {left}
        # L_N <- L_N + {j not in L_R : J_j},  J_j: I_j - I* <= log t + f(K)
        divergence = [self.I(j) for j in range(self.K)]
        bound = math.log(self.t) + self.f
        for j in range(self.K):
            if j not in L_R and j not in L_N:
                excess = divergence[j] - min(divergence)
                if choices.at_least(bound, excess, scale=divergence[j]):
                    L_N = L_N | {j}
        if position + 1 < len(L_C):
            return Loop(L_C, L_R, L_N, position + 1)
        # L_C, L_R <- L_N, L_N <- {}
        return Loop(tuple(sorted(L_N)), L_N, frozenset(), 0)


REPLAYS = {"rmed1": (RMED1, {}, {})}
