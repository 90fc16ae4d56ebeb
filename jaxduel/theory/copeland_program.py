"""The lower bound's linear program, of polynomial size, and the proof that it was solved.

Paper: Komiyama, Honda and Nakagawa (ICML 2016), section 3, eq. (2). There is a constraint for every
pair of subsets of given sizes. Two facts leave one constraint per family:

* The constraints do not tell the superiors j of an arm i2 apart, so that some optimum explores the
  cheaper ones at least as much (exchanging two that are not in order does not cost more). Then
  e_{i2 j} is a sum of steps: u_h >= 0 explores the h cheapest by u_h each, and the smallest s of n
  of them sum to sum_h u_h max(0, h - (n - s)).
* For x_j = e_{i1 j}, the smallest k sum to w_k = max_t k t - sum_j max(0, t - x_j), for which t can
  be the (k + 1)-th smallest x. The same t is optimal when one arm is left out, whichever it is: one
  t_k with slacks z_kj >= max(0, t_k - x_j) serves all families, and w_k + z_ki2 is the sum of the
  smallest k without i2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from jaxduel.errors import SolverError
from jaxduel.theory.exploration import Exploration, Family, families, superiors

_PRECISION = 1e-10
"""Feasibility asked of the solver; the least that it takes."""

_REPAIRABLE = 1e-3
"""Largest violation of a constraint that scaling repairs; the gap to `lower` shows its price."""


class Solution(NamedTuple):
    """A winner's optimal exploration."""

    explored: np.ndarray  # (K, K) float64, symmetric: e_ij in [0, 1]; satisfies all constraints
    lower: float  # no exploration that satisfies them costs less than this


def solve(instance: Exploration, winner: int) -> Solution:
    """The cheapest exploration that identifies a Copeland winner, i1.

    Returns:
      An exploration that satisfies every constraint (checked by sorting, repaired where the solver
      leaves rounding), and a lower bound on the cost of all that do (by weak duality, whatever the
      solver's tolerances).

    Raises:
      SolverError: HiGHS failed, or left constraints violated.
    """
    from scipy.optimize import linprog  # here: slow to import, and seldom needed

    program = _Program(instance, winner)
    scale = float(np.median(program.costs[program.costs > 0])) if program.costs.any() else 1.0
    answer = linprog(
        program.costs / scale,
        A_ub=-program.matrix,
        b_ub=-program.right,
        bounds=np.stack([np.zeros_like(program.upper), program.upper], axis=1),
        method="highs",
        options={
            "primal_feasibility_tolerance": _PRECISION,
            "dual_feasibility_tolerance": _PRECISION,
        },
    )
    if answer.status != 0:
        raise SolverError(f"the lower bound's linear program was not solved: {answer.message}")
    prices = np.maximum(-answer.ineqlin.marginals, 0.0)
    reduced = program.costs / scale - program.matrix.T @ prices
    lower = scale * (prices @ program.right + np.minimum(reduced, 0.0) @ program.upper)
    explored = program.exploration(answer.x)
    shortfall = largest_shortfall(explored, instance, winner, families(instance, winner))
    if shortfall > _REPAIRABLE:
        raise SolverError(f"the lower bound's linear program misses a constraint by {shortfall:g}.")
    return Solution(np.minimum(explored / (1.0 - shortfall), 1.0), float(lower))


def largest_shortfall(
    explored: np.ndarray, instance: Exploration, winner: int, constraints: Iterable[Family]
) -> float:
    """The amount by which the most violated constraint of the families is below 1; 0 if none is.

    Args:
      explored: (K, K) float64, symmetric, e_ij.
      instance: the instance.
      winner: i1.
      constraints: families of constraints.
    """
    totals = [explored[tightest(explored, instance, winner, f)].sum() for f in constraints]
    return max(0.0, 1.0 - float(min(totals)))


def tightest(
    explored: np.ndarray, instance: Exploration, winner: int, family: Family
) -> tuple[np.ndarray, np.ndarray]:
    """The constraint of a family that has the least sum, found by sorting: its pairs, as indices.

    Args:
      explored: (K, K) float64, symmetric, e_ij.
      instance: the instance.
      winner: i1.
      family: the constraints to choose from.

    Returns:
      The first and the second arms of its pairs, two int64 arrays of one length.
    """
    rival, others, rival_too, size = family
    rest = instance.beats[winner].copy()
    rest[rival] = False
    arms = np.flatnonzero(rest)
    chosen = arms[np.argsort(explored[winner, arms], kind="stable")[:others]]
    inferiors = np.append(chosen, rival) if rival_too else chosen
    arms = superiors(instance, winner, rival)
    beaters = arms[np.argsort(explored[rival, arms], kind="stable")[:size]]
    first = np.concatenate([np.full(len(inferiors), winner), np.full(len(beaters), rival)])
    return first, np.concatenate([inferiors, beaters])


class _Program:
    """Minimise costs @ v subject to matrix @ v >= right, 0 <= v <= upper."""

    def __init__(self, instance: Exploration, winner: int) -> None:
        from scipy.sparse import csr_matrix  # here: slow to import, and seldom needed

        self._num_arms = len(instance.losses)
        self._winner = winner
        self._inferiors = np.flatnonzero(instance.beats[winner])
        self._place = {int(arm): place for place, arm in enumerate(self._inferiors)}
        self._costs: list[np.ndarray] = []
        self._upper: list[np.ndarray] = []
        self._size = 0
        self._rows: list[tuple[np.ndarray, np.ndarray, float]] = []
        self._steps: list[tuple[int, np.ndarray, np.ndarray, int]] = []
        by_rival: dict[int, list[Family]] = {}
        for family in families(instance, winner):
            by_rival.setdefault(family.rival, []).append(family)
        self._variables(instance.cost[winner, self._inferiors], 1.0)
        sums = {
            count: self._smallest_sum(count)
            for count in sorted({f.others for group in by_rival.values() for f in group} - {0})
        }
        for rival, group in by_rival.items():
            self._explore_rival(instance, rival, group, sums)
        self.costs = np.concatenate(self._costs)
        self.upper = np.concatenate(self._upper)
        lengths = [len(columns) for columns, _, _ in self._rows]
        self.matrix = csr_matrix(
            (
                np.concatenate([values for _, values, _ in self._rows]),
                np.concatenate([columns for columns, _, _ in self._rows]),
                np.concatenate([[0], np.cumsum(lengths)]),
            ),
            shape=(len(self._rows), self._size),
        )
        self.right = np.array([right for _, _, right in self._rows])

    def exploration(self, values: np.ndarray) -> np.ndarray:
        """The (K, K) exploration that the variables stand for."""
        explored = np.zeros((self._num_arms, self._num_arms))
        explored[self._winner, self._inferiors] = values[: len(self._inferiors)]
        for rival, arms, counts, start in self._steps:
            steps = np.zeros(len(arms))
            steps[counts - 1] = values[start : start + len(counts)]
            explored[rival, arms] = np.cumsum(steps[::-1])[::-1]
        return np.clip(explored + explored.T, 0.0, 1.0)

    def _variables(self, costs: np.ndarray, upper: float) -> int:
        """Adds variables from 0 to `upper`; returns the place of the first."""
        start = self._size
        self._costs.append(costs)
        self._upper.append(np.full(len(costs), upper))
        self._size += len(costs)
        return start

    def _smallest_sum(self, count: int) -> tuple[int, int]:
        """The places of w_k and of the first slack z_k, where w_k <= k t_k - sum_j z_kj."""
        arms = np.arange(len(self._inferiors))
        threshold = self._variables(np.zeros(1), 1.0)
        total = self._variables(np.zeros(1), float(count))
        slacks = self._variables(np.zeros(len(arms)), 1.0)
        for arm in arms:
            row = np.array([slacks + arm, threshold, arm])
            self._rows.append((row, np.array([1.0, -1.0, 1.0]), 0.0))
        row = np.concatenate([[threshold, total], slacks + arms])
        values = np.concatenate([[count, -1.0], np.full(len(arms), -1.0)])
        self._rows.append((row, values, 0.0))
        return total, slacks

    def _explore_rival(
        self,
        instance: Exploration,
        rival: int,
        group: list[Family],
        sums: dict[int, tuple[int, int]],
    ) -> None:
        """Adds the steps of an arm i2 and its constraints, one per family."""
        arms = superiors(instance, self._winner, rival)
        fewest = len(arms) - max(family.superiors for family in group)
        counts = np.arange(fewest + 1, len(arms) + 1)
        costs = np.cumsum(instance.cost[rival, arms])[counts - 1]
        start = self._variables(costs, 1.0)
        self._steps.append((rival, arms, counts, start))
        place = self._place.get(rival)
        for _, others, rival_too, size in group:
            weights = np.maximum(0.0, counts - (len(arms) - size))
            used = np.flatnonzero(weights)
            columns, values = [start + used], [weights[used]]
            if rival_too and place is not None:
                columns.append(np.array([place]))
                values.append(np.ones(1))
            if others:
                total, slacks = sums[others]
                terms = [total] if place is None else [total, slacks + place]
                columns.append(np.array(terms))
                values.append(np.ones(len(terms)))
            self._rows.append((np.concatenate(columns), np.concatenate(values), 1.0))
