"""SCOMP, Algorithm 2 of "Batched Dueling Bandits" (ICML 2022)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..choices import Choices
from .pcomp import PCOMP
from .rounds import Pair, Position


class SCOMP(PCOMP):
    """A seed set against the active set, then PCOMP.

    Args:
      num_arms: K.
      horizon: T.
      num_batches: B.
      seeds: (K,) bool, the seed set S as sampled in line 3, not empty.
      switch: "hoeffding" (the printed lines) or "elimination" (section 3.2: an arm that eliminates
        the seeds, by the criterion in use).
      width: A' has the arms ahead by more than this share of what makes the switch: of the margin,
        or of the root of the kl evidence. None: the printed share.
      **params: see `BatchedOracle`.
    """

    printed = (3, 1)  # lines 9 and 10: multiples of gamma_r

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        num_batches: int,
        seeds: Sequence[bool],
        switch: str = "hoeffding",
        width: float | None = None,
        **params,
    ):
        super().__init__(num_arms, horizon, num_batches, **params)
        self.by_kl = switch == "elimination" and self.elimination != "hoeffding"
        self.width = width
        # 2-3: active bandits A <- B, r <- 1, S as sampled
        A = frozenset(range(num_arms))
        S = frozenset(int(i) for i in np.flatnonzero(seeds))
        assert S, "the seed set must not be empty"
        self.positions = [self.seeded(A, S, 1)]

    def seeded(self, active: frozenset[int], seeds: frozenset[int], r: int) -> Position:
        """Where round r of the first phase begins; without seeds PCOMP takes over."""
        if not seeds:
            return self.call(active, r)
        return Position(active, r, "scomp", seeds)

    def call(self, active: frozenset[int], r: int) -> Position:
        """PCOMP(A', T - T', q, r'): its line 2 has K = |A'| and the T that it is given."""
        return Position(active, r, "pcomp", called=(len(active), max(1, self.T - self.used)))

    def ahead(self, j: int, i: int, r: int, join: bool, choices: Choices) -> bool:
        """b_j is ahead of b_i by what makes the switch, or by what is needed to join A'."""
        switching, joining = self.printed
        share = joining / switching if self.width is None else self.width
        if not join:
            share = 1.0
        if self.by_kl:
            return self.kl_loses(i, j, share**2 * self.threshold(), choices)
        return choices.greater(self.p(j, i), 0.5 + share * switching * self.gamma(r))

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
            if all(self.ahead(j, i, r, False, choices) for i in sorted(S)):
                switch = True
                break
        if switch:
            # 10: A' = {b_j in A | p_ji > 1/2 + gamma_r for all b_i in S}
            A = frozenset(
                j for j in sorted(A) if all(self.ahead(j, i, r, True, choices) for i in sorted(S))
            )
            # 11, 15: r' <- r, PCOMP(A', T - T', q, r'), without an elimination in this round
            return self.call(A, r)

        # 6-8: if exists b_i in S, b_j in A, p_ij > 1/2 + 3 gamma_r then b_j leaves A and S
        A = self.eliminate(A, S, 3 * gamma, choices)
        # 13: r <- r + 1
        return self.seeded(A, S & A, r + 1)
