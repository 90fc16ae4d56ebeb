"""PCOMP, Algorithm 1 of "Batched Dueling Bandits" (ICML 2022)."""

from __future__ import annotations

from ..choices import Choices
from .rounds import BatchedOracle, Pair, Position, pairs_within


class PCOMP(BatchedOracle):
    """All pairs of the active set, round after round.

    SCOMP and SCOMP2 inherit from it the rounds that they play after they have called it.
    """

    def __init__(self, num_arms: int, horizon: int, num_batches: int, **params):
        super().__init__(num_arms, horizon, num_batches, **params)
        # 2: active bandits A <- B, r <- 1
        self.positions = [Position(frozenset(range(num_arms)), 1, "pcomp")]

    def pairs(self, position: Position) -> set[Pair]:
        # 4: for all (b_i, b_j) in A^2, perform c_r comparisons
        return pairs_within(position.active)

    def after(self, position: Position, choices: Choices) -> Position:
        A, r, called = position.active, position.r, position.called
        # 5-7: if exists b_i, b_j such that p_ij > 1/2 + gamma_r then A <- A \ {b_j}
        A = self.eliminate(A, A, self.gamma(r, called), choices, called)
        # 8: r <- r + 1
        return Position(A, r + 1, "pcomp", called=called)
