"""Regret bounds from the papers of CCB, SCB and D-TS, as functions of an instance.

Papers: Zoghi, Karnin, Whiteson and de Rijke, "Copeland Dueling Bandits" (NIPS 2015), and Wu and
Liu, "Double Thompson Sampling for Dueling Bandits" (NIPS 2016). All values are for "copeland"
regret, (L_i + L_j - 2 L_1) / (2 (K - 1)), and need an instance without ties.

Of an array they are functions of JAX (`jaxduel.theory`): NaN where two arms are tied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxduel.errors import InputError
from jaxduel.policies.checks import require_number
from jaxduel.problems import DuelingProblem
from jaxduel.problems.arm_names import arm_text, counting, pair_text
from jaxduel.problems.dueling import TIE
from jaxduel.theory.divergence import divergence_from_half, inverse_divergence, namespace
from jaxduel.theory.exploration import refuse_ties
from jaxduel.theory.margins import Instance, evaluate, losses, margins, untied


def ccb_constant(instance: Instance) -> Any:
    """CCB's constant of log T: K (C + L_C + 1) / Delta^2.

    Theorem 3 of Zoghi et al. bounds the regret 2 cpld(1) - cpld(i) - cpld(j), twice the one here,
    by 2 K (C + L_C + 1) / Delta^2 ln T + A2 sqrt(ln T) + A1, with probability 1 - delta for alpha >
    1/2, and in the mean for alpha > 1 only (section 5.1); C is the number of Copeland winners and
    L_C the number of arms that beat one. Its Delta is defined in an appendix that the text here
    lacks; it is at least the smallest gap, min |p_ij - 1/2|, "a little bit looser" in the words of
    Komiyama et al. (section 4.4) and taken here: the value is a valid, if larger, constant. Over
    10,000 random submatrices its mean is 9.14e5 +- 0.03e5, where their Table 1 has 8.8e5.

    Args:
      instance: a problem, or a (K, K) array of preferences.

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: two arms are tied (unless traced).

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.load("cyclic")  # K = 4, C = 1, L_C = 0, smallest gap 0.1
      >>> f"{jd.theory.ccb_constant(problem):.1f}"
      '800.0'
    """
    return evaluate(_ccb, instance, refuse_ties, untied)


def scb_order(instance: Instance) -> Any:
    """The factor of log T in the O() of SCB's bound: an order, not a bound.

    (1/K) sum_i H_i (1 - cpld_i) / Delta_i^2, Theorem 5 of Zoghi et al., with Definition 4: cpld_i =
    1 - L_i / (K - 1), H_i = sum over j != i of 1 / (p_ij - 1/2)^2 and Delta_i = max(cpld_1 -
    cpld_i, 1 / (K - 1)).

    Args:
      instance: a problem, or a (K, K) array of preferences.

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: two arms are tied (unless traced).

    Example:
      >>> import jaxduel as jd
      >>> f"{jd.theory.scb_order(jd.problems.load('cyclic')):.1f}"
      '126.6'
    """
    return evaluate(_scb, instance, refuse_ties, untied)


def dts_constant(instance: Instance, alpha: float = 0.51, epsilon: float = 0.0) -> Any:
    """D-TS's constant of log T by its Proposition 1, eq. (2).

    The sum over all pairs of 4 alpha / (p_ij - 1/2)^2 + (1 + epsilon) / d(p_ij, 1/2).

    Args:
      instance: a problem, or a (K, K) array of preferences.
      alpha: width of the policy's confidence bounds, > 1/2.
      epsilon: any positive number; 0 is the infimum.

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: two arms are tied (unless traced), alpha <= 1/2, or epsilon < 0.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.load("cyclic")
      >>> f"{jd.theory.dts_constant(problem):.1f}"
      '807.4'
      >>> f"{jd.theory.dts_constant(problem, alpha=1.0):.1f}"
      '1432.1'
    """
    _require_widths(alpha, epsilon)
    return evaluate(_dts, instance, refuse_ties, untied, alpha, epsilon)


def dts_refined_constant(instance: Instance, alpha: float = 0.51, epsilon: float = 0.0) -> Any:
    """D-TS's, and D-TS+'s, constant of log T by Theorem 1, eq. (6), and Corollary 1.

    For each Copeland winner 4 alpha / (p - 1/2)^2 for those that beat it and (1 + epsilon) /
    d(p, 1/2) for those that it beats; for each other arm 4 alpha / (p - 1/2)^2 for the L_C + 1
    arms that beat it most clearly.

    Args:
      instance: a problem, or a (K, K) array of preferences.
      alpha: width of the policy's confidence bounds, > 1/2.
      epsilon: any positive number; 0 is the infimum.

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: alpha <= 1/2 or epsilon < 0; or, unless traced, two arms are tied, or the
        theorem's Assumption 2 does not hold: of some arm, the (L_C + 1)-th and the next strongest
        superior are equally strong, within 1e-9.

    Example:
      >>> import jaxduel as jd
      >>> problem = jd.problems.load("cyclic")
      >>> f"{jd.theory.dts_refined_constant(problem):.1f}"  # dts_constant: 807.4
      '187.2'
    """
    _require_widths(alpha, epsilon)
    return evaluate(_dts_refined, instance, _require_assumption_2, _assumption_2, alpha, epsilon)


def dts_loglog_constant(instance: Instance, beta: float = 2.0, epsilon: float = 0.0) -> Any:
    """The factor of log log T in Theorem 1, eq. (6), of D-TS.

    beta (1 + epsilon)^2 times the sum over all arms i but the winners, and over all arms j behind
    the L_C + 1 that beat i most clearly (i among them), of 1 / d(p_ji, p_ki), k the last of those.

    Args:
      instance: a problem, or a (K, K) array of preferences.
      beta: any number above 2; 2 is the infimum.
      epsilon: any positive number; 0 is the infimum.

    Returns:
      A float; of an array a JAX scalar, differentiable.

    Raises:
      InputError: as `dts_refined_constant`, or beta < 2.

    Example:
      >>> import jaxduel as jd
      >>> f"{jd.theory.dts_loglog_constant(jd.problems.load('cyclic')):.2f}"
      '34.44'
    """
    require_number(beta, lambda x: x >= 2, "beta must be at least 2 for D-TS's bounds")
    _require_widths(1.0, epsilon)
    return evaluate(_dts_loglog, instance, _require_assumption_2, _assumption_2, beta, epsilon)


def _inverse_squares(x: Any) -> Any:
    """1 / (p_ij - 1/2)^2 of margins, 0 where they are 0, as on the diagonal."""
    xp = namespace(x)
    return xp.where(x == 0, 0.0, 4.0 / xp.where(x == 0, 1.0, x) ** 2)


def _inverse_divergences(x: Any) -> Any:
    """1 / d(p_ij, 1/2) of margins, 0 where they are 0."""
    xp = namespace(x)
    return xp.where(x == 0, 0.0, 1.0 / divergence_from_half(xp.where(x == 0, 1.0, x)))


def _ccb(x: Any) -> Any:
    xp = namespace(x)
    lost = losses(x)
    arms = len(x) * (xp.sum(lost == xp.min(lost)) + xp.min(lost) + 1)
    return arms * xp.max(_inverse_squares(x))


def _scb(x: Any) -> Any:
    xp = namespace(x)
    lost = losses(x)
    hardness = xp.sum(_inverse_squares(x), axis=1)
    excess = xp.maximum(lost - xp.min(lost), 1)
    return xp.mean(hardness * (lost * (len(x) - 1)) / excess**2)


def _dts(x: Any, alpha: Any, epsilon: Any) -> Any:
    terms = 4.0 * alpha * _inverse_squares(x) + (1.0 + epsilon) * _inverse_divergences(x)
    return namespace(x).sum(terms) / 2


def _dts_refined(x: Any, alpha: Any, epsilon: Any) -> Any:
    xp = namespace(x)
    ranked, count, winners = _ranked(x)
    beaten = 4.0 * alpha * _inverse_squares(x)
    beats = (1.0 + epsilon) * _inverse_divergences(x)
    strongest = xp.where(xp.arange(len(x)) < count, 4.0 * alpha * _inverse_squares(ranked), 0.0)
    return xp.sum(xp.where(winners[:, None], xp.where(x < 0, beaten, beats), strongest))


def _dts_loglog(x: Any, beta: Any, epsilon: Any) -> Any:
    xp = namespace(x)
    ranked, count, winners = _ranked(x)
    rest = (xp.arange(len(x)) >= count) & ~winners[:, None]
    p = (1.0 - ranked) / 2
    q = xp.broadcast_to(p[:, count - 1][:, None], p.shape)
    inverse = inverse_divergence(xp.where(rest, p, 0.25), xp.where(rest, q, 0.75))
    return beta * (1.0 + epsilon) * (1.0 + epsilon) * xp.sum(xp.where(rest, inverse, 0.0))


def _ranked(x: Any) -> tuple[Any, Any, Any]:
    """Each arm's margins, those against the arms that beat it most clearly first; L_C + 1; and
    which arms are Copeland winners."""
    xp = namespace(x)
    lost = losses(x)
    return xp.sort(x, axis=1), xp.min(lost) + 1, lost == xp.min(lost)


def _assumption_2(x: Any) -> Any:
    """True if Theorem 1 of D-TS applies, of margins: no ties, and Assumption 2."""
    xp = namespace(x)
    ranked, count, winners = _ranked(x)
    return untied(x) & xp.all(winners | (ranked[:, count] - ranked[:, count - 1] > 2 * TIE))


def _require_widths(alpha: float, epsilon: float) -> None:
    require_number(alpha, lambda x: x > 0.5, "alpha must be above 1/2 for D-TS's bounds")
    require_number(epsilon, lambda x: x >= 0, "epsilon must be at least 0 for D-TS's bounds")


def _require_assumption_2(problem: DuelingProblem) -> None:
    """Raises InputError that names the first arms that are tied, or break Assumption 2."""
    refuse_ties(problem)
    x = margins(np.asarray(problem.preferences, dtype=np.float64))
    _, count, winners = _ranked(x)
    for arm in np.flatnonzero(~winners).tolist():
        order = np.argsort(x[arm], kind="stable").tolist()
        first, second = order[count - 1], order[count]
        if x[arm, second] - x[arm, first] <= 2 * TIE:
            raise InputError(
                f"'{problem.name}' breaks Assumption 2 of D-TS's Theorem 1: "
                f"{pair_text(problem, first, second)} beat {arm_text(problem, arm)} equally clearly"
                f"{counting(problem)}."
            )
