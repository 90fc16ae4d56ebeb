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
taken."""
_RARE = 5
"""An outcome with a smaller expected number of votes is rare."""
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
        if outcomes is None:  # rare ones, of arms that win nearly all, add nothing
            common = p * (size * p >= _RARE)
            freedom = np.maximum((common > 0).sum(axis=1) - 1, 0)
            yy, among_common = (size * _covariance(x, statistics) for x in (p, common))
            found = _Pair(freedom, 2 * freedom, 0, yy, 2 * among_common, 0)
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
