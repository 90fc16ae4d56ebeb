"""What the oracles of arms with rewards share: grids, equal pulls, empirical means, the loop.

Source: Gao, Han, Ren and Zhou, "Batched Multi-armed Bandits Problem" (NeurIPS 2019), section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Any

import numpy as np

from ..choices import EXACT, TOLERANCE, Choices, Oracle

Counts = tuple[int, ...]


@lru_cache(maxsize=100_000)
def grid_time(kind: str, horizon: int, num_batches: int, m: int) -> int:
    """t_m, exactly, m = 1..M.

    minimax: u_1 = a, u_m = a sqrt(u_(m-1)), so t_m = floor(a^(2 - 2^(1-m))) with t_M = T;
    geometric: floor(b^m) with b^M = T; arithmetic: floor(m T / M).
    """
    if m == num_batches:
        return horizon
    if kind == "arithmetic":
        return m * horizon // num_batches
    with localcontext() as context:
        context.prec = 60
        if kind == "geometric":
            exponent = Decimal(m) / num_batches
        else:
            exponent = (2 - Decimal(2) ** (1 - m)) / (2 - Decimal(2) ** (1 - num_batches))
        real = (Decimal(horizon).ln() * exponent).exp()
        nearest = int(real.to_integral_value())
        # A power this close to an integer is one: the others miss it by far more than 60 digits.
        whole = abs(real - nearest) < Decimal(10) ** -45 * real
        floor = nearest if whole else math.floor(real)
    return min(floor, horizon - 1)  # T^x < T for x < 1, also where x rounds to 1


def named_grid(kind: str, horizon: int, num_batches: int) -> Sequence[int]:
    """t_1, ..., t_M of the minimax, the geometric or the arithmetic grid, not always increasing."""
    return [grid_time(kind, horizon, num_batches, m) for m in range(1, num_batches + 1)]


def equal_pulls(num_arms: int, arms: Iterable[int], n: int) -> Counts:
    """n pulls, one after the other, of each of the arms in turn.

    Args:
      num_arms: K.
      arms: those that are pulled.
      n: how many pulls.
    """
    arms = sorted(arms)
    counts = [0] * num_arms
    for place, i in enumerate(arms):
        counts[i] = n // len(arms) + (place < n % len(arms))
    return tuple(counts)


class ArmsOracle(Oracle):
    """An oracle of arms with rewards.

    A plan is a tuple of K counts whose outcome is the K sums of rewards; `PullOracle` has single
    pulls.
    """

    def __init__(self, num_arms: int, rng: np.random.Generator | None = None):
        super().__init__(num_arms, rng)
        self.N = [0] * num_arms  # pulls whose rewards are known: all, unless some are withheld
        self.S = [0.0] * num_arms  # sums of rewards
        self.peak = [0.0] * num_arms  # largest |S| so far: what float32 rounds
        self.used = 0  # pulls of all arms
        self.rounds = 0  # plans played

    def after(self, memory: Any, choices: Choices) -> Hashable:
        """The memory after the plan, whose outcome is in the sums already."""
        return memory

    # ---- the papers' symbols ------------------------------------------------------------------

    def mean(self, i: int) -> float:
        """Ybar_i, the average of all rewards of arm i."""
        return self.S[i] / self.N[i]

    def scale(self, arms: Iterable[int]) -> float:
        """The size of the numbers that the averages of these arms are made of."""
        return max(self.peak[i] / self.N[i] for i in arms)

    def first_best(
        self, arms: Iterable[int], value: Callable[[int], float], scale: float, choices: Choices
    ) -> int:
        """The first arm of the largest value; any of those too close to tell, given the scale."""
        arms = sorted(arms)
        top = max(value(i) for i in arms)
        slack = (TOLERANCE if self.rng is None else EXACT) * scale
        return choices.first_of([i for i in arms if value(i) >= top - slack])

    # ---- playing ------------------------------------------------------------------------------

    def record(self, plan: Any, outcome: Any) -> None:
        """Adds a plan and its outcome to the totals."""
        for i, (n, total) in enumerate(zip(plan, outcome, strict=True)):
            assert n > 0 or total == 0, f"arm {i} has a reward without a pull"
            self.add(i, n, float(total))
        self.rounds += any(plan)

    def add(self, i: int, n: int, total: float) -> None:
        """Adds n pulls of arm i whose rewards sum to `total`."""
        self.know(i, n, total)
        self.used += n

    def know(self, i: int, n: int, total: float) -> None:
        """Adds the rewards of n pulls of arm i."""
        self.N[i] += n
        self.S[i] += total
        self.peak[i] = max(self.peak[i], abs(self.S[i]))

    def play(self, plan: Any, outcome: Any) -> None:
        """Goes on with the plan that was really played.

        Args:
          plan: one of `allowed()`.
          outcome: the sum of rewards of each arm, or the reward of a single pull.
        """
        self.go_on(plan, lambda: self.record(plan, outcome), self.after)

    # ---- delays: simulate(delay=d), which no paper has -----------------------------------------

    def withhold(self, plan: Any) -> None:
        """Goes on with a pull whose reward comes later, by `tell`."""
        self.go_on(plan, lambda: self.make(plan), lambda memory, _: memory)

    def make(self, plan: Any) -> None:
        """Counts a pull whose reward is withheld."""
        self.used += 1

    def tell(self, counts: Iterable[int], totals: Iterable[float]) -> None:
        """Goes on with the rewards that were withheld: of each arm their number and sum."""
        self.learn(counts, totals)
        self.follow(self.memories, self.after)

    def learn(self, counts: Iterable[int], totals: Iterable[float]) -> None:
        """Adds rewards that were withheld."""
        for i, (n, total) in enumerate(zip(counts, totals, strict=True)):
            self.know(i, n, total)


class PullOracle(ArmsOracle):
    """One pull at a time: a plan is an arm, its outcome the reward."""

    def __init__(self, num_arms: int, rng: np.random.Generator | None = None):
        super().__init__(num_arms, rng)
        self.late = [0] * num_arms  # pulls whose rewards are withheld

    def record(self, plan: int, outcome: float) -> None:
        self.add(plan, 1, float(outcome))
        self.rounds += 1

    def make(self, plan: int) -> None:
        super().make(plan)
        self.late[plan] += 1

    def learn(self, counts: Iterable[int], totals: Iterable[float]) -> None:
        super().learn(counts, totals)
        self.late = [0] * self.K


class GridOracle(ArmsOracle):
    """Batches that end on a grid of times.

    Args:
      num_arms: K.
      horizon: T.
      num_batches: M; not needed with a grid of times.
      grid: "minimax", "geometric", "arithmetic", or t_1, ..., t_M with t_M = T.
      rng: see `Oracle`.
    """

    def __init__(
        self,
        num_arms: int,
        horizon: int,
        num_batches: int | None = None,
        grid: str | Sequence[int] = "minimax",
        rng: np.random.Generator | None = None,
    ):
        super().__init__(num_arms, rng)
        if isinstance(grid, str):
            assert num_batches is not None, "a named grid needs the number of batches"
            grid = named_grid(grid, horizon, num_batches)
        self.T, self.grid, self.M = horizon, grid, len(grid)
        self.m = 0  # the batch played last

    @property
    def left(self) -> int:
        """The pulls that are left."""
        return self.T - self.used

    def next_batch(self) -> int:
        """The next m with t_m > pulls made: grid points that have been passed are skipped."""
        later = (m for m in range(self.m + 1, self.M + 1) if self.grid[m - 1] > self.used)
        return next(later, self.M)

    def record(self, plan: Counts, outcome: Any) -> None:
        if any(plan):
            self.m = self.next_batch()
        super().record(plan, outcome)

    def explore(self, arms: Iterable[int]) -> Counts:
        """A batch up to the next grid point: the same number of pulls of each arm, at least one, at
        most T in all. In the last batch an odd pull is made, too.

        Footnote 1 leaves odd pulls out of the averages, so that all arms are evaluated with the
        same number; the authors' program, p = max(floor((t_m - t_(m-1)) / k), 1) with t_m moved to
        t_(m-1) + k p, makes none.
        """
        arms, m = sorted(arms), self.next_batch()
        p = max((self.grid[m - 1] - self.used) // len(arms), 1)
        n = self.left if m == self.M else min(p * len(arms), self.left)
        return equal_pulls(self.K, arms, n)

    def only(self, arm: int) -> Counts:
        """All pulls that are left, for one arm."""
        return tuple(self.left if i == arm else 0 for i in range(self.K))

    def none(self) -> Counts:
        """Nothing, after T."""
        return (0,) * self.K
