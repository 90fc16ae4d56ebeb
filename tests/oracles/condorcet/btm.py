"""Beat the Mean, Yue and Joachims (ICML 2011), in its online version (N = infinity)."""

from __future__ import annotations

import math

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class BTM(SequentialOracle):
    """Beat the mean. The memory is the working set W.

    Args:
      num_arms: K.
      horizon: T.
      gamma: the relaxation of strong stochastic transitivity, >= 1.
      scale: factor of the confidence radius; the paper has 3.
      self_comparisons: whether b' may be b.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        gamma: float = 1.3,
        scale: float = 3.0,
        self_comparisons: bool = True,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.gamma, self.scale, self.self_comparisons = gamma, scale, self_comparisons
        self.log_inverse_delta = math.log(2 * horizon * num_arms)  # delta = 1 / (2 T K)
        # Records of b against b': only b's, so not symmetric.
        self.compared = np.zeros((num_arms, num_arms), dtype=np.int64)
        self.won = np.zeros((num_arms, num_arms), dtype=np.int64)
        self.memories = [frozenset(range(num_arms))]  # W <- [K]

    def record(self, left: int, right: int, left_wins: bool) -> None:
        # if b wins w_b++; n_b++; b' gets no record
        self.compared[left, right] += 1
        self.won[left, right] += left_wins

    def n(self, b: int, working: frozenset[int]) -> int:
        """n_b; comparisons with arms that were removed since do not count."""
        return sum(int(self.compared[b, other]) for other in working)

    def P(self, b: int, working: frozenset[int]) -> float:
        """P_b = w_b / n_b, 1/2 without data."""
        n = self.n(b, working)
        return 0.5 if n == 0 else sum(int(self.won[b, other]) for other in working) / n

    def c(self, n: int) -> float:
        """c(n) = scale gamma^2 sqrt(log(1/delta) / n), 1 if n = 0."""
        if n == 0:
            return 1.0
        return self.scale * self.gamma**2 * math.sqrt(self.log_inverse_delta / n)

    def choose(self, memory: frozenset[int], choices: Choices) -> tuple[Pair, frozenset[int]]:
        W = memory
        if len(W) == 1:
            (a,) = W
            return (a, a), W  # play it against itself
        # b = argmin_W n_b, ties at random (integers: no doubt)
        fewest = min(self.n(b, W) for b in W)
        b = choices.any_of([b for b in sorted(W) if self.n(b, W) == fewest])
        # b' uniform in W
        opponents = W if self.self_comparisons else W - {b}
        return (b, choices.any_of(sorted(opponents))), W

    def after(
        self, memory: frozenset[int], left: int, right: int, choices: Choices
    ) -> frozenset[int]:
        W = memory
        if len(W) == 1:
            return W
        # n* = min_b n_b, c* = c(n*)
        c = self.c(min(self.n(b, W) for b in W))
        scores = [self.P(b, W) for b in W]
        # if min P + c* <= max P - c*
        if choices.at_least(max(scores) - c, min(scores) + c, scale=1 + c):
            # b' = argmin P; remove it from W, and from the others' records (see `n` and `P`)
            return W - {choices.any_of(choices.smallest(sorted(W), lambda b: self.P(b, W)))}
        return W


FAST = {"gamma": 1.0, "scale": 0.25}
"""A radius small enough for arms to go within a short history."""
REPLAYS = {
    "btm": (BTM, FAST, {"horizon": 500, **FAST}),
    "btm, tight": (
        BTM,
        {"self_comparisons": False, **FAST},
        {"horizon": 500, "self_comparisons": False, **FAST},
    ),
}
