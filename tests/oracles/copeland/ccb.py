"""CCB, Algorithm 1 of "Copeland Dueling Bandits", Zoghi, Karnin, Whiteson, de Rijke (NIPS 2015)."""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..choices import Choices, every_outcome
from ..sequential import Pair, SequentialOracle


class Hypotheses(NamedTuple):
    """The memory: what line 9 keeps."""

    B: frozenset[int]
    opponents: tuple[frozenset[int], ...]  # B^i of each arm i
    L_C: int


class Bounds(NamedTuple):
    """Lines 6-7: what is asked about U and L at time t; the pairs (i, j), i != j."""

    optimistic: frozenset[Pair]  # u_ij >= 1/2
    pessimistic: frozenset[Pair]  # l_ij > 1/2
    upper: tuple[int, ...]  # the upper bound of each arm's Copeland score
    lower: tuple[int, ...]


def heads(numerator: int, denominator: int, choices: Choices) -> bool:
    """An event of this probability; both answers unless the run is real."""
    if choices.rng is not None:
        return bool(choices.rng.integers(denominator) < numerator)
    return choices.any_of([True, False])


class CCB(SequentialOracle):
    """Copeland confidence bound.

    The subsets kept by line 9C are hidden in the comparisons. All of them are followed, unless
    `know` says which ones there are.

    Args:
      num_arms: K.
      alpha: the exploration rate, > 1/2.
      rng: see `Oracle`.
    """

    def __init__(self, num_arms: int, alpha: float = 0.51, rng: np.random.Generator | None = None):
        super().__init__(num_arms, rng)
        self.alpha = alpha
        self.memories = [self.reset()]
        self._settled: list[tuple[Bounds, Hypotheses]] | None = None

    def reset(self) -> Hypotheses:
        """2-4: B = all arms, B^i = {}, L_C = K."""
        return Hypotheses(frozenset(range(self.K)), (frozenset(),) * self.K, self.K)

    def bounds(self, i: int, j: int) -> tuple[float, float, float]:
        """6: u_ij and l_ij, x/0 := 1 in both fractions, u_ii = l_ii = 1/2; and w_ij / n_ij."""
        if i == j:
            return 0.5, 0.5, 0.5
        n = self.N[i, j]
        if n == 0:
            return 2.0, 0.0, 1.0
        mean, radius = self.W[i, j] / n, math.sqrt(self.alpha * math.log(self.t) / n)
        return mean + radius, mean - radius, mean

    def compare(self, choices: Choices) -> Bounds:
        """6-7. No bound of a pair that was compared equals 1/2: for t > 1 they are irrational."""
        optimistic, pessimistic = set(), set()
        for i in range(self.K):
            for j in range(self.K):
                u, l, scale = self.bounds(i, j)  # noqa: E741 (the paper's name)
                if i != j and choices.at_least(u, 0.5, scale=scale):
                    optimistic.add((i, j))
                if i != j and choices.greater(l, 0.5, scale=scale):
                    pessimistic.add((i, j))
        upper = tuple(sum(i == a for i, _ in optimistic) for a in range(self.K))
        lower = tuple(sum(i == a for i, _ in pessimistic) for a in range(self.K))
        return Bounds(frozenset(optimistic), frozenset(pessimistic), upper, lower)

    # ---- line 9 -------------------------------------------------------------------------------

    def line9(self, memory: Hypotheses, bounds: Bounds, choices: Choices) -> Hypotheses:
        """9: B_t, B_t^i and L_C from those of t - 1."""
        arms = range(self.K)
        B, opponents, L_C = memory.B, list(memory.opponents), memory.L_C
        # 9A: if l_ij > 1/2 for some j in B^i: reset
        if any((i, j) in bounds.pessimistic for i in arms for j in opponents[i]):
            B, L_C, opponents = frozenset(arms), self.K, [frozenset[int]()] * self.K
        # 9B: each i in B with upper_i < lower_j for some j leaves B, ...
        worse = [i for i in sorted(B) if bounds.upper[i] < max(bounds.lower)]
        B = B - set(worse)
        for i in worse:
            # ... and if |B^i| != L_C + 1: B^i := {k : u_ik < 1/2}
            if len(opponents[i]) != L_C + 1:
                opponents[i] = frozenset(
                    k for k in arms if k != i and (i, k) not in bounds.optimistic
                )
        # 9B: if B is empty: reset
        if not B:
            B, L_C, opponents = frozenset(arms), self.K, [frozenset[int]()] * self.K
        # 9C: for each i in C_t with upper_i = lower_i
        for i in self.candidates(bounds):
            if bounds.upper[i] == bounds.lower[i]:
                # B := B + i, B^i := {}, L_C := K - 1 - upper_i
                B, L_C = B | {i}, self.K - 1 - bounds.upper[i]
                opponents[i] = frozenset()
                for j in arms:
                    if j == i:
                        continue
                    if len(opponents[j]) < L_C + 1:
                        # |B^j| < L_C + 1: B^j := {}
                        opponents[j] = frozenset()
                    elif len(opponents[j]) > L_C + 1:
                        # |B^j| > L_C + 1: keep L_C + 1 elements, chosen at random
                        subsets = combinations(sorted(opponents[j]), L_C + 1)
                        opponents[j] = frozenset(choices.any_of(subsets))
        return Hypotheses(B, tuple(opponents), L_C)

    def candidates(self, bounds: Bounds) -> list[int]:
        """8: C_t, the arms of the largest upper bound."""
        return [i for i in range(self.K) if bounds.upper[i] == max(bounds.upper)]

    def _line9_outcomes(self) -> list[tuple[Bounds, Hypotheses]]:
        if self._settled is None:
            found: dict[tuple[Bounds, Hypotheses], None] = {}
            for bounds in every_outcome(self.compare, self.rng):
                for memory in self.memories:
                    for after in every_outcome(
                        lambda x, m=memory, b=bounds: self.line9(m, b, x), self.rng
                    ):
                        found[bounds, after] = None
            self._settled = list(found)
        return self._settled

    def hypotheses(self) -> set[Hypotheses]:
        """Every B_t, B_t^i and L_C that line 9 may have at time t, before the comparison."""
        return {memory for _, memory in self._line9_outcomes()}

    def know(self, hypotheses: Hypotheses) -> None:
        """Says what line 9 came to at time t: goes on with this one only.

        Call it before `allowed` and `play` of time t.
        """
        assert hypotheses in self.hypotheses(), f"{hypotheses} was not allowed at t = {self.t}"
        self._settled = [x for x in self._line9_outcomes() if x[1] == hypotheses]
        self._allowed = None

    # ---- lines 10-14 --------------------------------------------------------------------------

    def pair(self, memory: Hypotheses, bounds: Bounds, choices: Choices) -> Pair:
        """10-14: the comparison, once line 9 is done."""
        arms = range(self.K)
        # 10: with probability 1/4 a pair of {(i, j) : j in B^i, l_ij <= 1/2 <= u_ij}, if any
        open_pairs = [
            (i, j)
            for i in arms
            for j in sorted(memory.opponents[i])
            if (i, j) not in bounds.pessimistic and (i, j) in bounds.optimistic
        ]
        if open_pairs and heads(1, 4, choices):
            return choices.any_of(open_pairs)
        # 11: if B and C_t meet, with probability 2/3 C_t := B intersected with C_t
        C = self.candidates(bounds)
        both = [i for i in C if i in memory.B]
        if both and heads(2, 3, choices):
            C = both
        # 12: c uniform in C_t
        c = choices.any_of(C)
        # 13: with probability 1/2 d is chosen in B^c, else among all arms; always l_dc <= 1/2
        eligible = [j for j in arms if (j, c) not in bounds.pessimistic]
        favoured = [j for j in eligible if j in memory.opponents[c]]
        among = favoured if favoured and heads(1, 2, choices) else eligible
        # 13: d = argmax u_jc; d != c among true ties, which float32 may not see
        ties = choices.largest(among, lambda j: self.bounds(j, c)[0])
        if self.rng is not None and len(ties) > 1:
            ties = [j for j in ties if j != c]
        # 14: compare c and d
        return (c, choices.any_of(ties))

    def _choices(self) -> list[tuple[Pair, Hypotheses]]:
        if self._allowed is None:
            found: dict[tuple[Pair, Hypotheses], None] = {}
            for bounds, memory in self._line9_outcomes():
                for pair in every_outcome(
                    lambda x, m=memory, b=bounds: self.pair(m, b, x), self.rng
                ):
                    found[pair, memory] = None
            self._allowed = list(found)
        return self._allowed

    def play(self, left: int, right: int, left_wins: bool) -> None:
        """Goes on with the comparison that was really made."""
        super().play(left, right, left_wins)
        self._settled = None
