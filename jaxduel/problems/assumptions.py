"""What the policies' guarantees assume of an instance: Condorcet winner, SST, STI, total order.

With eps_ij = p_ij - 1/2, following "Batched Dueling Bandits" (Agarwal, Ghuge and Nagarajan, 2022,
section 1.2), an instance has strong stochastic transitivity (SST) if the arms have a total order
that agrees with the preferences, eps_ij >= 0 whenever i stands before j, such that for all i before
j before k

    eps_ik >= max(eps_ij, eps_jk),

and the stochastic triangle inequality (STI) if such an order exists and eps_ik <= eps_ij + eps_jk.

Ties. Two tied arms (eps_ij = 0) may stand in either order. For SST one order that works is enough.
If one does, the matrix with its arms in that order has monotone rows and columns, so it is the
order by Borda score, and arms of the same Borda score have the same rows: only `preference_order`
needs to be tested. For STI the inequality must hold in every order that agrees with the
preferences; where SST holds, this is the same as STI in the order of SST.

A preference counts as a tie, and an inequality as satisfied, within `TOLERANCE`, which absorbs
rounding. All cost O(K^3) operations on arrays of O(K^2) numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np

from jaxduel.errors import unknown_name
from jaxduel.problems.dueling import DuelingProblem

TOLERANCE = 1e-9
"""Differences of probabilities up to this are rounding."""

_Measure = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True)
class Violation:
    """Proof that an assumption does not hold."""

    assumption: str
    """The name of the assumption: "condorcet", "no ties", "sst", "sti" or "total order"."""
    arms: tuple[int, ...]
    """The counter-example, counted from 0: for SST and STI the triple (i, j, k) above."""
    reason: str
    """What these arms do, as the second half of a sentence."""


def preference_order(problem: DuelingProblem) -> tuple[int, ...] | None:
    """An order of the arms, best first, in which no arm is beaten by one behind it.

    Args:
      problem: the instance.

    Returns:
      The arms, counted from 0: of those that could stand next, the one of the largest Borda score
      does. None if preferences are cyclic, so that there is no such order.
    """
    beats = _margins(problem) > TOLERANCE
    scores = problem.borda_scores
    unbeaten_by = beats.sum(axis=0)
    left = np.ones(problem.num_arms, dtype=bool)
    order = []
    for _ in range(problem.num_arms):
        free = left & (unbeaten_by == 0)
        if not free.any():
            return None
        arm = int(np.argmax(np.where(free, scores, -np.inf)))
        order.append(arm)
        left[arm] = False
        unbeaten_by = unbeaten_by - beats[arm]
    return tuple(order)


def condorcet_violation(problem: DuelingProblem) -> Violation | None:
    """Why no arm beats every other arm, or None if one does.

    Args:
      problem: the instance.

    Returns:
      A pair: the first of the Copeland winners, and the first arm that it does not beat.
    """
    if problem.condorcet_winner is not None:
        return None
    best = problem.copeland_winners[0]
    row = np.asarray(problem.preferences)[best]
    rival = next(arm for arm in range(problem.num_arms) if arm != best and row[arm] <= 0.5)
    return Violation(
        "condorcet",
        (best, rival),
        f"arm {best} beats most others but not arm {rival} (p = {row[rival]:.6g})",
    )


def sst_violation(problem: DuelingProblem) -> Violation | None:
    """The triple that breaks strong stochastic transitivity by most, or None if it holds.

    Args:
      problem: the instance.

    Returns:
      Arms (i, j, k) with eps_ik < max(eps_ij, eps_jk). If preferences are cyclic, i beats j and j
      beats k, but i does not beat k.
    """
    eps = _margins(problem)
    order = preference_order(problem)
    if order is None:
        triple = _intransitive_triple(eps)
    else:
        ranked = eps[np.ix_(order, order)]
        worst, places = _worst_triple(ranked, _sst_shortfall, _before(problem.num_arms))
        if worst <= TOLERANCE:
            return None
        i, j, k = (order[place] for place in places)
        triple = (i, j, k)
    i, j, k = triple
    return Violation(
        "sst",
        triple,
        f"p[{i}, {j}] = {0.5 + eps[i, j]:.6g} and p[{j}, {k}] = {0.5 + eps[j, k]:.6g}, "
        f"but p[{i}, {k}] = {0.5 + eps[i, k]:.6g}",
    )


def sti_violation(problem: DuelingProblem) -> Violation | None:
    """The triple that breaks the stochastic triangle inequality by most, or None if it holds.

    Args:
      problem: the instance.

    Returns:
      Arms (i, j, k), which stand so in some order that agrees with the preferences, with
      eps_ik > eps_ij + eps_jk. If preferences are cyclic, the triple of `sst_violation`.
    """
    eps = _margins(problem)
    order = preference_order(problem)
    if order is None:
        i, j, k = _intransitive_triple(eps)
        reason = (
            f"no order of the arms agrees with the preferences (arm {i} beats arm {j}, "
            f"which beats arm {k}, but p[{i}, {k}] = {0.5 + eps[i, k]:.6g})"
        )
        return Violation("sti", (i, j, k), reason)
    worst, (i, j, k) = _worst_triple(eps, _sti_excess, _may_precede(eps, order))
    if worst <= TOLERANCE:
        return None
    return Violation(
        "sti",
        (i, j, k),
        f"p[{i}, {k}] - 1/2 = {eps[i, k]:.6g} exceeds (p[{i}, {j}] - 1/2) + (p[{j}, {k}] - 1/2) = "
        f"{eps[i, j]:.6g} + {eps[j, k]:.6g}",
    )


def total_order_violation(problem: DuelingProblem) -> Violation | None:
    """Why the arms are not strictly ordered by "beats", or None if they are.

    Args:
      problem: the instance.

    Returns:
      A triple that is not transitive (i beats j, j beats k, i does not beat k) or else a tied pair.
    """
    eps = _margins(problem)
    if preference_order(problem) is None:
        i, j, k = _intransitive_triple(eps)
        reason = f"arm {i} beats arm {j} and {j} beats {k}, but {i} does not beat {k}"
        return Violation("total order", (i, j, k), reason)
    tie = tie_violation(problem)
    return None if tie is None else dataclasses.replace(tie, assumption="total order")


def tie_violation(problem: DuelingProblem) -> Violation | None:
    """The first tied pair, p_ij = 1/2, or None if there is none."""
    tied = np.argwhere(np.triu(np.abs(_margins(problem)) <= TOLERANCE, 1))
    if len(tied) == 0:
        return None
    i, j = (int(arm) for arm in tied[0])
    return Violation("no ties", (i, j), f"arms {i} and {j} are tied")


_CHECKS = {
    "condorcet": ("a Condorcet winner", condorcet_violation),
    "no ties": ("a preference in every pair", tie_violation),
    "sst": ("strong stochastic transitivity (SST)", sst_violation),
    "sti": ("the stochastic triangle inequality (STI)", sti_violation),
}


def broken_assumptions(problem: DuelingProblem, names: Iterable[str]) -> list[str]:
    """One sentence for each assumption that the instance breaks, with the arms that break it.

    Args:
      problem: the instance.
      names: of "condorcet", "no ties", "sst", "sti", as in a policy's `assumes`.

    Raises:
      InputError: an unknown assumption.
    """
    sentences = []
    for name in names:
        if name not in _CHECKS:
            raise unknown_name("assumption", name, _CHECKS)
        title, check = _CHECKS[name]
        violation = check(problem)
        if violation is not None:
            sentences.append(
                f"'{problem.name}' lacks {title}: {violation.reason} (arms counted from 0)."
            )
    return sentences


def _margins(problem: DuelingProblem) -> np.ndarray:
    return np.asarray(problem.preferences, dtype=np.float64) - 0.5


def _before(num_arms: int) -> np.ndarray:
    return np.triu(np.ones((num_arms, num_arms), dtype=bool), 1)


def _may_precede(eps: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """Whether i stands before j in some order that agrees: no chain of wins leads from j to i."""
    chain = eps > TOLERANCE
    for arm in reversed(order):
        chain[arm] |= chain[chain[arm]].any(axis=0)
    return ~chain.T


def _sst_shortfall(first: np.ndarray, second: np.ndarray, across: np.ndarray) -> np.ndarray:
    return np.maximum(first, second) - across


def _sti_excess(first: np.ndarray, second: np.ndarray, across: np.ndarray) -> np.ndarray:
    return across - (first + second)


def _worst_triple(
    eps: np.ndarray, measure: _Measure, related: np.ndarray
) -> tuple[float, tuple[int, int, int]]:
    """The triple of the largest `measure` among those with related[i, j] and related[j, k].

    Returns that measure and the first such triple; -inf if there is none of different arms.
    """
    worst, triple = -np.inf, (0, 0, 0)
    for j in range(len(eps)):
        others = np.arange(len(eps)) != j
        above, below = np.flatnonzero(related[:, j] & others), np.flatnonzero(related[j] & others)
        if len(above) == 0 or len(below) == 0:
            continue
        values = measure(eps[above, j][:, None], eps[j, below][None, :], eps[np.ix_(above, below)])
        values = np.where(above[:, None] == below[None, :], -np.inf, values)
        place = np.unravel_index(np.argmax(values), values.shape)
        if values[place] > worst:
            worst = float(values[place])
            triple = (int(above[place[0]]), j, int(below[place[1]]))
    return worst, triple


def _intransitive_triple(eps: np.ndarray) -> tuple[int, int, int]:
    """Of cyclic preferences, the worst triple where i beats j beats k, but i does not beat k.

    There is one: three consecutive arms of a shortest cycle, or else that cycle could be shortened.
    """

    def shortfall(first: np.ndarray, second: np.ndarray, across: np.ndarray) -> np.ndarray:
        return np.where(across > TOLERANCE, -np.inf, _sst_shortfall(first, second, across))

    return _worst_triple(eps, shortfall, eps > TOLERANCE)[1]
