"""SCOMP, Algorithm 2 of "Batched Dueling Bandits" (ICML 2022)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .batched import Pair, Position
from .choices import Choices
from .pcomp import PCOMP


class SCOMP(PCOMP):
    """A seed set against the active set, then PCOMP.

    Args:
      num_arms: K.
      horizon: T.
      num_batches: B.
      seeds: (K,) bool, the seed set S as sampled in line 3, not empty.
      **params: see `BatchedOracle`.
    """

    def __init__(
        self, num_arms: int, horizon: int, num_batches: int, seeds: Sequence[bool], **params
    ):
        super().__init__(num_arms, horizon, num_batches, **params)
        # 2-3: active bandits A <- B, r <- 1, S as sampled
        A = frozenset(range(num_arms))
        S = frozenset(int(i) for i in np.flatnonzero(seeds))
        assert S, "the seed set must not be empty"
        self.positions = [self.seeded(A, S, 1)]

    def seeded(self, active: frozenset[int], seeds: frozenset[int], r: int) -> Position:
        """Where round r of the first phase begins; without seeds PCOMP takes over."""
        if not seeds:
            return Position(active, r, "pcomp")
        return Position(active, r, "scomp", seeds)

    def pairs(self, position: Position) -> set[Pair]:
        if position.stage == "pcomp":
            return super().pairs(position)
        # 5: for all (b_i, b_j) in S x A, compare b_i and b_j for c_r times (each pair once)
        A, S = position.active, position.seeds
        return {(min(i, j), max(i, j)) for i in S for j in A if i != j}

    def after(self, position: Position, choices: Choices) -> Position:
        if position.stage == "pcomp":
            return super().after(position, choices)
        A, S, r = position.active, position.seeds, position.r
        gamma = self.gamma(r)

        # 9: if exists b_j such that p_ji > 1/2 + 3 gamma_r for all b_i in S
        switch = False
        for j in sorted(A):
            if all(choices.greater(self.p(j, i), 0.5 + 3 * gamma) for i in sorted(S)):
                switch = True
                break
        if switch:
            # 10: A' = {b_j in A | p_ji > 1/2 + gamma_r for all b_i in S}
            A = frozenset(
                j
                for j in sorted(A)
                if all(choices.greater(self.p(j, i), 0.5 + gamma) for i in sorted(S))
            )
            # 11, 15: r' <- r, PCOMP(A', T - T', q, r'), without an elimination in this round
            return Position(A, r, "pcomp")

        # 6-8: if exists b_i in S, b_j in A, p_ij > 1/2 + 3 gamma_r then b_j leaves A and S
        A = self.eliminate(A, S, 3 * gamma, choices)
        # 13: r <- r + 1
        return self.seeded(A, S & A, r + 1)
