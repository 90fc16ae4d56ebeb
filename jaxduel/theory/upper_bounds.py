"""What the papers of CCB, SCB and D-TS prove of their regret, as functions of an instance.

Papers: Zoghi, Karnin, Whiteson and de Rijke, "Copeland Dueling Bandits" (NIPS 2015), and Wu and
Liu, "Double Thompson Sampling for Dueling Bandits" (NIPS 2016). All values are for "copeland"
regret, (L_i + L_j - 2 L_1) / (2 (K - 1)), and need an instance without ties.
"""

from __future__ import annotations

import numpy as np
from scipy.special import rel_entr

from jaxduel.errors import InputError
from jaxduel.problems import DuelingProblem
from jaxduel.theory.exploration import Exploration, explore


def ccb_constant(problem: DuelingProblem) -> float:
    """CCB's constant of log T: K (C + L_C + 1) / Delta^2.

    Theorem 3 of Zoghi et al. bounds the regret 2 cpld(1) - cpld(i) - cpld(j), twice the one here,
    by 2 K (C + L_C + 1) / Delta^2 ln T + A2 sqrt(ln T) + A1, for alpha > 1/2; C is the number of
    Copeland winners and L_C how many arms beat one. Its Delta is defined in an appendix that the
    text here lacks; it is at least the smallest gap, min |p_ij - 1/2|, "a little bit looser" in
    the words of Komiyama et al. (section 4.4) and taken here: the value is a valid, if larger,
    constant. Over 10,000 random submatrices its mean is 9.16e5 +- 0.03e5, where their Table 1 has
    8.8e5.

    Args:
      problem: the instance.

    Raises:
      InputError: two arms are tied.
    """
    instance = explore(problem)
    arms = problem.num_arms * (len(instance.winners) + int(instance.losses.min()) + 1)
    return float(arms / np.min(_margins(problem)) ** 2)


def scb_order(problem: DuelingProblem) -> float:
    """What stands in the O() of SCB's bound, beside log T: an order, not a bound.

    (1/K) sum_i H_i (1 - cpld_i) / Delta_i^2, Theorem 5 of Zoghi et al., with Definition 4: cpld_i =
    1 - L_i / (K - 1), H_i = sum over j != i of 1 / (p_ij - 1/2)^2 and Delta_i = max(cpld_1 -
    cpld_i, 1 / (K - 1)).

    Args:
      problem: the instance.

    Raises:
      InputError: two arms are tied.
    """
    losses = explore(problem).losses
    hardness = np.sum(_margins(problem) ** -2.0, axis=1)
    gaps = np.maximum(losses - losses.min(), 1) / (problem.num_arms - 1)
    lost = losses / (problem.num_arms - 1)
    return float(np.mean(hardness * lost / gaps**2))


def dts_constant(problem: DuelingProblem, alpha: float = 0.51, epsilon: float = 0.0) -> float:
    """D-TS's constant of log T by its Proposition 1, eq. (2).

    The sum over all pairs of 4 alpha / (p_ij - 1/2)^2 + (1 + epsilon) / d(p_ij, 1/2).

    Args:
      problem: the instance.
      alpha: width of the policy's confidence bounds, > 1/2.
      epsilon: any positive number; 0 is the infimum.

    Raises:
      InputError: two arms are tied, or alpha <= 1/2.
    """
    instance, beaten = _explored(problem, alpha)
    return float(
        np.sum(_lost(problem, alpha)[beaten] + (1 + epsilon) / instance.divergence[beaten])
    )


def dts_refined_constant(
    problem: DuelingProblem, alpha: float = 0.51, epsilon: float = 0.0
) -> float:
    """D-TS's, and D-TS+'s, constant of log T by Theorem 1, eq. (6), and Corollary 1.

    For each Copeland winner 4 alpha / (p - 1/2)^2 for those that beat it and (1 + epsilon) /
    d(p, 1/2) for those that it beats; for each other arm 4 alpha / (p - 1/2)^2 for the L_C + 1
    arms that beat it most clearly.

    Args:
      problem: the instance.
      alpha: width of the policy's confidence bounds, > 1/2.
      epsilon: any positive number; 0 is the infimum.

    Raises:
      InputError: two arms are tied, alpha <= 1/2, or the theorem's Assumption 2 does not hold: of
        some arm, the (L_C + 1)-th and the next strongest superior are equally strong.
    """
    instance, beaten = _explored(problem, alpha)
    lost = _lost(problem, alpha)
    total = 0.0
    for arm in instance.winners:
        total += np.sum(lost[arm, beaten[arm]])
        total += np.sum((1 + epsilon) / instance.divergence[arm, instance.beats[arm]])
    for arm, strongest, _ in _strongest(problem, instance):
        total += np.sum(lost[arm, strongest])
    return float(total)


def dts_loglog_constant(problem: DuelingProblem, beta: float = 2.0, epsilon: float = 0.0) -> float:
    """What multiplies log log T in Theorem 1, eq. (6), of D-TS.

    beta (1 + epsilon)^2 times the sum over all arms i but the winners, and over all arms j behind
    the L_C + 1 that beat i most clearly (i among them), of 1 / d(p_ji, p_ki), k the last of those.

    Args:
      problem: the instance.
      beta: any number above 2; 2 is the infimum.
      epsilon: any positive number; 0 is the infimum.

    Raises:
      InputError: as `dts_refined_constant`.
    """
    p = np.asarray(problem.preferences, dtype=np.float64)
    total = 0.0
    for arm, strongest, rest in _strongest(problem, explore(problem)):
        best, other = p[strongest[-1], arm], p[rest, arm]
        total += np.sum(1.0 / (rel_entr(other, best) + rel_entr(1.0 - other, 1.0 - best)))
    return float(beta * (1 + epsilon) ** 2 * total)


def _margins(problem: DuelingProblem) -> np.ndarray:
    """|p_ij - 1/2|, infinite on the diagonal."""
    margins = np.abs(np.asarray(problem.preferences, dtype=np.float64) - 0.5)
    np.fill_diagonal(margins, np.inf)
    return margins


def _lost(problem: DuelingProblem, alpha: float) -> np.ndarray:
    """4 alpha / (p_ij - 1/2)^2."""
    return 4.0 * alpha / _margins(problem) ** 2


def _explored(problem: DuelingProblem, alpha: float) -> tuple[Exploration, np.ndarray]:
    """The instance, and which arms (columns) beat which (rows)."""
    if not alpha > 0.5:
        raise InputError(f"alpha must be above 1/2 for D-TS's bounds, not {alpha}.")
    instance = explore(problem)
    return instance, instance.beats.T


def _strongest(
    problem: DuelingProblem, instance: Exploration
) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """For each arm but the winners: the L_C + 1 arms that beat it most clearly, and the rest."""
    p = np.asarray(problem.preferences, dtype=np.float64)
    count = int(instance.losses.min()) + 1
    found = []
    for arm in np.flatnonzero(instance.losses >= count):
        order = np.argsort(-p[:, arm], kind="stable")
        first, second = order[count - 1], order[count]
        if p[first, arm] == p[second, arm]:
            raise InputError(
                f"'{problem.name}' breaks Assumption 2 of D-TS's Theorem 1: arms {first} and "
                f"{second} beat arm {arm} equally clearly (counted from 0)."
            )
        found.append((int(arm), order[:count], order[count:]))
    return found
