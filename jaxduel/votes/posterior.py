"""The posterior of strengths and of their differences: weighted draws by importance sampling.

The proposal is a multivariate t with the mode and covariance of the Laplace approximation (Geweke,
"Bayesian inference in econometric models using Monte Carlo integration", Econometrica 57, 1989),
and weights are the exact posterior divided by it. Where an arm won nearly all of few votes the
posterior is skewed, which a normal law cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from jaxduel.problems.strengths import Laplace, coherent, davidson, preferences

_DRAWS = 20_000
"""Draws, an even number; fewer where the pairs of many arms would take long."""
_MOST_TERMS = 2**26
"""Most pairs of arms, over all draws, that likelihoods and preferences are computed for."""
_MOST_NUMBERS = 2**24
"""Most random numbers of the normal approximation."""
_LEAST_EFFECTIVE = 1_000
"""Effective draws below which the normal approximation is taken instead."""
_LEAST_DEGREES = 8
"""Least degrees of freedom of t. With more arms there are as many: the radius of t varies like 1
over their root, that of a normal law like 1 over the root of the number of arms."""
_PART = 2**17
"""Pairs of arms that are worked on at once: they fit into a processor's cache."""
_SMALLEST = 1e-300


class Draws(NamedTuple):
    """Weighted draws from a posterior of K arms."""

    strengths: np.ndarray  # (N, K) float64, of each draw with mean 0
    log_nu: np.ndarray  # (N,) float64: davidson's
    weights: np.ndarray  # (N,) float64, their sum 1

    @property
    def effective(self) -> float:
        """Number of unweighted draws that tell as much."""
        return float(1 / np.sum(self.weights**2))

    def intervals95(self, values: np.ndarray) -> np.ndarray:
        """2.5 and 97.5 % quantiles of M values of each draw (N, M), such as `strengths`: (M, 2)."""
        order = np.argsort(values, axis=0)
        ordered = np.take_along_axis(values, order, axis=0)
        below = np.cumsum(self.weights[order], axis=0) - self.weights[order] / 2
        columns = zip(below.T, ordered.T, strict=True)
        return np.array([np.interp([0.025, 0.975], *column) for column in columns])

    def best(self) -> np.ndarray:
        """Probability of each arm that it is the strongest: (K,) float64."""
        strongest = np.argmax(self.strengths, axis=1)
        return np.bincount(strongest, self.weights, self.strengths.shape[1])

    def mean_preferences(self, model: str) -> np.ndarray:
        """Mean of the preferences: (K, K) float64."""
        return coherent(self._mean(lambda d, log_nu: preferences(model, d, log_nu)))

    def mean_ties(self) -> np.ndarray:
        """Mean of davidson's probabilities of a tie: (K, K) float64, 0 on the diagonal."""
        above = self._mean(lambda d, log_nu: davidson(d, log_nu)[2])
        return above + above.T

    def _mean(self, of: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Mean of a function of differences (n, pairs) and log nu (n, 1), above the diagonal."""
        num_arms = self.strengths.shape[1]
        i, j = np.triu_indices(num_arms, 1)
        mean = np.zeros((num_arms, num_arms))
        for own in _parts(len(self.weights), len(i)):
            d = self.strengths[own, i] - self.strengths[own, j]
            mean[i, j] += self.weights[own] @ of(d, self.log_nu[own, None])
        return mean

    def resampled(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Strengths (n, K) and log nu (n,) without weights, by systematic resampling, shuffled."""
        below = np.cumsum(self.weights)
        steps = (rng.random() + np.arange(n)) / n
        chosen = rng.permutation(np.searchsorted(below / below[-1], steps, side="right"))
        return self.strengths[chosen], self.log_nu[chosen]


def draws_of(fitted: Laplace, wins: np.ndarray, ties: np.ndarray, prior_std: float) -> Draws | None:
    """Draws from the posterior, the same in every process.

    Random numbers are given to arms in the order of their strengths, so that relabelled arms have
    relabelled draws.

    Args:
      fitted: the Laplace approximation.
      wins, ties, prior_std: the arguments of the fit.

    Returns:
      The draws; None where too few draws are effective, or the arms are too many.
    """
    num_arms, size = len(wins), len(fitted.factor)
    half = min(_DRAWS, _MOST_TERMS * 2 // (num_arms * (num_arms - 1))) // 2
    if 2 * half < _LEAST_EFFECTIVE:
        return None
    rng, degrees = np.random.default_rng(0), max(_LEAST_DEGREES, size)
    scale = np.sqrt(degrees / rng.chisquare(degrees, (half, 1)))
    normals = rng.standard_normal((half, size)) * scale
    # the mean of all strengths is no part of the posterior: one dimension less
    normals[:, :num_arms] -= normals[:, :num_arms].mean(axis=1, keepdims=True)
    normals = np.concatenate([normals, -normals])
    log_t = -(degrees + size - 1) / 2 * np.log1p(np.sum(normals**2, axis=1) / degrees)
    places = np.append(np.argsort(np.argsort(fitted.mode)), np.arange(num_arms, size))
    left, lengths, _ = np.linalg.svd(fitted.factor)
    moved = normals[:, places] @ ((left * lengths) @ left.T)  # times the covariance's root
    strengths = fitted.mode + moved[:, :num_arms]
    log_nu = fitted.log_nu + (moved[:, -1] if size > num_arms else np.zeros(2 * half))
    log_weights = _log_posterior(fitted.model, strengths, log_nu, wins, ties, prior_std) - log_t
    weights = np.exp(log_weights - log_weights.max())
    draws = Draws(strengths, log_nu, weights / weights.sum())
    return draws if draws.effective >= _LEAST_EFFECTIVE else None


def normal_draws(fitted: Laplace) -> Draws:
    """Draws from the normal approximation, of equal weight, the same in every process."""
    size = len(fitted.factor)
    count = min(_DRAWS, max(_MOST_NUMBERS // size, 1))
    strengths, log_nu = fitted.draws(np.random.default_rng(0).standard_normal((count, size)))
    return Draws(strengths, log_nu, np.full(count, 1 / count))


def _log_posterior(
    model: str,
    strengths: np.ndarray,
    log_nu: np.ndarray,
    wins: np.ndarray,
    ties: np.ndarray,
    prior_std: float,
) -> np.ndarray:
    """Log-posterior of strengths (N, K) and log nu (N,), up to a constant: (N,)."""
    square = np.sum(strengths**2, axis=1)
    if with_ties := model == "davidson":
        square += log_nu**2
    value = -square / (2 * prior_std**2)
    i, j = np.nonzero(np.triu(wins + wins.T + ties * with_ties))
    for own in _parts(len(value), len(i)):
        d = strengths[own, i] - strengths[own, j]
        if with_ties:
            chances = davidson(d, log_nu[own, None])
        else:
            chances = preferences(model, d, np.nan), preferences(model, -d, np.nan)
        for chance, counts in zip(chances, (wins[i, j], wins[j, i], ties[i, j]), strict=False):
            value[own] += np.log(np.maximum(chance, _SMALLEST)) @ counts
    return value


def _parts(count: int, pairs: int) -> Iterator[slice]:
    """Slices of draws, each of about `_PART` pairs."""
    part = max(_PART // pairs, 1)
    return (slice(start, start + part) for start in range(0, count, part))


Z95 = NormalDist().inv_cdf(0.975)


def intervals95(posterior: Laplace, draws: Draws | None) -> np.ndarray:
    """95 % intervals of the strengths, relative to the mean of all: (K, 2); `draws` as in
    `differences`."""
    if draws is not None:
        return draws.intervals95(draws.strengths)
    mode = posterior.mode
    half = Z95 * np.sqrt(np.diagonal(posterior.covariance)[: len(mode)])
    return np.stack([mode - half, mode + half], axis=1)


class Difference(NamedTuple):
    """Difference between the strengths of two arms.

    Example:
      >>> import jaxduel as jd
      >>> votes = jd.votes.from_counts([[0, 60], [40, 0]], arms=["ada", "bea"])
      >>> found = jd.votes.fit(votes).difference("ada", "bea")
      >>> round(found.value, 1), found.low < 0 < found.high, round(found.above, 2)
      (0.4, False, 0.98)
    """

    arms: tuple[str, str]
    value: float
    """The first arm's strength less the second's, at the mode."""
    low: float
    high: float
    """Ends of the 95 % interval: 2.5 and 97.5 % quantiles of the posterior."""
    above: float
    """Posterior probability that the first arm is stronger."""


def differences(
    posterior: Laplace, draws: Draws | None, first: int, others: np.ndarray
) -> np.ndarray:
    """The numbers of the `Difference` of an arm to each of M others: (4, M) float64.

    Args:
      posterior: the normal approximation of the strengths.
      draws: weighted draws of the strengths; None where the normal approximation stands in.
      first: the arm.
      others: (M,) the other arms.
    """
    value = posterior.mode[first] - posterior.mode[others]
    if draws is not None:
        drawn = draws.strengths[:, [first]] - draws.strengths[:, others]
        return np.stack([value, *draws.intervals95(drawn).T, draws.weights @ (drawn > 0)])
    from scipy.special import ndtr

    own, both = np.diagonal(posterior.covariance), posterior.covariance[first, others]
    std = np.sqrt(own[first] + own[others] - 2 * both)
    return np.stack([value, value - Z95 * std, value + Z95 * std, ndtr(value / std)])
