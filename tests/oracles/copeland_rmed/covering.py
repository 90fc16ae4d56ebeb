"""What "Copeland Dueling Bandit Problem", Komiyama, Honda, Nakagawa (ICML 2016), optimises.

Everything is written with evidence e_ij = q_ij d(nu_ij, 1/2) in [0, 1] instead of q_ij. Then (2)
as well as (4) and (5) ask that, in each of many sets of pairs, the evidence adds up to 1 or more.
The sets are enumerated, so this is for few arms. Pairs are (i, j) with i > j.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from ..choices import TOLERANCE
from ..sequential import Pair

Family = frozenset[Pair]


class Tournament(NamedTuple):
    """Who beats whom. Arms that are even beat neither way."""

    superiors: tuple[frozenset[int], ...]  # S_i = {j : nu_ij < 1/2}
    inferiors: tuple[frozenset[int], ...]  # I_i = {j : nu_ij > 1/2}

    @property
    def losses(self) -> list[int]:
        """L_i = |S_i|."""
        return [len(S) for S in self.superiors]

    @property
    def winners(self) -> list[int]:
        """The arms of the smallest L_i, in index order."""
        L = self.losses
        return [i for i in range(len(L)) if L[i] == min(L)]


def tournament(wins: np.ndarray) -> Tournament:
    """The tournament of the estimates w_ij / (w_ij + w_ji), in integers; 0/0 = 1/2."""
    arms = range(len(wins))
    return Tournament(
        tuple(frozenset(j for j in arms if wins[i, j] < wins[j, i]) for i in arms),
        tuple(frozenset(j for j in arms if wins[i, j] > wins[j, i]) for i in arms),
    )


def unordered(i: int, j: int) -> Pair:
    """The pair of i and j, the larger index first."""
    return max(i, j), min(i, j)


def regret(game: Tournament, i: int, j: int) -> float:
    """r_ij = (L_i + L_j - 2 L^(1)) / (2 (K - 1))."""
    L = game.losses
    return (L[i] + L[j] - 2 * min(L)) / (2 * (len(L) - 1))


def smallest_only(families: Iterable[Family]) -> tuple[Family, ...]:
    """Without the families that contain another one: these follow."""
    kept: list[Family] = []
    for family in sorted(set(families), key=lambda x: (len(x), sorted(x))):
        if not any(other <= family for other in kept):
            kept.append(family)
    return tuple(kept)


@lru_cache(maxsize=10_000)
def families(game: Tournament, i1: int) -> tuple[Family, ...]:
    """(2): P_IS of all i2, l, I and S, for a Copeland winner i1."""
    arms, L = range(len(game.superiors)), game.losses
    first, second = sorted(L)[:2]
    found = []
    # for all i2 != i1, for all l in {max(0, L^(1) - 1), ..., L^(2)}
    for i2 in arms:
        if i2 == i1:
            continue
        for l in range(max(0, first - 1), second + 1):  # noqa: E741 (the paper's name)
            # for all I within I_i1 of size l + 1 - L^(1)
            for I in combinations(sorted(game.inferiors[i1]), l + 1 - first):  # noqa: E741
                # for all S within S_i2 \ {i1} of size max(0, L_i2 - l - 1{i2 in I})
                size = max(0, L[i2] - l - (i2 in I))
                for S in combinations(sorted(game.superiors[i2] - {i1}), size):
                    # P_IS = {(i1, j) : j in I} and {(i2, j) : j in S}
                    found.append(
                        frozenset([unordered(i1, j) for j in I] + [unordered(i2, j) for j in S])
                    )
    return smallest_only(found)


@lru_cache(maxsize=10_000)
def efficient_families(game: Tournament, i1: int) -> tuple[Family, ...]:
    """(4) and (5), for a Copeland winner i1."""
    arms, L = range(len(game.superiors)), game.losses
    # (4): q_i1,j = 1 / d for all j in I_i1, so e = 1
    found = [frozenset([unordered(i1, j)]) for j in game.inferiors[i1]]
    # (5): for all i2 != i1, for all S within S_i2 \ {i1} of size L_i2 - L_i1 + 1
    for i2 in arms:
        if i2 != i1:
            for S in combinations(sorted(game.superiors[i2] - {i1}), L[i2] - L[i1] + 1):
                found.append(frozenset(unordered(i2, j) for j in S))
    return smallest_only(found)


class CoveringProgram:
    """Minimise sum c_p e_p with 0 <= e_p <= 1 and, in every family, sum e_p >= 1.

    Solved with HiGHS. Optimal means: within a relative `tolerance` of the least cost.

    Args:
      families: sets of pairs.
      cost: c_p = r_p / d_p >= 0 of every pair p that may have evidence.
      tolerance: see above; the same for all sums and bounds.
    """

    def __init__(
        self,
        families: tuple[Family, ...],
        cost: dict[Pair, float],
        tolerance: float = TOLERANCE,
    ):
        self.families, self.cost, self.tolerance = families, cost, tolerance
        self.pairs = sorted(cost)
        self.scale = max([*cost.values(), 1e-300])
        self.rows = np.array([[p in family for p in self.pairs] for family in families], float)
        solution = self._solve({}, {})
        assert solution is not None, "there is always the solution e = 1"
        self.solution, self.value = solution, self.price(solution)

    def price(self, e: dict[Pair, float]) -> float:
        """The cost of e; pairs that are left out have 0."""
        return sum(self.cost[p] * x for p, x in e.items())

    def _solve(self, least: dict[Pair, float], most: dict[Pair, float]) -> dict[Pair, float] | None:
        bounds = [(least.get(p, 0.0), most.get(p, 1.0)) for p in self.pairs]
        if any(low > high for low, high in bounds):
            return None
        if not self.families:
            return {p: low for p, (low, _) in zip(self.pairs, bounds, strict=True)}
        result = linprog(
            [self.cost[p] / self.scale for p in self.pairs],
            A_ub=-self.rows,
            b_ub=-np.ones(len(self.families)),
            bounds=bounds,
            method="highs",
        )
        assert result.status in (0, 2), result.message
        if result.status == 2:  # no e within these bounds
            return None
        return dict(zip(self.pairs, map(float, result.x), strict=True))

    def _cheap_enough(self, e: dict[Pair, float]) -> bool:
        return self.price(e) <= self.value * (1 + self.tolerance) + 1e-12 * self.scale

    def is_optimal(self, e: dict[Pair, float]) -> bool:
        """Whether e fulfils all conditions at the least cost."""
        inside = all(-self.tolerance <= x <= 1 + self.tolerance for x in e.values())
        covered = all(
            sum(e.get(p, 0.0) for p in family) >= 1 - self.tolerance for family in self.families
        )
        return inside and covered and self._cheap_enough(e)

    def admits(self, least: dict[Pair, float], most: dict[Pair, float]) -> bool:
        """Whether some optimal e has e_p >= least_p and e_p <= most_p, each within the tolerance.

        Args:
          least: lower bounds of some pairs.
          most: upper bounds of some pairs.
        """
        e = self._solve(
            {p: x * (1 - self.tolerance) for p, x in least.items()},
            {p: min(1.0, x * (1 + self.tolerance)) for p, x in most.items()},
        )
        return e is not None and self._cheap_enough(e)
