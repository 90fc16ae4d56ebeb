"""SCOMP2, Algorithm 3 of "Batched Dueling Bandits" (ICML 2022)."""

from __future__ import annotations

from .batched import Pair, Position, pairs_within
from .choices import Choices
from .scomp import SCOMP


class SCOMP2(SCOMP):
    """A candidate from the seed set against the active set, then PCOMP. Arguments as of `SCOMP`."""

    def seeded(self, active: frozenset[int], seeds: frozenset[int], r: int) -> Position:
        if not seeds:
            return Position(active, r, "pcomp")
        if len(seeds) == 1:
            (only,) = seeds  # nothing to compare within S: no batch r(1)
            return Position(active, r, "r(2)", seeds, candidate=only)
        return Position(active, r, "r(1)", seeds)

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
            candidate = choices.any_of(undefeated or sorted(S))
            return Position(A, r, "r(2)", S, candidate)

        i = position.candidate
        # 11: if exists b_j such that p_{j,ir} > 1/2 + 5 gamma_r
        if any(choices.greater(self.p(j, i), 0.5 + 5 * gamma) for j in sorted(A - {i})):
            # 12: A' = {b_j in A | p_{j,ir} > 1/2 + 3 gamma_r}
            A = frozenset(j for j in sorted(A) if choices.greater(self.p(j, i), 0.5 + 3 * gamma))
            # 13, 17: r' <- r, PCOMP(A', T - T', q, r'), without an elimination in this round
            return Position(A, r, "pcomp")
        # 8-10: if b_j in A, p_{ir,j} > 1/2 + 5 gamma_r then b_j leaves A and S
        A = self.eliminate(A, frozenset({i}), 5 * gamma, choices)
        # 15: r <- r + 1
        return self.seeded(A, S & A, r + 1)
