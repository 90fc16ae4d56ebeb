"""The least number of pulls that name the best arm, and the shares of the arms that attain it.

Paper: Garivier and Kaufmann, "Optimal Best Arm Identification with Fixed Confidence" (COLT 2016),
Theorem 1 and section 2.2. With shares w of the arms, best arm 1 and laws of divergence d,

    1 / T* = max over w of min over a != 1 of min over m of w_1 d(mu_1, m) + w_a d(mu_a, m):

the instances that deny that arm 1 is the best, and are the hardest to tell from this one, move the
means of arm 1 and of one rival to a common m. The paper treats one-parameter exponential families,
where m is the weighted mean; nothing changes for Gaussian arms whose standard deviations s_a differ
and are known, where the weights are w_a / s_a^2.

Its section 2.2 in other variables. With x_a = w_a / w_1 and m_a the m of rival a, the optimum has

    y = d(mu_1, m_a) + x_a d(mu_a, m_a) for all a    and    sum_a d(mu_1, m_a) / d(mu_a, m_a) = 1,

and T* = (1 + sum_a x_a) / y. A rival's m_a is mu_a + f gap_a, 0 < f < 1, and its y falls with f:
both sums are monotone in f of the closest rival, in which the root is found. Logits of f take the
place of f, so that neither end loses digits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from jaxduel.errors import InputError
from jaxduel.problems import ArmsProblem
from jaxduel.theory.divergence import divergence
from jaxduel.theory.hardness import one_best_arm

_ENDS = 200.0
"""Largest logit of f that is considered."""
_MOST_APART = 1e50
"""Largest ratio of standard deviations, for which the root is well between the ends."""
_HALVINGS = 64

Divergences = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""d(mu_1, m_a) and d(mu_a, m_a) of logits, (K - 1,) each."""


@dataclasses.dataclass(frozen=True, eq=False)
class CharacteristicTime:
    """T* of an instance, and the allocation that attains it.

    Example:
      >>> import jaxduel as jd
      >>> found = jd.theory.characteristic_time(jd.problems.gaussian([0.6, 0.5]))
      >>> f"{found.time:.1f}", found.allocation.tolist()
      ('800.0', [0.5, 0.5])
    """

    time: float
    """T*, in pulls per nat of evidence."""
    allocation: np.ndarray = dataclasses.field(repr=False)
    """(K,) float64, positive, of sum 1: w*, the shares of the arms."""


def characteristic_time(problem: ArmsProblem) -> CharacteristicTime:
    """T* and w* of Garivier and Kaufmann: a policy that names a wrong arm with probability at most
    delta on every instance needs T* log(1 / delta) pulls in the mean as delta goes to 0, and no
    less than kl(delta, 1 - delta) T* ever (`identification_lower_bound`).

    Instances are those with rewards of the same kind: the standard deviations of Gaussian arms are
    known. Of two Gaussian arms T* is 2 (std_1 + std_2)^2 / gap^2, with shares as the standard
    deviations. The relative error is below 1e-9.

    Args:
      problem: arms with rewards.

    Raises:
      InputError: if `problem` is none of arms with rewards, several arms are the best, or standard
        deviations differ by a factor above 1e50.

    Example:
      >>> import jaxduel as jd
      >>> found = jd.theory.characteristic_time(jd.problems.bernoulli([0.5, 0.45, 0.43, 0.4]))
      >>> round(found.time), found.allocation.round(3).tolist()
      (990, [0.417, 0.39, 0.136, 0.057])
    """
    from scipy.optimize import root_scalar  # here: slow to import, and seldom needed

    best = one_best_arm(problem, "characteristic_time")
    means = np.asarray(problem.means, np.float64)
    gaps = np.delete(means[best] - means, best)
    scale = 1.0
    if problem.std is None:
        spread, divergences = 1.0, _coins(np.delete(means, best), 1 - means[best], gaps)
    else:
        std = np.asarray(problem.std, np.float64)
        if std.max() / _MOST_APART > std.min():
            raise InputError(
                f"characteristic_time: standard deviations of '{problem.name}' are from "
                f"{std.min():g} to {std.max():g}, and differ by a factor above {_MOST_APART:g}."
            )
        ratios = np.delete(std, best) / std[best]
        scale = float(gaps.min() / std[best])
        spread, divergences = ratios**2, _normal(gaps / gaps.min(), ratios)
    closest = np.argmin(gaps)

    def evidence(logits: np.ndarray) -> np.ndarray:
        own, rival = divergences(logits)
        return own + spread * np.exp(-logits) * rival

    def all_logits(logit: float) -> np.ndarray:
        """The logits at which all rivals have the evidence of the closest at this one."""
        y = evidence(np.full(len(gaps), logit))[closest]
        low, high = np.full(len(gaps), -_ENDS), np.full(len(gaps), _ENDS)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            more = evidence(middle) > y
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        low[closest] = logit
        return low

    def excess(logit: float) -> float:
        own, rival = divergences(all_logits(logit))
        return float(np.log(np.sum(own / rival)))

    found = root_scalar(excess, bracket=(-_ENDS, _ENDS), xtol=1e-12)
    logits = all_logits(found.root)
    pulls = np.insert(spread * np.exp(-logits), best, 1.0)
    time = float(pulls.sum() / evidence(logits)[closest])
    return CharacteristicTime(time / scale / scale, pulls / pulls.sum())


def _normal(gaps: np.ndarray, ratios: np.ndarray) -> Divergences:
    """Divergences of normal laws, in units of the closest rival's gap and the best arm's standard
    deviation."""

    def divergences(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        up, down = _fractions(logits)
        return (down * gaps) ** 2 / 2, (up * gaps / ratios) ** 2 / 2

    return divergences


def _coins(rivals: np.ndarray, best_fails: float, gaps: np.ndarray) -> Divergences:
    """Divergences of Bernoulli laws."""

    def divergences(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        up, down = _fractions(logits)
        return divergence(np.full(len(gaps), best_fails), down * gaps), divergence(
            rivals, up * gaps
        )

    return divergences


def _fractions(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """f and 1 - f."""
    return 1 / (1 + np.exp(-logits)), 1 / (1 + np.exp(logits))
