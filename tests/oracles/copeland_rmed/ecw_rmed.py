"""ECW-RMED, Algorithm 1 of Komiyama, Honda and Nakagawa (ICML 2016), and what CW-RMED shares."""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..choices import Choices
from ..divergence import kl_half
from ..sequential import Pair, SequentialOracle
from .covering import (
    CoveringProgram,
    Family,
    Tournament,
    efficient_families,
    families,
    regret,
    tournament,
    unordered,
)


class Lists(NamedTuple):
    """The memory: the lists of pairs (i, j), i >= j, and what comes next."""

    L_C: tuple[Pair, ...]  # in the order (0, 0), (1, 0), (1, 1), (2, 0), ...
    L_R: frozenset[Pair]
    L_N: frozenset[Pair]
    position: int  # in L_C
    forced: tuple[Pair, ...] | None  # what line 4 draws; None: line 4 comes next


class ECWRMED(SequentialOracle):
    """Efficient Copeland winners relative minimum empirical divergence.

    The optimum of line 11 may have many solutions. `allowed` and `play` follow all those of the
    form of Theorem 5; `play` takes the list L_N from outside, too, and then checks with a linear
    program that it comes from some solution, of any form.

    Args:
      num_arms: K.
      alpha: every pair is compared alpha sqrt(log t) times.
      beta: pairs closer to 1/2 than beta / log log t are compared once more.
      line4: "retest": line 4 comes before every comparison. "pass": before every pass, and all
        that it finds is drawn once.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        alpha: float = 3.0,
        beta: float = 0.01,
        line4: str = "retest",
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.alpha, self.beta, self.line4 = alpha, beta, line4
        self.pairs = [(i, j) for i in range(num_arms) for j in range(i)]
        # 2: L_C, L_R <- all pairs i > j, L_N <- {}
        everything = tuple(self.pairs)
        self.memories = [Lists(everything, frozenset(everything), frozenset(), 0, None)]
        self.listed: frozenset[Pair] | None = None

    # ---- estimates ----------------------------------------------------------------------------

    def mu(self, i: int, j: int) -> float:
        """mu_ij = w_ij / n_ij, 0/0 = 1/2."""
        return 0.5 if self.N[i, j] == 0 else float(self.W[i, j] / self.N[i, j])

    def game(self) -> Tournament:
        """The empirical superiors and inferiors."""
        return tournament(self.W)

    def evidence(self) -> dict[Pair, float]:
        """x_ij = N_ij d(mu_ij, 1/2) / log t of the pairs with mu_ij != 1/2."""
        log_t = max(math.log(self.t), 1e-9)
        x = {(i, j): float(self.N[i, j]) * kl_half(self.mu(i, j)) for i, j in self.pairs}
        return {p: y / log_t for p, y in x.items() if 2 * self.W[p] != self.N[p]}

    def costs(self) -> dict[Pair, float]:
        """c_ij = r_ij / d(mu_ij, 1/2) of the pairs with mu_ij != 1/2."""
        game = self.game()
        return {p: regret(game, *p) / kl_half(self.mu(*p)) for p in self.evidence()}

    # ---- the optimum of line 11 ---------------------------------------------------------------

    def families(self, i1: int) -> tuple[Family, ...]:
        """The conditions on the evidence if i1 is to be the winner."""
        return efficient_families(self.game(), i1)

    def program(self, i1: int) -> CoveringProgram:
        """The program whose solutions are allowed for i1."""
        return CoveringProgram(self.families(i1), self.costs())

    def value(self, i1: int) -> float:
        """C_i1^E*, by Theorem 5."""
        cost = self.costs()
        return sum(cost[p] * e for p, e in self.solution(i1, Choices()).items())

    def solution(self, i1: int, choices: Choices) -> dict[Pair, float]:
        """An optimal e_p = q_p d_p, by Theorem 5; 0 for the pairs that are left out."""
        game, cost = self.game(), self.costs()
        L = game.losses
        # (4): q_i1,j = 1 / d for all j in I_i1
        e = {unordered(i1, j): 1.0 for j in game.inferiors[i1]}
        for i2 in range(self.K):
            S = sorted(unordered(i2, j) for j in game.superiors[i2] - {i1})
            need = L[i2] - L[i1] + 1
            if i2 == i1 or len(S) < need:
                continue
            # (7): e = 1 / (h - k) on the h > k cheapest pairs, for the best h. The cheapest of
            # all sets of h pairs is one of these.
            k = len(S) - need
            price = {
                x: sum(cost[p] for p in x) / (h - k)
                for h in range(k + 1, len(S) + 1)
                for x in combinations(S, h)
            }
            best = choices.any_of(choices.smallest(price, price.__getitem__))
            e |= dict.fromkeys(best, 1 / (len(best) - k))
        return e

    # ---- Algorithm 1 --------------------------------------------------------------------------

    def unsettled(self, i: int, j: int, choices: Choices) -> bool:
        """4: N_ij < alpha sqrt(log t) or |mu_ij - 1/2| < beta / log log t, both logs >= 1."""
        log_t = math.log(self.t)
        gap, bound = abs(self.mu(i, j) - 0.5), self.beta / max(1.0, math.log(max(1.0, log_t)))
        if bound > 0 and choices.greater(bound, gap, scale=0.5):
            return True
        return log_t > 0 and choices.greater(self.alpha * math.sqrt(log_t), float(self.N[i, j]))

    def choose(self, memory: Lists, choices: Choices) -> tuple[Pair, Lists]:
        # 4: draw an unsettled pair; or all, once each, and which ones is asked once per pass
        if memory.forced is None:
            forced = tuple(p for p in self.pairs if self.unsettled(*p, choices))
            memory = memory._replace(forced=forced)
        if memory.forced:
            return memory.forced[0], memory
        # 5-6: for p in L_C in a fixed order: draw p
        return memory.L_C[memory.position], memory

    def confident(self, i1: int, choices: Choices) -> bool:
        """8: (3) for i1. Evidence above 1 is not held against it."""
        x = self.evidence()
        sums = [sum(x[p] for p in family) for family in families(self.game(), i1)]
        return not sums or choices.at_least(min(sums), 1.0)

    def cheapest(self, winners: list[int], choices: Choices) -> int:
        """11: i* = argmin C_i1 over the empirical winners, the lowest index among ties."""
        values = {i: self.value(i) for i in winners}
        if min(values.values()) < 1e-12:
            return next(i for i in winners if values[i] < 1e-12)
        return choices.first_of(choices.smallest(winners, lambda i: values[i]))

    def candidates(self, i1: int, choices: Choices) -> frozenset[Pair]:
        """11: the pairs with q_p > N_p / log t, of one solution."""
        e, x = self.solution(i1, choices), self.evidence()
        return frozenset(p for p in sorted(e) if choices.greater(e[p], x[p]))

    def next_list(self, memory: Lists, L_R: frozenset[Pair], choices: Choices) -> Family | None:
        """7-15: L_N; None where what is known of it cannot be."""
        winners = self.game().winners
        sure = next((i for i in winners if self.confident(i, choices)), None)
        # 9 and 12: L_NC <- (i*, i*)
        best = self.cheapest(winners, choices) if sure is None else sure
        itself = frozenset([(best, best)])
        if sure is not None:
            L_N = memory.L_N | (itself - L_R)
            return L_N if self.listed in (None, L_N) else None
        # 11: L_NC <- {p : q_p > N_p / log t}; 15: L_N <- L_N and what of L_NC is not in L_R
        if self.listed is None:
            return memory.L_N | ((self.candidates(best, choices) | itself) - L_R)
        first = memory.L_N | ((self.candidates(best, Choices()) | itself) - L_R)
        return self.listed if self.listed == first or self.possible(best, memory, L_R) else None

    def possible(self, best: int, memory: Lists, L_R: frozenset[Pair]) -> bool:
        """Whether some solution for i* = `best` gives the list that was told."""
        assert self.listed is not None
        new = self.listed - memory.L_N
        itself = frozenset([(best, best)])
        evidence = self.evidence()
        if memory.L_N - self.listed or self.listed & L_R or itself - L_R - self.listed:
            return False
        if not new - itself <= set(evidence):
            return False
        hidden = L_R | memory.L_N  # of these nothing is seen
        return self.program(best).admits(
            least={p: x for p, x in evidence.items() if p in new},
            most={p: x for p, x in evidence.items() if p not in new and p not in hidden},
        )

    def after(self, memory: Lists, left: int, right: int, choices: Choices) -> Lists | None:
        if memory.forced:
            if self.listed not in (None, memory.L_N):
                return None
            left_over = None if self.line4 == "retest" else memory.forced[1:]
            return memory._replace(forced=left_over)
        # 14: L_R <- L_R \ {p}
        L_R = memory.L_R - {(left, right)}
        L_N = self.next_list(memory, L_R, choices)
        if L_N is None:
            return None
        if memory.position + 1 < len(memory.L_C):
            forced = None if self.line4 == "retest" else ()
            return Lists(memory.L_C, L_R, L_N, memory.position + 1, forced)
        # 18: L_C, L_R <- L_N, L_N <- {}
        return Lists(tuple(sorted(L_N)), L_N, frozenset(), 0, None)

    def play(
        self, left: int, right: int, left_wins: bool, listed: frozenset[Pair] | None = None
    ) -> None:
        """Goes on with the comparison that was really made.

        Args:
          left: the left arm.
          right: the right arm.
          left_wins: the outcome.
          listed: L_N after line 15 of this comparison, before line 18, if it is known: pairs
            (i, j) with i >= j. The same as before where line 4 has drawn.
        """
        self.listed = listed
        super().play(left, right, left_wins)
        self.memories = [memory for memory in self.memories if memory is not None]
        assert self.memories, f"L_N = {sorted(listed or ())} was not allowed at t = {self.t - 1}"
