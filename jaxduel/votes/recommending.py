"""Recommendations from win counts: orders of arms by a rule, and measures of their quality.

The recommended arm is the first of the order. Host code in float64, vectorised over leading axes
`...`: seeds, checkpoints. Diagonals of win counts do not matter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from jaxduel.arguments import require_known
from jaxduel.errors import SolverError
from jaxduel.policies.checks import require_probability
from jaxduel.problems.strengths import PRIOR_STD
from jaxduel.stats import wilson95

RULES = ("copeland", "borda", "btl")
"""Names of the rules that read an order of the arms off win counts."""

_TIED_BORDA = 1e-12
"""Scores of equal rationals differ by less, by rounding."""
_TIED_STRENGTHS = 1e-9
_DECREMENT = 1e-12
"""Squared Newton decrement after whose step strengths are right to about 1e-11."""
_MOST_STEPS = 200
_ROUNDING = 1e-12
"""Rounding of a share."""
_PART = 2**16
"""Counts that are worked on at once: they fit into a processor's cache."""


def order(rule: str, wins: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """The arms in the order of a rule, the best first.

    - "copeland": the number of arms that arm i leads, w_ij > w_ji, and half of the arms that it is
      level with, such as arms that it never met; ties by borda, then by noise;
    - "borda": the mean over j of (w_ij + 1/2) / (w_ij + w_ji + 1); ties by noise;
    - "btl": the strengths of `btl_strengths`, which are tied if they differ by less than 1e-9; ties
      by noise.

    Args:
      rule: one of `RULES`.
      wins: (..., K, K) integers; wins[..., i, j] is the number of votes for arm i over arm j.
      noise: (..., K) floats, independent and uniform: of tied arms, the smallest noise comes first.

    Returns:
      (..., K) int64.

    Raises:
      InputError: an unknown rule.

    Example:
      >>> import numpy as np
      >>> from jaxduel.votes.recommending import order
      >>> wins = np.array([[0, 3, 3], [2, 0, 9], [2, 0, 0]])
      >>> noise = np.array([0.1, 0.2, 0.3])
      >>> order("copeland", wins, noise).tolist(), order("btl", wins, noise).tolist()
      ([0, 1, 2], [1, 0, 2])
    """
    require_known("rule", rule, RULES)
    if rule == "btl":
        return np.lexsort((noise, _places(btl_strengths(wins), _TIED_STRENGTHS)))
    borda = _places(_in_parts(_borda_scores, wins), _TIED_BORDA)
    if rule == "borda":
        return np.lexsort((noise, borda))
    return np.lexsort((noise, borda, -_in_parts(_arms_led, wins)))


def btl_strengths(wins: np.ndarray) -> np.ndarray:
    """Strengths of a Bradley-Terry-Luce model with prior N(0, 2^2), at the mode of the posterior.

    The model of `jaxduel.problems.strengths`, for many small problems at once: Newton's method, all
    problems of a part together. No step needs the likelihood to see whether it gains. Along a step
    s of squared decrement D the log-posterior f has slope D and curvature -D at t = 0, and a third
    derivative of at most R |f''|, R = max s - min s (Bach, "Self-concordant analysis for logistic
    regression", 2010). Hence f'(t) >= D (1 - (exp(R t) - 1) / R): a full step, taken up to R = 1,
    gains at least D (1 - (exp(R) - 1 - R) / R^2) > D / 4; and beyond, the step ends where this
    bound of the slope is 0, at t = log(1 + R) / R.

    Args:
      wins: (..., K, K) integers.

    Returns:
      (..., K) float64, mean 0.

    Raises:
      SolverError: Newton's method did not converge.
    """
    return _in_parts(_newton, wins)


def kendall_tau(order: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Kendall's tau of orders and true scores, over the pairs that are not tied in the truth.

    The share of pairs in the right order minus the share in the wrong order. Orders have no ties,
    and pairs tied in the truth are left out: 1 is reached however many there are, unlike in tau-b.

    Args:
      order: (..., K) arms, the best first.
      truth: (K,) or (..., K) scores, the larger the better.

    Returns:
      (...) float64 from -1 to 1; NaN if all scores are equal.
    """
    scores = np.take_along_axis(np.broadcast_to(truth, order.shape), order, axis=-1)
    right = wrong = np.zeros(order.shape[:-1])
    for place in range(order.shape[-1] - 1):
        one, later = scores[..., place, None], scores[..., place + 1 :]
        right = right + np.sum(one > later, axis=-1)
        wrong = wrong + np.sum(one < later, axis=-1)
    with np.errstate(invalid="ignore"):
        return (right - wrong) / (right + wrong)


def votes_needed(
    checkpoints: ArrayLike, correct: np.ndarray, target: float
) -> tuple[float, float, float]:
    """Votes from which on the best arm is named with probability `target`, and a 95 % interval.

    The probability is taken to increase with the votes. Its estimate is the isotonic regression of
    the proportions at checkpoints, the maximum likelihood among increasing curves (a running
    maximum would follow every upward error), and the value is the least number of votes at which
    that reaches the target. Between checkpoints the estimate is linear in log(1 + votes), so that 0
    may be a checkpoint.

    The interval's ends are checkpoints: the last one before the upper ends of the Wilson intervals
    reach the target, and the first from which on the lower ends have it. The votes at which the
    true curve crosses the target are between them whenever the Wilson interval covers at the two
    checkpoints around that place, whatever the curve does between checkpoints: that of a policy
    that plays in rounds is a step. No correction is needed for looking at many checkpoints, nor for
    their correlation (the less there is, the more the interval errs on the safe side), and unlike a
    bootstrap's the interval holds up where no run fails.

    Args:
      checkpoints: (M,) votes, increasing, at least 0.
      correct: (S, M) bool, of independent runs.
      target: a probability, strictly between 0 and 1.

    Returns:
      value, lower and upper end, in votes; inf where the last checkpoint is not enough. A crossing
      at or before the first checkpoint is given as that checkpoint.

    Raises:
      InputError: a target that is no such probability.
    """
    share = correct.mean(axis=0)
    return crossings(checkpoints, share, *wilson95(correct.sum(axis=0), len(correct)), target)


def crossings(
    checkpoints: ArrayLike, share: np.ndarray, lower: np.ndarray, upper: np.ndarray, target: float
) -> tuple[float, float, float]:
    """`votes_needed` of shares and the ends of their intervals, (M,) float64 each."""
    from scipy.optimize import isotonic_regression

    require_probability(target, "target")
    times = np.append(np.asarray(checkpoints, dtype=np.float64), np.inf)
    value = _crossing(times, isotonic_regression(share).x, target)
    above = int(np.argmax(np.append(upper, 1.0) >= target))
    low = times[max(above - 1, 0)] if above < len(upper) else np.inf
    high = times[len(lower) - int(np.argmax(np.append(lower[::-1], 0.0) <= target))]
    return value, min(float(low), value), max(float(high), value)


def _in_parts(score: Callable[[np.ndarray], np.ndarray], wins: np.ndarray) -> np.ndarray:
    """Scores (..., K) of wins (..., K, K), by a function of (n, K, K) float64."""
    num_arms = wins.shape[-1]
    problems = wins.reshape(-1, num_arms, num_arms)
    scores = np.empty(problems.shape[:2])
    size = max(_PART // num_arms**2, 1)
    for start in range(0, len(problems), size):
        part = slice(start, start + size)
        scores[part] = score(problems[part].astype(np.float64))
    return scores.reshape(wins.shape[:-1])


def _arms_led(wins: np.ndarray) -> np.ndarray:
    """Arms that each arm leads minus arms that lead it: its Copeland score up to scale and
    offset."""
    return np.sum(np.sign(wins - np.swapaxes(wins, 1, 2)), axis=2)


def _borda_scores(wins: np.ndarray) -> np.ndarray:
    """The mean over j != i of (w_ij + 1/2) / (n_ij + 1); of j = i it would be 1/2."""
    won = wins + 0.5
    shares = won / (won + np.swapaxes(won, 1, 2))
    return (np.sum(shares, axis=2) - 0.5) / (wins.shape[2] - 1)


def _places(scores: np.ndarray, tolerance: float) -> np.ndarray:
    """Places of scores, from 0 for the largest; neighbours within the tolerance share a place."""
    best_first = np.argsort(-scores, axis=-1)
    falling = np.take_along_axis(scores, best_first, axis=-1)
    steps = falling[..., :-1] - falling[..., 1:] > tolerance
    places = np.zeros_like(best_first)
    np.put_along_axis(places, best_first[..., 1:], np.cumsum(steps, axis=-1), axis=-1)
    return places


def _newton(wins: np.ndarray) -> np.ndarray:
    """Strengths (n, K) of n problems; (n, K, K) float64."""
    compared = wins + np.swapaxes(wins, 1, 2)
    strengths = np.zeros(wins.shape[:2])
    left = np.arange(len(wins))
    for _ in range(_MOST_STEPS):
        now = strengths[left]
        weight = np.exp(now)
        lose = weight[:, None, :] / (weight[:, :, None] + weight[:, None, :])
        surprise = wins * lose
        gradient = surprise.sum(axis=2) - surprise.sum(axis=1) - now / PRIOR_STD**2
        hessian = -compared * lose * np.swapaxes(lose, 1, 2)
        np.einsum("nii->ni", hessian)[:] += PRIOR_STD**-2 - hessian.sum(axis=2)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        reach = np.ptp(step, axis=1)
        length = np.where(reach > 1, np.log1p(reach) / np.maximum(reach, 1), 1.0)
        strengths[left] = now + length[:, None] * step
        going = np.sum(gradient * step, axis=1) > _DECREMENT
        if not going.any():
            return strengths - strengths.mean(axis=1, keepdims=True)
        if not going.all():
            left, wins, compared = left[going], wins[going], compared[going]
    raise SolverError(f"a fit of btl did not converge in {_MOST_STEPS} steps.")


def _crossing(times: np.ndarray, curve: np.ndarray, target: float) -> float:
    """Votes at which an increasing curve first meets the target: the first of the times if it
    begins there; the last, inf, if it never does."""
    m = int(np.argmax(np.append(curve, 1.0) >= target - _ROUNDING))
    if m in (0, len(curve)):
        return float(times[m])
    share = min((target - curve[m - 1]) / (curve[m] - curve[m - 1]), 1.0)
    before, then = np.log1p(times[m - 1 : m + 1])
    return float(np.expm1(before + share * (then - before)))
