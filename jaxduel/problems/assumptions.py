"""Assumptions on instances in policies' guarantees: Condorcet winner, SST, STI, total order.

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

Relaxed stochastic transitivity (RST, Yue and Joachims, 2011) is gamma eps_1k >= max(eps_1j, eps_jk)
of the best arm 1 and all j that beat k: tied arms may stand in either order.

A preference counts as a tie, and an inequality as satisfied, within `TOLERANCE`, which absorbs
rounding. The triples are searched for in `jaxduel.problems.triples`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from jaxduel.arguments import items_of, require_known
from jaxduel.problems.arm_names import arm_text, counting, label, pair_text
from jaxduel.problems.dueling import TIE, DuelingProblem, require_dueling
from jaxduel.problems.triples import intransitive_triple, sst_triple, sti_triple

TOLERANCE = TIE
"""Differences of probabilities up to this are rounding."""


@dataclasses.dataclass(frozen=True)
class Violation:
    """Proof that an assumption does not hold.

    Example:
      >>> import jaxduel as jd
      >>> violation = jd.problems.total_order_violation(jd.problems.load("cyclic"))
      >>> violation.assumption, violation.arms
      ('total order', (1, 2, 3))
      >>> violation.reason
      'arm 1 beats arm 2 and 2 beats 3, but 1 does not beat 3'
    """

    assumption: str
    """The name of the assumption, as in `broken_assumptions`, or "total order"."""
    arms: tuple[int, ...]
    """The counter-example, counted from 0: for SST and STI the triple (i, j, k) above."""
    reason: str
    """The facts about these arms, as the second half of a sentence."""


def preference_order(problem: DuelingProblem) -> tuple[int, ...] | None:
    """An order of the arms, best first, in which no arm is beaten by one behind it.

    Args:
      problem: the instance.

    Returns:
      The arms, counted from 0: of those that could stand next, the one of the largest Borda score
      does. None if preferences are cyclic, so that there is no such order.

    Example:
      >>> import jaxduel as jd
      >>> p = [[0.5, 0.4, 0.9], [0.6, 0.5, 0.7], [0.1, 0.3, 0.5]]  # 1 beats 0, both beat 2
      >>> jd.problems.preference_order(jd.problems.from_matrix(p))
      (1, 0, 2)
      >>> jd.problems.preference_order(jd.problems.load("cyclic")) is None
      True
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

    Example:
      >>> import jaxduel as jd
      >>> jd.problems.condorcet_violation(jd.problems.load("mslr5-noncondorcet")).reason
      'arm 0 beats 3 of 4 others, but not arm 1 (p = 0.484)'
      >>> jd.problems.condorcet_violation(jd.problems.load("arxiv")) is None
      True
    """
    require_dueling(problem, "condorcet_violation")
    if problem.condorcet_winner is not None:
        return None
    best = problem.copeland_winners[0]
    row = np.asarray(problem.preferences)[best]
    rival = next(arm for arm in range(problem.num_arms) if arm != best and row[arm] <= 0.5)
    return Violation(
        "condorcet",
        (best, rival),
        f"{arm_text(problem, best)} beats {np.sum(row > 0.5)} of {len(row) - 1} others, but not "
        f"{arm_text(problem, rival)} (p = {row[rival]:.6g})",
    )


def sst_violation(problem: DuelingProblem) -> Violation | None:
    """The triple that breaks strong stochastic transitivity by most, or None if it holds.

    Args:
      problem: the instance.

    Returns:
      Arms (i, j, k) with eps_ik < max(eps_ij, eps_jk). If preferences are cyclic, i beats j and j
      beats k, but i does not beat k.

    Example:
      >>> import jaxduel as jd
      >>> p = [[0.5, 0.8, 0.7], [0.2, 0.5, 0.6], [0.3, 0.4, 0.5]]
      >>> violation = jd.problems.sst_violation(jd.problems.from_matrix(p))
      >>> violation.arms
      (0, 1, 2)
      >>> violation.reason
      'p[0, 1] = 0.8 and p[1, 2] = 0.6, but p[0, 2] = 0.7'
    """
    eps = _margins(problem)
    order = preference_order(problem)
    if order is None:
        i, j, k = intransitive_triple(eps, TOLERANCE)[1]
    else:
        worst, places = sst_triple(eps[np.ix_(order, order)])
        if worst <= TOLERANCE:
            return None
        i, j, k = (order[place] for place in places)
    return Violation("sst", (i, j, k), _transitivity_text(problem, eps, i, j, k))


def sti_violation(problem: DuelingProblem) -> Violation | None:
    """The triple that breaks the stochastic triangle inequality by most, or None if it holds.

    Args:
      problem: the instance.

    Returns:
      Arms (i, j, k), which stand so in some order that agrees with the preferences, with
      eps_ik > eps_ij + eps_jk. If preferences are cyclic, the triple of `sst_violation`.

    Example:
      >>> import jaxduel as jd
      >>> p = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.6], [0.1, 0.4, 0.5]]  # 0.4 > 0.1 + 0.1
      >>> jd.problems.sti_violation(jd.problems.from_matrix(p)).arms
      (0, 1, 2)
      >>> jd.problems.sti_violation(jd.problems.arithmetic(num_arms=4)) is None  # equality
      True
    """
    eps = _margins(problem)
    order = preference_order(problem)
    if order is None:
        i, j, k = intransitive_triple(eps, TOLERANCE)[1]
        return Violation("sti", (i, j, k), "no order of the arms agrees with the preferences")
    ranked = eps[np.ix_(order, order)]
    worst, places = sti_triple(ranked, _may_precede(ranked), TOLERANCE)
    if worst <= TOLERANCE:
        return None
    i, j, k = (order[place] for place in places)
    a, b, c = (label(problem, arm) for arm in (i, j, k))
    return Violation(
        "sti",
        (i, j, k),
        f"p[{a}, {c}] - 1/2 = {eps[i, k]:.6g} exceeds (p[{a}, {b}] - 1/2) + (p[{b}, {c}] - 1/2) = "
        f"{eps[i, j]:.6g} + {eps[j, k]:.6g}",
    )


def total_order_violation(problem: DuelingProblem) -> Violation | None:
    """Why the arms are not strictly ordered by "beats", or None if they are.

    Args:
      problem: the instance.

    Returns:
      A triple that is not transitive (i beats j, j beats k, i does not beat k) or else a tied pair.

    Example:
      >>> import jaxduel as jd
      >>> jd.problems.total_order_violation(jd.problems.load("cyclic")).reason
      'arm 1 beats arm 2 and 2 beats 3, but 1 does not beat 3'
      >>> jd.problems.total_order_violation(jd.problems.arithmetic()) is None
      True
    """
    eps = _margins(problem)
    if preference_order(problem) is None:
        i, j, k = intransitive_triple(eps, TOLERANCE)[1]
        a, b, c = (label(problem, arm) for arm in (i, j, k))
        beaten = f"{arm_text(problem, i)} beats {arm_text(problem, j)}"
        reason = f"{beaten} and {b} beats {c}, but {a} does not beat {c}"
        return Violation("total order", (i, j, k), reason)
    tie = tie_violation(problem)
    return None if tie is None else dataclasses.replace(tie, assumption="total order")


def tie_violation(problem: DuelingProblem) -> Violation | None:
    """The first tied pair, p_ij = 1/2, or None if there is none."""
    tied = np.argwhere(np.triu(np.abs(_margins(problem)) <= TOLERANCE, 1))
    if len(tied) == 0:
        return None
    i, j = (int(arm) for arm in tied[0])
    return Violation("no ties", (i, j), f"{pair_text(problem, i, j)} are tied")


def _mode_violation(problem: DuelingProblem) -> Violation | None:
    """The first pair without a single most frequent outcome of win, loss and tie, or None."""
    p = _margins(problem) + 0.5
    ties = np.zeros_like(p) if problem.ties is None else np.asarray(problem.ties)
    outcomes = np.sort(np.stack([p - ties / 2, p.T - ties / 2, ties]), axis=0)
    several = np.argwhere(np.triu(outcomes[2] - outcomes[1] <= TOLERANCE, 1))
    if len(several) == 0:
        return None
    i, j = (int(arm) for arm in several[0])
    return Violation(
        "mode",
        (i, j),
        f"two outcomes of {pair_text(problem, i, j)} have the probability {outcomes[2, i, j]:.6g}",
    )


def _rst_violation(gamma: float, problem: DuelingProblem) -> Violation | None:
    """The triple that breaks relaxed stochastic transitivity by most, or None if it holds."""
    eps = _margins(problem)
    order = preference_order(problem)
    if order is None:
        i, j, k = intransitive_triple(eps, TOLERANCE)[1]
    else:
        i, beats = order[0], eps > TOLERANCE
        beats[i] = False
        shortfall = np.where(beats, np.maximum(eps[i][:, None], eps) - gamma * eps[i], -np.inf)
        j, k = (int(arm) for arm in np.unravel_index(np.argmax(shortfall), shortfall.shape))
        if shortfall[j, k] <= TOLERANCE:
            return None
    return Violation("rst", (i, j, k), _transitivity_text(problem, eps, i, j, k))


def _transitivity_text(problem: DuelingProblem, eps: np.ndarray, i: int, j: int, k: int) -> str:
    """The preferences of a triple that is not transitive enough."""
    a, b, c = (label(problem, arm) for arm in (i, j, k))
    return (
        f"p[{a}, {b}] = {0.5 + eps[i, j]:.6g} and p[{b}, {c}] = {0.5 + eps[j, k]:.6g}, "
        f"but p[{a}, {c}] = {0.5 + eps[i, k]:.6g}"
    )


_RELAXED = re.compile(r"rst (\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
_CHECKS: dict[str, tuple[str, Callable[[DuelingProblem], Violation | None]]] = {
    "condorcet": ("a Condorcet winner", condorcet_violation),
    "no ties": ("a preference in every pair", tie_violation),
    "mode": ("a single most frequent outcome of every pair", _mode_violation),
    "sst": ("strong stochastic transitivity (SST)", sst_violation),
    "sti": ("the stochastic triangle inequality (STI)", sti_violation),
}


def assumption_title(name: str) -> str:
    """An assumption in words: "a Condorcet winner" for "condorcet".

    Raises:
      InputError: an unknown assumption.
    """
    return _check_of(name)[0]


def _check_of(name: str) -> tuple[str, Callable[[DuelingProblem], Violation | None]]:
    """The words for an assumption, and its check."""
    if isinstance(name, str) and (relaxed := _RELAXED.fullmatch(name)):
        title = f"relaxed stochastic transitivity with gamma = {relaxed[1]} (RST)"
        return title, partial(_rst_violation, float(relaxed[1]))
    require_known("assumption", name, _CHECKS)
    return _CHECKS[name]


def broken_assumptions(problem: DuelingProblem, names: Iterable[str]) -> list[str]:
    """One sentence for each assumption that the instance breaks, with the arms that break it.

    Args:
      problem: the instance.
      names: of "condorcet", "no ties", "mode" (a single most frequent outcome of every pair, its
        ties told), "sst", "sti" and "rst G", G the gamma of relaxed stochastic transitivity, as in
        a policy's `assumes`.

    Raises:
      InputError: an unknown assumption.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.load("arxiv")
      >>> for sentence in jd.problems.broken_assumptions(problem, ["condorcet", "no ties"]):
      ...     print(sentence)
      'arxiv' lacks a preference in every pair: arms 3 and 5 are tied (arms counted from 0).
    """
    sentences = []
    for name in items_of(names, "the names of assumptions"):
        title, violation_of = _check_of(name)
        violation = violation_of(problem)
        if violation is not None:
            sentences.append(
                f"'{problem.name}' lacks {title}: {violation.reason}{counting(problem)}."
            )
    return sentences


def _margins(problem: DuelingProblem) -> np.ndarray:
    require_dueling(problem, "assumptions")
    return np.asarray(problem.preferences, dtype=np.float64) - 0.5


def _may_precede(eps: np.ndarray) -> np.ndarray:
    """True where i may stand before j > i, of arms in an order that agrees with the preferences;
    for j < i, where they may be swapped: no chain of wins leads from the earlier to the later."""
    num_arms = len(eps)
    beats = eps > TOLERANCE
    chain = np.packbits(beats, axis=1)
    for arm in reversed(range(num_arms)):
        beaten = chain[beats[arm]]
        chain[arm] |= np.bitwise_or.reduce(beaten, axis=0)
    return ~np.unpackbits(chain, axis=1, count=num_arms).astype(bool).T
