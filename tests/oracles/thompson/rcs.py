"""Relative Confidence Sampling, Zoghi, Whiteson, de Rijke and Munos (WSDM 2014)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle
from .dts import posterior_sample


class RCS(SequentialOracle):
    """Relative confidence sampling. The memory is how often each arm was champion.

    The samples are fed by `allowed`, or drawn there where `rng` is given.

    Args:
      num_arms: K.
      alpha: the exploration rate of the upper confidence bounds.
      count: which champions are counted: "always" or, as in the program of RCS's first author,
        only those of the "fallback".
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        alpha: float = 0.51,
        count: Literal["always", "fallback"] = "always",
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.alpha, self.count = alpha, count
        self.theta1: np.ndarray | None = None
        self.memories = [(0,) * num_arms]

    def allowed(self, theta1: np.ndarray | None = None) -> set[Pair]:
        """Every pair that may be compared next, given the samples.

        Args:
          theta1: (K, K), theta1[i, j] + theta1[j, i] = 1, only compared with 1/2.
        """
        if theta1 is not None:
            self.theta1 = np.asarray(theta1)
            self._allowed = None
        elif self.rng is not None and self._allowed is None:
            self.theta1 = posterior_sample(self.W, self.rng)
        return super().allowed()

    def u(self, j: int, c: int) -> float:
        """u_jc = mu_jc + sqrt(alpha ln t / n_jc), x/0 := 1; u_cc = 1/2."""
        if j == c:
            return 0.5
        n = self.N[j, c]
        if n == 0:
            return 2.0
        return self.W[j, c] / n + math.sqrt(self.alpha * math.log(self.t) / n)

    def choose(self, memory: tuple[int, ...], choices: Choices) -> tuple[Pair, tuple[int, ...]]:
        theta1, arms = self.theta1, range(self.K)
        assert theta1 is not None, "no samples were given"
        champions = [c for c in arms if all(theta1[c, j] > 0.5 for j in arms if j != c)]
        if champions:
            # if some c has theta_cj > 1/2 for all j, it is the champion
            (c,) = champions
        else:
            # else the arm that was champion least often, ties at random
            c = choices.any_of([i for i in arms if memory[i] == min(memory)])
        if self.count == "always" or not champions:
            memory = tuple(n + (i == c) for i, n in enumerate(memory))
        # d = argmax_j u_jc, ties at random; compare c and d
        d = choices.any_of(choices.largest(arms, lambda j: self.u(j, c)))
        return (c, d), memory
