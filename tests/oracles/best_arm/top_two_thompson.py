"""Top-two Thompson sampling, Russo (COLT 2016), and T3C, Shang, de Heide, Menard, Kaufmann and
Valko, "Fixed-confidence guarantees for Bayesian best-arm identification" (AISTATS 2020), given the
coin and the normals; Gaussian arms, the flat prior."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arms.loops import PullOracle
from ..choices import TOLERANCE, Choices


class TopTwoThompson(PullOracle):
    """The leader, or a challenger. No memory.

    Args:
      num_arms: K.
      std: the standard deviation of the rewards.
      beta: the chance of the leader.
      challenger: "resampled" (TTTS) or "transport" (T3C).
      rng: see `Oracle`; coins and normals are drawn from it where none are given.
    """

    def __init__(
        self,
        num_arms: int,
        std: float = 1.0,
        beta: float = 0.5,
        challenger: str = "resampled",
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.std, self.beta, self.kind = std, beta, challenger
        self.coin: float | None = None
        self.draws: Sequence[Sequence[float]] = ()

    def allowed_given(self, coin: float, draws: Sequence[Sequence[float]]) -> set[int]:
        """Every arm that may be pulled next.

        Args:
          coin: a uniform number; the leader is pulled if it is below beta.
          draws: the standard normals of all arms, for the leader and then for one resampling after
            another; any other arm may be the challenger where they do not say which.
        """
        self.coin, self.draws, self._allowed = coin, draws, None
        return self.allowed()

    def largest(self, z: Sequence[float], choices: Choices) -> int:
        """argmax_i theta_i, theta_i from the posterior N(S_i / n_i, std^2 / n_i)."""
        theta = [self.mean(i) + self.std / math.sqrt(self.N[i]) * z[i] for i in range(self.K)]
        sizes = [self.std / math.sqrt(self.N[i]) * abs(z[i]) for i in range(self.K)]
        scale = max(self.scale(range(self.K)), *sizes)
        return self.first_best(range(self.K), lambda i: theta[i], scale, choices)

    def cost(self, i: int, j: int, error: float) -> float:
        """W(i, j), the transport cost, 0 if the mean of j is not below that of i; `error` is added
        to the distance of their means."""
        apart = max(self.mean(i) - self.mean(j) + error, 0)
        return apart**2 / (2 * self.std**2 * (1 / self.N[i] + 1 / self.N[j]))

    def cheapest(self, i: int, others: Sequence[int]) -> list[int]:
        """argmin_j W(i, j), the first on ties; all that float32 may take for it."""
        error = TOLERANCE * self.scale(range(self.K))
        least = {j: self.cost(i, j, -error) for j in others}
        most = {j: self.cost(i, j, error) * (1 + TOLERANCE) for j in others}
        free = next((j for j in others if most[j] == 0), self.K)
        return [j for j in others if j <= free and least[j] <= min(most.values())]

    def rarity(self, leader: int) -> float:
        """The sum of phi(d) / d over other arms: about the chance that one exceeds the leader."""
        total = 0.0
        for j in range(self.K):
            if j != leader:
                apart = self.std * math.sqrt(1 / self.N[leader] + 1 / self.N[j])
                d = max((self.mean(leader) - self.mean(j)) / apart, 0.1)
                total += math.exp(-(d**2) / 2) / (d * math.sqrt(2 * math.pi))
        return total

    def choose(self, memory: None, choices: Choices) -> tuple[int, None]:
        # the flat prior needs a reward of each arm
        if 0 in self.N:
            return self.used % self.K, None
        coin, draws = self.coin, self.draws
        if self.rng is not None:
            coin = float(self.rng.random())
            draws = self.rng.standard_normal((10_000, self.K)).tolist()
        assert coin is not None, "no coin was given"
        # sample theta from the posterior; I = argmax theta
        leader = self.largest(draws[0], choices)
        # with probability beta play I
        if coin < self.beta:
            return leader, None
        others = [j for j in range(self.K) if j != leader]
        if self.kind == "transport":
            # T3C: J = argmin_j W(I, j)
            return choices.any_of(self.cheapest(leader, others)), None
        # TTTS: repeat sample theta until J = argmax theta is not I
        if self.rng is None and choices.greater(1, self.rarity(leader), 10):
            # the law of J is drawn from in another way
            return choices.any_of(others), None
        for z in draws[1:]:
            challenger = self.largest(z, choices)
            if challenger != leader:
                return challenger, None
        return choices.any_of(others), None
