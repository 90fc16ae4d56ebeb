"""LUCB1 with m = 1, "PAC Subset Selection in Stochastic Multi-armed Bandits", Kalyanakrishnan,
Tewari, Auer and Stone (ICML 2012), sections 3 and 4."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..arms.loops import PullOracle
from ..choices import Choices


class Memory(NamedTuple):
    t: int = 0  # the round
    turn: int | None = None  # while arms take turns, the one whose turn it is
    pair: tuple[int, ...] = ()  # the arms of the round that are still to be pulled
    answer: int | None = None


class LUCB(PullOracle):
    """Rounds of two pulls.

    Args:
      num_arms: n of the paper.
      delta, epsilon: of the answer.
      std: of the rewards; the paper's, of rewards within [0, 1], is 1/2.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        delta: float = 0.05,
        epsilon: float = 0.0,
        std: float = 1.0,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.delta, self.epsilon, self.std = delta, epsilon, std
        self.memories = [Memory(turn=0)]

    def beta(self, u: int, t: int) -> float:
        """sqrt(1/(2 u) ln(k_1 n t^4 / delta)), k_1 = 5/4, for std = 1/2."""
        return math.sqrt(
            (2 * self.std) ** 2 / (2 * u) * math.log(5 / 4 * self.K * t**4 / self.delta)
        )

    def answers(self) -> set[int | None]:
        """Every arm that may be named by now; None: there may be no answer."""
        return {memory.answer for memory in self.memories}

    def choose(self, memory: Memory, choices: Choices) -> tuple[int, Memory]:
        if memory.answer is not None:
            return memory.answer, memory
        if memory.turn is not None:
            # initially every arm is sampled once; with delays in turn, until all are known
            following = (memory.turn + 1) % self.K
            return memory.turn, Memory(memory.t + (following == 0), following)
        # sample h_t and l_t
        arm, *rest = memory.pair
        return arm, Memory(memory.t + (not rest), pair=tuple(rest))

    def after(self, memory: Memory, choices: Choices) -> Memory:
        in_turn = memory.turn is not None
        begins = memory.turn == 0 and 0 not in self.N if in_turn else len(memory.pair) != 1
        if memory.answer is not None or not begins:
            return memory
        beta = [self.beta(u, memory.t) for u in self.N]
        scale = max(self.scale(range(self.K)), *beta)
        # h_t: the arm of the highest empirical average
        h = self.first_best(range(self.K), self.mean, scale, choices)
        # l_t: of the others, the arm of the largest upper bound
        others = [i for i in range(self.K) if i != h]
        ell = self.first_best(others, lambda i: self.mean(i) + beta[i], scale, choices)
        # stop if U_l - L_h < epsilon
        apart = self.mean(ell) + beta[ell] - (self.mean(h) - beta[h])
        if choices.greater(self.epsilon, apart, scale):
            return Memory(memory.t, answer=h)
        return Memory(memory.t, pair=(h, ell))

    def withhold(self, plan: int) -> None:
        # a round begins, and may end in an answer, before rewards are told
        self.go_on(plan, lambda: self.make(plan), self.after)
