"""RUCB, Algorithm 1 of "Relative Upper Confidence Bound", Zoghi et al. (ICML 2014)."""

from __future__ import annotations

import math

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class RUCB(SequentialOracle):
    """Relative upper confidence bound. The memory is the set B, of at most one arm.

    Args:
      num_arms: K.
      alpha: the exploration rate, > 1/2.
      unseen: u_ij of a pair never compared: 2 where both fractions x/0 are 1, as the paper has it.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        alpha: float = 0.51,
        unseen: float = 2.0,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.alpha, self.unseen = alpha, unseen
        self.memories = [frozenset()]  # 2: B = {}

    def u(self, i: int, j: int) -> float:
        """4: u_ij = w_ij / n_ij + sqrt(alpha ln t / n_ij), x/0 := 1; 5: u_ii = 1/2."""
        if i == j:
            return 0.5
        n = self.N[i, j]
        if n == 0:
            return self.unseen
        return self.W[i, j] / n + math.sqrt(self.alpha * math.log(self.t) / n)

    def choose(self, memory: frozenset[int], choices: Choices) -> tuple[Pair, frozenset[int]]:
        arms, B = range(self.K), memory
        # 6: C = {c : u_cj >= 1/2 for all j}
        C = frozenset(
            c for c in arms if all(choices.at_least(self.u(c, j), 0.5) for j in arms if j != c)
        )
        # 8: B <- B intersected with C
        B = B & C
        if not C:
            # 7: if C is empty, c uniform in [K]
            c = choices.any_of(arms)
        elif len(C) == 1:
            # 9: if |C| = 1, B <- C and c its element
            B = C
            (c,) = C
        else:
            # 10: if |C| > 1, c in B with probability 1/2, else uniform in C \ B
            use_B = bool(B) and choices.any_of([True, False])
            c = choices.any_of(sorted(B if use_B else C - B))
        # 11: d = argmax_j u_jc, ties at random; d != c among true ties, c if the others are below
        ties = choices.largest(arms, lambda j: self.u(j, c))
        if self.rng is not None and len(ties) > 1:
            ties = [j for j in ties if j != c]
        d = choices.any_of(ties)
        # 12: compare c and d
        return (c, d), B


REPLAYS = {
    "rucb": (RUCB, {}, {}),
    "rucb, unseen 1": (RUCB, {"unseen": 1.0, "alpha": 0.7}, {"unseen": 1.0, "alpha": 0.7}),
}
