"""SCOMP2, Algorithm 3 of "Batched Dueling Bandits" (ICML 2022)."""

from __future__ import annotations

from ..choices import Choices
from .rounds import Pair, Position, pairs_within
from .scomp import SCOMP


class SCOMP2(SCOMP):
    """A candidate from the seed set against the active set, then PCOMP.

    Args:
      *arguments: as of `SCOMP`.
      candidate: "redrawn" (any undefeated seed, in each round) or "kept" (that of the round before
        while it is undefeated).
      **params: as of `SCOMP`.
    """

    printed = (5, 3)  # lines 11 and 12: multiples of gamma_r

    def __init__(self, *arguments, candidate: str = "redrawn", **params):
        super().__init__(*arguments, **params)
        self.kept = candidate == "kept"

    def seeded(
        self,
        active: frozenset[int],
        seeds: frozenset[int],
        r: int,
        previous: int | None = None,
    ) -> Position:
        if not seeds:
            return self.call(active, r)
        if len(seeds) == 1:
            (only,) = seeds  # nothing to compare within S: no batch r(1)
            return Position(active, r, "r(2)", seeds, candidate=only)
        return Position(active, r, "r(1)", seeds, previous)

    def pairs(self, position: Position) -> set[Pair]:
        if position.stage == "r(1)":
            # 5: compare all pairs in S for c_r times
            return pairs_within(position.seeds)
        if position.stage == "r(2)":
            # 7: for all b_j in A, compare b_ir and b_j for c_r times
            i = position.candidate
            return {(min(i, j), max(i, j)) for j in position.active if j != i}
        return super().pairs(position)

    def after(self, position: Position, choices: Choices) -> Position:
        if position.stage == "pcomp":
            return super().after(position, choices)
        A, S, r = position.active, position.seeds, position.r
        gamma = self.gamma(r)

        if position.stage == "r(1)":
            # 6: candidate b_ir <- any bandit i in S with max_{j in S} p_ji <= 1/2 + gamma_r
            undefeated = [
                i
                for i in sorted(S)
                if not any(choices.greater(self.p(j, i), 0.5 + gamma) for j in sorted(S - {i}))
            ]
            if self.kept and position.candidate in undefeated:
                candidate = position.candidate
            else:
                candidate = choices.any_of(undefeated or sorted(S))
            return Position(A, r, "r(2)", S, candidate)

        i = position.candidate
        # 11: if exists b_j such that p_{j,ir} > 1/2 + 5 gamma_r
        if any(self.ahead(j, i, r, False, choices) for j in sorted(A - {i})):
            # 12: A' = {b_j in A | p_{j,ir} > 1/2 + 3 gamma_r}
            A = frozenset(j for j in sorted(A) if self.ahead(j, i, r, True, choices))
            # 13, 17: r' <- r, PCOMP(A', T - T', q, r'), without an elimination in this round
            return self.call(A, r)
        # 8-10: if b_j in A, p_{ir,j} > 1/2 + 5 gamma_r then b_j leaves A and S
        A = self.eliminate(A, frozenset({i}), 5 * gamma, choices)
        # 15: r <- r + 1
        return self.seeded(A, S & A, r + 1, previous=i if self.kept else None)
