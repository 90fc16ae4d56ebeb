"""Parts of the Copeland bounds: losses, costs of exploration, and constraints on it.

Paper: Komiyama, Honda and Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal
Algorithm, and Computationally Efficient Algorithm" (ICML 2016), sections 2 and 3. Arms count from
0. Exploration of a pair is measured by e_ij = q_ij d(p_ij, 1/2) in [0, 1], where q_ij log T is how
often the pair is compared and d the Bernoulli divergence: at e_ij = 1 it is known who wins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from jaxduel.errors import InputError, shorten
from jaxduel.problems import DuelingProblem
from jaxduel.problems.arm_names import counting, pair_text
from jaxduel.problems.dueling import require_dueling
from jaxduel.theory.divergence import divergence_from_half, namespace
from jaxduel.theory.margins import losses, margins


@dataclasses.dataclass(frozen=True, eq=False)
class CopelandBound:
    """A constant of log T and the exploration that attains it.

    Example:
      >>> import jaxduel as jd
      >>> bound = jd.theory.copeland_lower_bound(jd.problems.load("cyclic"))
      >>> f"{bound.constant:.2f}"
      '27.55'
      >>> print(bound.allocation[0].round(1))  # of arm 0, the winner, with each arm, per log T
      [ 0.  24.8 24.8 24.8]
    """

    constant: float
    """The factor of log T, in "copeland" regret: (L_i + L_j - 2 L_1) / (2 (K - 1)) for comparing
    arm i with arm j, L_i the number of arms that beat arm i and L_1 the least of them."""
    allocation: np.ndarray = dataclasses.field(repr=False)
    """(K, K) float64, symmetric, 0 on the diagonal: q_ij, comparisons of the pair per log T. One of
    the optima where there are several; its cost is `constant`."""
    winner: int
    """The Copeland winner that this exploration identifies, the cheapest one; counted from 0."""
    per_winner: dict[int, float]
    """The constant of each Copeland winner that was considered."""
    gap: float
    """Largest relative amount by which `constant` can be too large: its distance to a lower bound
    from linear programming duality; 0 for closed forms."""


class Exploration(NamedTuple):
    """The numbers of an instance that the bounds use."""

    losses: np.ndarray  # (K,) int64: L_i, the number of arms that beat arm i
    beats: np.ndarray  # (K, K) bool: True where row beats column
    divergence: np.ndarray  # (K, K) float64: d(p_ij, 1/2) in nats, 1 on the diagonal
    cost: np.ndarray  # (K, K) float64: r_ij / d(p_ij, 1/2), regret of e_ij = 1, 0 on the diagonal
    winners: tuple[int, ...]  # the arms of fewest losses


class Family(NamedTuple):
    """Constraints of one arm i2: for every choice of `others` inferiors of the winner i1 other than
    i2, together with i2 if `rival_too`, and of `superiors` of the superiors of i2 other than i1,

        sum of e_{i1 j} over the inferiors + sum of e_{i2 j} over the superiors >= 1.
    """

    rival: int
    others: int
    rival_too: bool
    superiors: int


def explore(problem: DuelingProblem) -> Exploration:
    """The numbers that the bounds need of an instance.

    Args:
      problem: the instance, with a concrete matrix.

    Raises:
      InputError: two arms are tied, for which the bounds are not defined (section 2).
    """
    require_dueling(problem, "Copeland bounds")
    refuse_ties(problem)
    p = np.asarray(problem.preferences, dtype=np.float64)
    x = margins(p)
    divergence = divergence_from_half(x)
    np.fill_diagonal(divergence, 1.0)
    return Exploration(losses(x), x > 0, divergence, costs(x), problem.copeland_winners)


def costs(x: Any) -> Any:
    """r_ij / d(p_ij, 1/2), the "copeland" regret of e_ij = 1.

    Args:
      x: (K, K) margins p_ij - p_ji, NumPy's or JAX's.

    Returns:
      (K, K) of that kind and dtype; 0 on the diagonal and where arms are tied.
    """
    xp = namespace(x)
    lost = losses(x)
    excess = (lost - xp.min(lost)).astype(x.dtype)
    regret = (excess[:, None] + excess[None, :]) / (2 * (len(x) - 1))
    apart = x != 0
    return xp.where(apart, regret / divergence_from_half(xp.where(apart, x, 1.0)), 0.0)


def refuse_ties(problem: DuelingProblem) -> None:
    """Raises InputError that names the first tied pair, if there is one."""
    p = np.asarray(problem.preferences, dtype=np.float64)
    tied = np.argwhere(np.triu(p == 0.5, 1))
    if len(tied):
        i, j = tied[0]
        more = f" and {len(tied) - 1} more" if len(tied) > 1 else ""
        pairs = f"{pair_text(problem, i, j)}{more}{counting(problem)}"
        raise InputError(
            f"'{problem.name}' has p = 1/2 for {pairs}: Copeland bounds need instances without "
            "ties."
        )


def chosen_winners(problem: DuelingProblem, winner: int | None) -> tuple[int, ...]:
    """All Copeland winners, or the one asked for; InputError if that is none."""
    winners = problem.copeland_winners
    if winner is None:
        return winners
    whole = isinstance(winner, int | np.integer) and not isinstance(winner, bool)
    if not whole or winner not in winners:
        raise InputError(
            f"arm {shorten(repr(winner))} is not a Copeland winner of '{problem.name}': "
            f"{', '.join(map(str, winners))} are (counted from 0)."
        )
    return (winner,)


def superiors(instance: Exploration, winner: int, rival: int) -> np.ndarray:
    """The arms that beat `rival`, other than `winner`, the cheapest to compare with it first."""
    mask = instance.beats[:, rival].copy()
    mask[winner] = False
    arms = np.flatnonzero(mask)
    return arms[np.argsort(instance.cost[rival, arms], kind="stable")]


def families(instance: Exploration, winner: int) -> Iterator[Family]:
    """The constraints on exploration of Lemma 1 and eq. (2) for a winner i1, as families.

    For all i2 != i1 and l in {max(0, L_1 - 1), .., L^(2)}, L^(2) the second smallest number of
    losses with multiplicity: l + 1 - L_1 inferiors of i1, and max(0, L_i2 - l - 1{i2 among them})
    superiors of i2. Sets larger than what there is to choose from do not exist.
    """
    least, second = np.sort(instance.losses)[:2]
    inferiors = int(np.sum(instance.beats[winner]))
    for rival in range(len(instance.losses)):
        if rival == winner:
            continue
        beaten = bool(instance.beats[winner, rival])
        available = int(instance.losses[rival]) - beaten
        for level in range(max(0, least - 1), second + 1):
            for rival_too in (False, True) if beaten else (False,):
                others = int(level + 1 - least) - rival_too
                size = max(0, int(instance.losses[rival]) - level - rival_too)
                if 0 <= others <= inferiors - beaten and size <= available:
                    yield Family(rival, others, rival_too, size)


def efficient_families(instance: Exploration, winner: int) -> Iterator[Family]:
    """The constraints of ECW-RMED, eqs. (4) and (5), for a winner i1, as families.

    Each inferior of i1 is fully explored against it, and each i2 != i1 against every
    L_i2 - L_1 + 1 of its superiors other than i1, where there are that many.
    """
    least = int(instance.losses.min())
    for rival in range(len(instance.losses)):
        if rival == winner:
            continue
        beaten = bool(instance.beats[winner, rival])
        size = int(instance.losses[rival]) - least + 1
        if beaten:
            yield Family(rival, 0, True, 0)
        if size <= instance.losses[rival] - beaten:
            yield Family(rival, 0, False, size)


def best_bound(instance: Exploration, solutions: dict[int, np.ndarray]) -> CopelandBound:
    """The cheapest of each winner's explorations e, a (K, K) symmetric matrix in [0, 1]."""
    per_winner = {
        winner: float(np.sum(np.triu(instance.cost * explored, 1)))
        for winner, explored in solutions.items()
    }
    winner = min(per_winner, key=per_winner.__getitem__)
    allocation = solutions[winner] / instance.divergence
    return CopelandBound(per_winner[winner], allocation, winner, per_winner, gap=0.0)
