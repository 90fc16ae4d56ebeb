"""Interleaved Filter, Yue, Broder, Kleinberg and Joachims (COLT 2009, JCSS 2012)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class Filter(NamedTuple):
    """The memory: the champion and its opponents."""

    b: int
    W: tuple[int, ...]  # in index order
    position: int  # of the next opponent in W


class InterleavedFilter(SequentialOracle):
    """Interleaved filter.

    The paper starts its estimates afresh with each champion, Komiyama's library keeps them. Both
    come to the same: a new champion was compared with former champions only, and these are gone.

    Args:
      num_arms: K.
      horizon: T; delta = 1 / (T K^2).
      variant: "if2" also removes, when b is beaten, all arms that b seems to beat; "if1" does not.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        variant: Literal["if1", "if2"] = "if2",
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.variant = variant
        self.log_inverse_delta = math.log(horizon * num_arms**2)

    def c(self, n: int) -> float:
        """c(n) = sqrt(4 log(1/delta) / n)."""
        return math.sqrt(4 * self.log_inverse_delta / n)

    def choose(self, memory: Filter | None, choices: Choices) -> tuple[Pair, Filter]:
        if memory is None:
            # b uniform at random, W the others
            b = choices.any_of(range(self.K))
            memory = Filter(b, tuple(j for j in range(self.K) if j != b), 0)
        if not memory.W:
            return (memory.b, memory.b), memory
        # for b' in W: compare b and b'
        return (memory.b, memory.W[memory.position]), memory

    def after(self, memory: Filter, left: int, right: int, choices: Choices) -> Filter:
        if not memory.W:
            return memory
        if memory.position + 1 < len(memory.W):
            return memory._replace(position=memory.position + 1)
        # The round is over: mu_bb' and c for all b' in W.
        b, W = memory.b, set(memory.W)
        mu = {j: Fraction(int(self.W[b, j]), int(self.N[b, j])) for j in W}
        c = {j: self.c(self.N[b, j]) for j in W}
        # drop every b' in W with mu_bb' > 1/2 and mu_bb' - c > 1/2
        W = {j for j in W if not choices.greater(float(mu[j]) - c[j], 0.5, scale=1 + c[j])}
        # if some b' in W has mu_bb' + c < 1/2
        better = [j for j in sorted(W) if choices.greater(0.5, float(mu[j]) + c[j], scale=1 + c[j])]
        if not better:
            return memory._replace(W=tuple(sorted(W)), position=0)
        # the one of the smallest mu_bb' (the lowest index among ties) is the new b
        new = min(better, key=lambda j: mu[j])
        if self.variant == "if2":
            # IF2: all b'' with mu_bb'' > 1/2 leave W
            W = {j for j in W if mu[j] <= Fraction(1, 2)}
        return Filter(new, tuple(sorted(W - {new})), 0)


REPLAYS = {
    "interleaved-filter": (InterleavedFilter, {"horizon": 1}, {"horizon": 1}),
    "interleaved-filter, if1": (
        InterleavedFilter,
        {"horizon": 1, "variant": "if1"},
        {"horizon": 1, "variant": "if1"},
    ),
}
