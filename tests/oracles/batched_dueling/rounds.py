"""What PCOMP, SCOMP and SCOMP2 share: batch sizes, confidence radii, elimination, book-keeping.

Source: Agarwal, Ghuge and Nagarajan, "Batched Dueling Bandits" (ICML 2022), Algorithms 1 to 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..choices import Choices, every_outcome
from ..divergence import kl_half

Elimination = Literal["kl", "kl-safe", "kl-log-horizon", "hoeffding"]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Position:
    """Where an algorithm stands between two batches, apart from the counts.

    Attributes:
      active: the set A.
      r: index of the round whose c_r comes next.
      stage: "pcomp", "scomp", "r(1)" or "r(2)": which batch comes next.
      seeds: the set S; empty in the stage "pcomp".
      candidate: the arm i_r of SCOMP2: of this round in the stage "r(2)", of the round before in
        "r(1)".
      called: K and T that PCOMP was called with after a switch (line 2 of Algorithm 1).
    """

    active: frozenset[int]
    r: int
    stage: str
    seeds: frozenset[int] = frozenset()
    candidate: int | None = None
    called: tuple[int, int] | None = None


def floor_power(horizon: int, r: int, num_batches: int) -> int:
    """max(1, floor(T^(r/B))), exactly: the largest c with c^B <= T^r."""
    common = math.gcd(r, num_batches)
    numerator, denominator = r // common, num_batches // common
    real = math.exp(numerator / denominator * math.log(horizon))
    c = round(real)
    if abs(real - c) > 1e-9 * real:
        return max(1, math.floor(real))
    if c**denominator > horizon**numerator:
        c -= 1
    return max(1, c)


def pairs_within(arms: frozenset[int]) -> set[Pair]:
    """All unordered pairs of different arms, as (i, j) with i < j."""
    return {(i, j) for i in arms for j in arms if i < j}


class BatchedOracle:
    """The loop around the three algorithms.

    A subclass says which pairs a batch compares (`pairs`) and what follows from it (`after`).

    Args:
      num_arms: K.
      horizon: T, the total number of comparisons.
      num_batches: B.
      elimination: "kl" (the experiments: N_ij D(p_ij, 1/2) > 2 log K on all data so far), "kl-safe"
        (> log(T K^2)), "kl-log-horizon" (> log T), or "hoeffding" (the theory: the round's own data
        and gamma_r).
      threshold: another right-hand side for the kl tests.
      rng: take random choices for real instead of keeping all of them in view.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        num_batches: int,
        elimination: Elimination = "kl",
        threshold: float | None = None,
        rng: np.random.Generator | None = None,
    ):
        self.K, self.T, self.B = num_arms, horizon, num_batches
        self.elimination = elimination
        self.rng = rng
        self.given_threshold = threshold
        # N_ij and wins, cumulative over all rounds and phases.
        self.N = np.zeros((self.K, self.K), dtype=np.int64)
        self.W = np.zeros((self.K, self.K), dtype=np.int64)
        # Those of the batch that was played last.
        self.round_N = np.zeros_like(self.N)
        self.round_W = np.zeros_like(self.W)
        self.used = 0
        self.rounds = 0
        self.positions: list[Position] = []

    # ---- what a subclass adds -----------------------------------------------------------------

    def pairs(self, position: Position) -> set[Pair]:
        """The pairs, each as (i, j) with i < j, that the next batch compares c_r times."""
        raise NotImplementedError

    def after(self, position: Position, choices: Choices) -> Position:
        """Where the algorithm stands once it has seen the batch's outcome."""
        raise NotImplementedError

    # ---- the paper's symbols ------------------------------------------------------------------

    def c(self, r: int) -> int:
        """c_r = floor(q^r), q = T^(1/B), at least 1."""
        return floor_power(self.T, r, self.B)

    def threshold(self, called: tuple[int, int] | None = None) -> float:
        """The right-hand side of the kl tests, with the K and T of line 2."""
        K, T = called or (self.K, self.T)
        if self.given_threshold is not None:
            return self.given_threshold
        if self.elimination == "kl":
            return 2 * math.log(K)
        if self.elimination == "kl-safe":
            return math.log(T * K**2)
        return math.log(T)

    def gamma(self, r: int, called: tuple[int, int] | None = None) -> float:
        """gamma_r = sqrt(log(1/delta) / (2 c_r)), delta with the K and T of line 2.

        The experiments drop the union over rounds (6 B).
        """
        K, T = called or (self.K, self.T)
        log_inverse_delta = math.log(T * K**2)
        if self.elimination == "hoeffding":
            log_inverse_delta += math.log(6 * self.B)
        return math.sqrt(log_inverse_delta / (2 * self.c(r)))

    def p(self, i: int, j: int) -> float:
        """The estimate of p_ij from the last batch alone (the paper's Eq. 1), 1/2 without data."""
        n = self.round_N[i, j]
        return 0.5 if i == j or n == 0 else float(self.round_W[i, j] / n)

    # ---- elimination --------------------------------------------------------------------------

    def kl_loses(self, i: int, j: int, threshold: float, choices: Choices) -> bool:
        """p_ij < 1/2 and N_ij D(p_ij, 1/2) > threshold, on all data."""
        n = int(self.N[i, j])
        if 2 * self.W[i, j] >= n:
            return False
        return choices.greater(n * kl_half(self.W[i, j] / n), threshold)

    def eliminate(
        self,
        active: frozenset[int],
        judges: frozenset[int],
        margin: float,
        choices: Choices,
        called: tuple[int, int] | None = None,
    ) -> frozenset[int]:
        """A after the elimination lines (5-7 of Algorithm 1, 6-8 of 2, 8-10 of 3), all at once.

        Args:
          active: A.
          judges: who may eliminate under "hoeffding" (A, S or the candidate).
          margin: under "hoeffding", j goes if p_ij > 1/2 + margin for a judge i.
          choices: of this run.
          called: K and T of line 2, if not those of the run.

        Returns:
          What is left of A; all of A where nothing would be left.
        """
        gone = set()
        for j in sorted(active):
            if self.elimination == "hoeffding":
                others = sorted(judges - {j})
                beaten = any(choices.greater(self.p(i, j), 0.5 + margin) for i in others)
            else:
                bar, others = self.threshold(called), sorted(active - {j})
                beaten = any(self.kl_loses(j, i, bar, choices) for i in others)
            if beaten:
                gone.add(j)
        left = active - gone
        return left if left else active

    # ---- playing ------------------------------------------------------------------------------

    def batch(self, position: Position) -> np.ndarray:
        """The count matrix of the next batch, truncated so that the total is T."""
        counts = np.zeros((self.K, self.K), dtype=np.int64)
        left = self.T - self.used
        if len(position.active) == 1:
            (arm,) = position.active
            counts[arm, arm] = left
            return counts
        c = self.c(position.r)
        for i, j in sorted(self.pairs(position)):
            counts[i, j] = min(c, left)
            left -= counts[i, j]
        return counts

    def plan(self) -> list[np.ndarray]:
        """All (K, K) count matrices that the next batch may be; zeros after T comparisons."""
        plans: list[np.ndarray] = []
        for position in self.positions:
            counts = self.batch(position)
            if not any(np.array_equal(counts, other) for other in plans):
                plans.append(counts)
        return plans

    def play(self, counts: np.ndarray, wins: np.ndarray) -> None:
        """Goes on with the batch that was really played.

        Args:
          counts: (K, K), one of `plan()`.
          wins: (K, K), wins of i over j in this batch, zero on the diagonal.
        """
        counts = np.array(counts, dtype=np.int64)
        possible = [x for x in self.positions if np.array_equal(self.batch(x), counts)]
        assert possible, "this batch was not allowed"
        if counts.sum() == 0:
            return
        off_diagonal = counts - np.diag(np.diag(counts))
        self.round_N = off_diagonal + off_diagonal.T
        self.round_W = np.array(wins, dtype=np.int64)
        assert np.array_equal(self.round_W + self.round_W.T, self.round_N), "wins do not add up"
        self.N += self.round_N
        self.W += self.round_W
        self.used += int(counts.sum())
        self.rounds += 1
        if self.used == self.T:
            return  # nothing follows
        following: dict[Position, None] = {}
        for position in possible:
            for after in every_outcome(lambda x, at=position: self.after(at, x), self.rng):
                following[after] = None
        self.positions = list(following)
