"""Thompson sampling with Gaussian priors, Agrawal and Goyal (J. ACM 2017), given the normals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..choices import Choices
from .loops import PullOracle


class ThompsonGaussian(PullOracle):
    """The largest posterior sample. No memory.

    The normals are fed by `allowed_given`.

    Args:
      num_arms: K.
      std: the standard deviation of the rewards.
      prior_mean: of the prior of each arm's mean.
      prior_std: of the prior of each arm's mean. With the defaults the posterior is
        N(S_i / (n_i + 1), 1 / (n_i + 1)), as in the paper.
      rng: see `Oracle`; the normals are drawn from it where none are given.
    """

    def __init__(
        self,
        num_arms: int,
        std: float = 1.0,
        prior_mean: float = 0.0,
        prior_std: float = 1.0,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.std, self.prior_mean, self.prior_std = std, prior_mean, prior_std
        self.z: Sequence[float] | None = None

    def posterior(self, i: int) -> tuple[float, float]:
        """Mean and standard deviation of mu_i given its rewards: the conjugate normal."""
        precision = 1 / self.prior_std**2 + self.N[i] / self.std**2
        mean = (self.prior_mean / self.prior_std**2 + self.S[i] / self.std**2) / precision
        return mean, 1 / math.sqrt(precision)

    def allowed_given(self, z: Sequence[float]) -> set[int]:
        """Every arm that may be pulled next, z_i being the standard normal of arm i."""
        self.z, self._allowed = z, None
        return self.allowed()

    def choose(self, memory: None, choices: Choices) -> tuple[int, None]:
        arms = range(self.K)
        z = self.z
        if self.rng is not None:
            z = self.rng.standard_normal(self.K)
        assert z is not None, "no normals were given"
        # for each arm i, sample theta_i independently from the posterior
        posterior = [self.posterior(i) for i in arms]
        theta = [mean + std * float(z[i]) for i, (mean, std) in enumerate(posterior)]
        # play arm argmax_i theta_i
        sizes = [abs(mean) + std * abs(z[i]) for i, (mean, std) in enumerate(posterior)]
        sizes += [self.peak[i] / self.N[i] for i in arms if self.N[i] > 0]
        return self.first_best(arms, lambda i: theta[i], float(max(sizes)), choices), None
