"""SCB, Algorithms 2-4 of "Copeland Dueling Bandits", Zoghi, Karnin, Whiteson, de Rijke (2015)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..choices import Choices
from ..sequential import Pair, SequentialOracle


class Pull(NamedTuple):
    """Which random opponent is asked for."""

    arm: int  # i: the opponent is drawn among the other arms
    t: int  # the comparison that is being chosen, from 1
    position: int  # how many opponents were drawn for that comparison before, from 0
    round: int  # r, from 1
    reward: int  # how many rewards this arm has in this round, from 0


class Round(NamedTuple):
    """The memory: everything that a round knows. Rewards and decisions start afresh in each."""

    r: int
    used: int  # comparisons of this round so far
    B: tuple[int, ...]  # in index order
    R: tuple[int, ...]  # (K,), sums of rewards
    s: int  # passes made: rewards of each arm in B
    cursor: int  # of the next arm in B of this pass
    beats: frozenset[Pair]  # decided pairs (winner, loser)
    pair: Pair | None  # being compared, with its comparisons and wins of the left arm
    n: int
    wins: int
    winner: int  # the committed arm; -1 before that


def kl(p: float, q: float) -> float:
    """d(p, q) of two Bernoulli distributions, 0 < q < 1."""
    return sum(x * math.log(x / y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)


@lru_cache(maxsize=100_000)
def kl_interval(mean: float, bound: float) -> tuple[float, float]:
    """The ends of {q : d(mean, q) <= bound}."""

    def end(outside: float) -> float:
        inside = mean
        for _ in range(60):
            middle = (inside + outside) / 2
            if not 0 < middle < 1:
                break
            if kl(mean, middle) <= bound:
                inside = middle
            else:
                outside = middle
        return inside

    return end(0.0), end(1.0)


class SCB(SequentialOracle):
    """Scalable Copeland bandits.

    Which pair comes next depends on all opponents drawn so far, most of which lead to no
    comparison. So they are fed: `draw` is called whenever the algorithm draws one, and it must
    give the same answer to the same `Pull`.

    Args:
      num_arms: K.
      draw: the opponent of a pull, an arm other than `pull.arm`; needed unless `rng` is given.
      scale: factor on the right sides of both tests; the paper has 1.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        draw: Callable[[Pull], int] | None = None,
        scale: float = 1.0,
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        self.draw, self.scale = draw, scale
        self.left_won = False  # of the latest comparison
        self.memories = [self.start(1)]

    def start(self, r: int) -> Round:
        """Algorithm 3, line 2: Algorithm 2 anew."""
        everyone, nothing = tuple(range(self.K)), (0,) * self.K
        return Round(r, 0, everyone, nothing, 0, 0, frozenset(), None, 0, 0, -1)

    @staticmethod
    def length(r: int) -> int:
        """Algorithm 3, line 2: T = 2^(2^r)."""
        return 2 ** (2**r)

    def delta(self, r: int) -> float:
        """Algorithm 3, line 2: the failure probability log(T) / T."""
        return math.log(self.length(r)) / self.length(r)

    # ---- Algorithm 2, line 1: reward(i) -------------------------------------------------------

    def opponent(self, memory: Round, i: int, position: int) -> int:
        """A uniformly random j != i."""
        others = [j for j in range(self.K) if j != i]
        if self.rng is not None:
            return others[self.rng.integers(len(others))]
        assert self.draw is not None, "no draws were given"
        j = int(self.draw(Pull(i, self.t, position, memory.r, memory.s)))
        assert j in others, f"{j} is not an opponent of {i}"
        return j

    def radius(self, n: int, r: int) -> float:
        """The pair is decided when |mu - 1/2| > sqrt(log(4 n^2 K^2 / delta) / (2 n))."""
        return math.sqrt(self.scale * math.log(4 * n**2 * self.K**2 / self.delta(r)) / (2 * n))

    # ---- Algorithm 4: arm elimination ---------------------------------------------------------

    def bound(self, s: int, r: int) -> float:
        """The bound of s d(m, q): log(4 s K / delta) + 2 log max(1, log s)."""
        first = math.log(4 * s * self.K / self.delta(r))
        return self.scale * (first + 2 * math.log(max(1.0, math.log(s))))

    def eliminate(self, memory: Round, choices: Choices) -> tuple[int, ...]:
        """B := {i in B : b_i >= max_j a_j}, [a_i, b_i] = {q : s d(m_i, q) <= bound}."""
        s = memory.s
        interval = {i: kl_interval(memory.R[i] / s, self.bound(s, memory.r) / s) for i in memory.B}
        highest = max(a for a, _ in interval.values())
        return tuple(i for i in memory.B if choices.at_least(interval[i][1], highest, scale=1.0))

    def add_reward(self, memory: Round, i: int, beat: bool, choices: Choices) -> Round:
        """R_i += reward(i), and what follows when i was the last arm of the pass."""
        R = tuple(x + (beat and arm == i) for arm, x in enumerate(memory.R))
        memory = memory._replace(R=R, cursor=memory.cursor + 1)
        if memory.cursor < len(memory.B):
            return memory
        memory = memory._replace(s=memory.s + 1, cursor=0)
        return memory._replace(B=self.eliminate(memory, choices))

    def commit(self, memory: Round) -> Round:
        """The round commits when |B| = 1, or when every pair (i, j), i in B, is decided."""
        B, beats = memory.B, memory.beats
        if len(B) == 1:
            return memory._replace(winner=B[0], pair=None)
        decided = beats | {(j, i) for i, j in beats}
        if all((i, j) in decided for i in B for j in range(self.K) if j != i):
            # The arm of B with the most decided wins, the lowest index among ties.
            best = max(B, key=lambda i: (sum(i == a for a, _ in beats), -i))
            return memory._replace(winner=best, pair=None)
        return memory

    # ---- the loop -----------------------------------------------------------------------------

    def choose(self, memory: Round, choices: Choices) -> tuple[Pair, Round]:
        position = 0
        while memory.pair is None and memory.winner < 0:
            # for i in B: reward(i)
            i = memory.B[memory.cursor]
            j = self.opponent(memory, i, position)
            position += 1
            if (i, j) in memory.beats or (j, i) in memory.beats:
                # The pair is decided: its answer is reused, without a comparison.
                memory = self.add_reward(memory, i, (i, j) in memory.beats, choices)
                memory = self.commit(memory)
            else:
                memory = memory._replace(pair=(i, j), n=0, wins=0)
        # Algorithm 3, line 3: a committed arm plays itself until the round is over.
        return memory.pair or (memory.winner, memory.winner), memory

    def record(self, left: int, right: int, left_wins: bool) -> None:
        super().record(left, right, left_wins)
        self.left_won = left_wins

    def after(self, memory: Round, left: int, right: int, choices: Choices) -> Round:
        memory = memory._replace(used=memory.used + 1)
        if memory.used == self.length(memory.r):
            return self.start(memory.r + 1)  # force-terminated, or committed for long enough
        if memory.pair is None:
            return memory
        memory = memory._replace(n=memory.n + 1, wins=memory.wins + self.left_won)
        gap = memory.wins / memory.n - 0.5
        if not choices.greater(abs(gap), self.radius(memory.n, memory.r), scale=1.0):
            return memory
        # The pair is decided, the left arm has its reward.
        answer = (left, right) if gap > 0 else (right, left)
        memory = self.commit(memory._replace(beats=memory.beats | {answer}, pair=None))
        if memory.winner >= 0:
            return memory
        return self.commit(self.add_reward(memory, left, gap > 0, choices))
