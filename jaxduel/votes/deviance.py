"""The law of a model's deviance where pairs have few votes.

Source: P. McCullagh, "The conditional distribution of goodness-of-fit statistics for discrete
data", Journal of the American Statistical Association 81 (1986): mean and variance of the deviance
given the sufficient statistics, from the joint cumulants of each pair's deviance and counts, here
sums over all its possible outcomes. Thurstone's statistics are not sufficient: its cumulants are
those of the logistic model that is tangent to it at each difference.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxduel.problems.strengths import Posterior, davidson, preferences

_MOST_OUTCOMES = 1_000
"""Most outcomes of a pair over which its cumulants are summed; beyond, the limit of many votes is
taken, where rare outcomes have independent Poisson laws."""
_RARE, _MOST_RARE = 5, 64
"""An outcome with a smaller expected number of votes is rare, and has fewer than so many."""
_SMALLEST = 1e-300
_RIDGE = 1e-12
"""Share of the largest information, added to all: means of groups that never met have none."""


class _Pair(NamedTuple):
    """Joint cumulants of a pair's deviance D and its statistics Y: Y_1 is its wins, or half of wins
    minus losses where ties are fitted, and then Y_2 its ties."""

    d: Any  # (N,)
    dd: Any  # (N,)
    dy: Any  # (N, M)
    yy: Any  # (N, M, M)
    dyy: Any  # (N, M, M)
    yyy: Any  # (N, M, M, M)


def moments_of_deviance(
    posterior: Posterior, parameters: np.ndarray, freedom: int
) -> tuple[float, float]:
    """Mean and variance of the deviance if the fitted model is true.

    Args:
      posterior: the model and the votes.
      parameters: (P,) float64, of the largest likelihood.
      freedom: probabilities of the pairs less parameters of the model.
    """
    from scipy.sparse import diags_array

    model, votes, differences = posterior.model, posterior.votes, posterior.differences
    i, j = votes[:2]
    n, d = votes.wins + votes.losses + votes.ties, differences @ parameters
    log_nu = parameters[votes.num_arms] if model == "davidson" else np.nan
    slope = np.ones_like(d)
    if model == "davidson":
        chances = np.stack(davidson(d, log_nu), axis=1)
        statistics = np.array([[0.5, 0], [-0.5, 0], [0, 1]])
    else:
        chances = np.stack([preferences(model, x, np.nan) for x in (d, -d)], axis=1)
        statistics = np.array([[1.0], [0]])
    chances = np.maximum(chances, _SMALLEST)
    if model == "thurstone":
        slope = np.exp(-(d**2) / 2) / np.sqrt(2 * np.pi) / chances.prod(axis=1)
    pair = _cumulants(n, chances, statistics)
    back: Any = differences.T.tocsr()
    information = (back @ diags_array(slope**2 * pair.yy[:, 0, 0]) @ differences).toarray()
    toward = back @ (slope * pair.dy[:, 0])
    with_ties, nu = statistics.shape[1] > 1, votes.num_arms
    if with_ties:
        mixed = back @ pair.yy[:, 0, 1]
        information[nu] += mixed
        information[:, nu] += mixed
        information[nu, nu] += pair.yy[:, 1, 1].sum()
        toward[nu] += pair.dy[:, 1].sum()
    information += _RIDGE * information.diagonal().max() * np.eye(len(information))
    covariance = np.linalg.inv(information)
    moved = covariance @ toward
    slopes, spread = np.zeros_like(pair.dy), np.zeros_like(pair.yy)
    slopes[:, 0] = slope * (differences @ moved)
    own = covariance.diagonal()
    variances = own[i] + own[j] - 2 * covariance[i, j]
    if votes.sided:
        variances += own[-1] + 2 * (covariance[i, -1] - covariance[j, -1])
    spread[:, 0, 0] = slope**2 * variances
    if with_ties:
        slopes[:, 1], spread[:, 1, 1] = moved[nu], own[nu]
        spread[:, 0, 1] = spread[:, 1, 0] = differences @ covariance[:, nu]
    bent = pair.dyy - np.einsum("nabc,nc->nab", pair.yyy, slopes)
    mean = pair.d.sum() - (spread * bent).sum() / 2
    variance = pair.dd.sum() - toward @ moved
    return float(mean), float(max(variance * freedom / (len(n) * statistics.shape[1]), 0.0))


def _cumulants(n: np.ndarray, chances: np.ndarray, statistics: np.ndarray) -> _Pair:
    """The cumulants of pairs with n votes (N,), each with the chances (N, C) of its outcomes, whose
    statistics are (C, M)."""
    from scipy.special import gammaln, xlogy

    shape, kinds = (len(n),), statistics.shape[1]
    pair = _Pair(*(np.zeros(shape + (kinds,) * power) for power in (0, 0, 1, 2, 2, 3)))
    for size in np.unique(n):
        here = n == size
        p = chances[here]
        outcomes = _outcomes(int(size), len(statistics))
        if outcomes is None:
            common = p * (size * p >= _RARE)
            few = size * p * (common == 0)
            rare = _rare(few)
            freedom = (common > 0).sum(axis=1) - 1
            away = statistics - (common @ statistics / common.sum(axis=1)[:, None])[:, None]
            away_away = away[..., :, None] * away[..., None, :]
            found = _Pair(
                freedom + rare[0].sum(axis=1),
                2 * freedom + rare[1].sum(axis=1),
                np.einsum("nc,nca->na", rare[2], away),
                size * _covariance(p, statistics),
                2 * size * _covariance(common, statistics)
                + np.einsum("nc,ncab->nab", rare[3], away_away),
                np.einsum("nc,ncab,ncd->nabd", few, away_away, away),
            )
        else:
            logs = np.log(p) @ outcomes.T
            ways = gammaln(size + 1) - gammaln(outcomes + 1).sum(axis=1)
            chance = np.exp(ways + logs)  # (N, O)
            d = 2 * (xlogy(outcomes, outcomes / size).sum(axis=1) - logs)
            mean = (chance * d).sum(axis=1)
            d = d - mean[:, None]
            y = outcomes @ statistics - size * (p @ statistics)[:, None]  # (N, O, M)
            y_y = y[..., :, None] * y[..., None, :]
            found = _Pair(
                mean,
                (chance * d**2).sum(axis=1),
                np.einsum("no,noa->na", chance * d, y),
                np.einsum("no,noab->nab", chance, y_y),
                np.einsum("no,noab->nab", chance * d, y_y),
                np.einsum("no,noab,noc->nabc", chance, y_y, y),
            )
        for whole, part in zip(pair, found, strict=True):
            whole[here] = part
    return pair


def _rare(means: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of outcomes of so many expected votes, few of a pair's many: mean and variance of the part D
    of its deviance, the covariance of D and the votes X, and the cumulant of D, X and X."""
    from scipy.special import gammaln, xlogy

    votes, mean = np.arange(_MOST_RARE), np.maximum(means, _SMALLEST)[..., None]
    chance = np.exp(xlogy(votes, mean) - mean - gammaln(votes + 1))
    d = 2 * (xlogy(votes, votes / mean) - votes + mean)
    away = votes - mean
    each = (chance * d).sum(axis=-1)
    d = d - each[..., None]
    return each, *((chance * d * of).sum(axis=-1) for of in (d, away, away**2))


def _covariance(p: np.ndarray, statistics: np.ndarray) -> np.ndarray:
    """Covariance of a vote's statistics, for chances (N, C): (N, M, M)."""
    p = p / p.sum(axis=1, keepdims=True)
    centred = statistics - p[:, None] @ statistics  # (N, C, M)
    return np.einsum("nc,nca,ncb->nab", p, centred, centred)


def _outcomes(size: int, kinds: int) -> np.ndarray | None:
    """All ways to share votes among 2 or 3 kinds: (O, kinds); None if they are too many."""
    if kinds == 2:
        first = np.arange(size + 1) if size < _MOST_OUTCOMES else None
        return None if first is None else np.stack([first, size - first], axis=1)
    if (size + 1) * (size + 2) // 2 > _MOST_OUTCOMES:
        return None
    first, second = np.divmod(np.arange((size + 1) ** 2), size + 1)
    there = first + second <= size
    return np.stack([first, second, size - first - second], axis=1)[there]
