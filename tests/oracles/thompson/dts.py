"""Double Thompson Sampling, Wu and Liu (NeurIPS 2016): D-TS, D-TS+ and pure D-TS."""

from __future__ import annotations

import math

import numpy as np

from ..choices import EXACT, TOLERANCE, Choices
from ..sequential import Pair, SequentialOracle


def posterior_sample(wins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """7-10: theta_ij ~ Beta(B_ij + 1, B_ji + 1), i < j; theta_ji = 1 - theta_ij, theta_ii = 1/2."""
    upper = np.triu(rng.beta(wins + 1, wins.T + 1), 1)
    return upper + np.tril(1 - upper.T, -1) + np.diag(np.full(len(wins), 0.5))


def divergence_from_half(theta: float) -> float:
    """D(theta || 1/2), precise also where theta is close to 1/2."""
    x = 2 * theta - 1
    return sum(0.5 * (1 + y) * math.log1p(y) for y in (x, -x) if y > -1)


class DTS(SequentialOracle):
    """Algorithm 1. No memory: only B, the time and the samples matter.

    The samples are fed by `allowed`, or drawn there where `rng` is given.

    Args:
      num_arms: K.
      alpha: the exploration rate of the confidence bounds.
      self_duels: whether an arm may meet itself; else `choose` follows the Prompt Duel Optimizer.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        alpha: float = 0.51,
        self_duels: bool = True,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.alpha, self.self_duels = alpha, self_duels
        self.theta1: np.ndarray | None = None
        self.theta2: np.ndarray | None = None

    def allowed(
        self, theta1: np.ndarray | None = None, theta2: np.ndarray | None = None
    ) -> set[Pair]:
        """Every pair that may be compared next, given the samples.

        Args:
          theta1: (K, K), samples of the first phase, theta1[i, j] + theta1[j, i] = 1; D-TS only
            asks which ones exceed 1/2.
          theta2: (K, K), theta2[i, a] the second sample of theta_ia if a is the first candidate.
        """
        if theta1 is not None and theta2 is not None:
            self.theta1, self.theta2 = np.asarray(theta1), np.asarray(theta2)
            self._allowed = None
        elif self.rng is not None and self._allowed is None:
            self.theta1 = posterior_sample(self.W, self.rng)
            self.theta2 = posterior_sample(self.W, self.rng)
        return super().allowed()

    def bounds(self, i: int, j: int) -> tuple[float, float, float]:
        """4: u_ij and l_ij, x/0 := 1 in both fractions; and B_ij / N_ij, their scale."""
        n = self.N[i, j]
        if n == 0:
            return 2.0, 0.0, 1.0
        mean, radius = self.W[i, j] / n, math.sqrt(self.alpha * math.log(self.t) / n)
        return mean + radius, mean - radius, mean

    def candidates(self, choices: Choices) -> list[int]:
        """4-6: C, the arms of the largest upper bound of the Copeland score."""
        zeta = [0] * self.K
        for i in range(self.K):
            for j in range(self.K):
                if j != i:
                    u, _, scale = self.bounds(i, j)
                    # 5: u_ij > 1/2
                    zeta[i] += choices.greater(u, 0.5, scale=scale)
        return [i for i in range(self.K) if zeta[i] == max(zeta)]

    def eligible(self, first: int, choices: Choices) -> list[int]:
        """14: the arms i with l_i,first <= 1/2, `first` among them since l_ii = 1/2."""
        found = [first]
        for i in range(self.K):
            if i != first:
                _, l, scale = self.bounds(i, first)  # noqa: E741 (the paper's name)
                if choices.at_least(0.5, l, scale=scale):
                    found.append(i)
        return found

    def votes(self, theta1: np.ndarray) -> list[int]:
        """Of each arm i, the number of j != i with theta1_ij > 1/2."""
        arms = range(self.K)
        return [sum(bool(theta1[i, j] > 0.5) for j in arms if j != i) for i in arms]

    def first_of_tied(
        self, tied: list[int], C: list[int], theta1: np.ndarray, choices: Choices
    ) -> int:
        """11: ties of the votes are broken at random."""
        return choices.any_of(tied)

    def choose(self, memory: None, choices: Choices) -> tuple[Pair, None]:
        theta1, theta2 = self.theta1, self.theta2
        assert theta1 is not None, "no samples were given"
        assert theta2 is not None, "no samples were given"
        C = self.candidates(choices)
        # 11: a1 = argmax_C of the votes
        votes = self.votes(theta1)
        most = max(votes[i] for i in C)
        first = self.first_of_tied([i for i in C if votes[i] == most], C, theta1, choices)
        # 13: theta2_i,a1, and 1/2 for a1 itself; 14: a2 = argmax of the eligible ones
        sample = {i: 0.5 if i == first else float(theta2[i, first]) for i in range(self.K)}
        eligible = self.eligible(first, choices)
        if not self.self_duels:
            # k != first with l_k,first <= 1/2; if there are none, all k != first
            others = [k for k in range(self.K) if k != first]
            eligible = [k for k in others if k in eligible] or others
        top = max(sample[i] for i in eligible)
        second = choices.any_of([i for i in eligible if sample[i] == top])
        # 16: compare (a1, a2)
        return (first, second), None


class DTSPlus(DTS):
    """D-TS+, section 4.3: ties of the votes go to the least estimated regret.

    Args:
      num_arms: K.
      alpha: the exploration rate of the confidence bounds.
      over_candidates: take the maximal Copeland score over C, as the authors' program does,
        instead of over all arms.
      self_duels: as in `DTS`.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        alpha: float = 0.51,
        over_candidates: bool = False,
        self_duels: bool = True,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, alpha, self_duels, rng)
        self.over_candidates = over_candidates

    def first_of_tied(
        self, tied: list[int], C: list[int], theta1: np.ndarray, choices: Choices
    ) -> int:
        if len(tied) == 1:
            return tied[0]
        # zeta_i = votes / (K - 1), zeta* = max zeta
        zeta = [v / (self.K - 1) for v in self.votes(theta1)]
        best = max(zeta[i] for i in (C if self.over_candidates else range(self.K)))
        # R_i = sum over j != i, theta_ij != 1/2, of (zeta* - (zeta_i + zeta_j) / 2) / D(theta_ij)
        terms = {
            i: [
                (best - (zeta[i] + zeta[j]) / 2) / divergence_from_half(float(theta1[i, j]))
                for j in range(self.K)
                if j != i and theta1[i, j] != 0.5
            ]
            for i in tied
        }
        # a1 = argmin R_i; ties at random, as in D-TS
        R, size = ({i: sum(map(f, terms[i])) for i in tied} for f in (float, abs))
        least = min(tied, key=lambda i: R[i])
        slack = TOLERANCE if choices.rng is None else EXACT
        return choices.any_of(
            [i for i in tied if R[i] - R[least] <= slack * (size[i] + size[least])]
        )


class PureDTS(DTS):
    """Pure D-TS, appendix D.2.4: without the confidence bounds of lines 4-6 and 14."""

    def candidates(self, choices: Choices) -> list[int]:
        return list(range(self.K))

    def eligible(self, first: int, choices: Choices) -> list[int]:
        return list(range(self.K))
