"""The posterior of strengths and of their differences, as draws.

Few arms, or many votes: weighted draws. The proposal is a multivariate t with the mode and the
curvature of the posterior (Geweke, "Bayesian inference in econometric models using Monte Carlo
integration", Econometrica 57, 1989), and weights are the exact posterior divided by it. Where too
few of these would count: Hamiltonian Monte Carlo (`jaxduel.numerics.hamiltonian`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from jaxduel.errors import warn_caller
from jaxduel.numerics.hamiltonian import chains, diagnosed
from jaxduel.problems.strengths import Mode, Posterior, coherent, davidson, preferences

_DRAWS = 20_000
"""Weighted draws, an even number; fewer where the pairs of many arms would take long."""
_MOST_TERMS = 2**26
"""Most pairs of arms, over all weighted draws, that likelihoods are computed for."""
_LEAST_EFFECTIVE = 1_000
"""Effective draws below which chains are run instead."""
_LEAST_DEGREES = 8
"""Least degrees of freedom of t. With more arms there are as many: the radius of t varies like 1
over their root, that of a normal law like 1 over the root of the number of arms."""
_CHAINS, _LENGTH, _MORE, _MOST_LENGTH = 16, 256, 128, 1_024
"""Number of chains; draws of each at first, then at once, and at most."""
_MOST_R_HAT = 1.01
_MOST_MEANS = 2**30
"""Most pairs of arms in order, over all draws, of mean preferences: of many arms a part of the
draws."""
_PART = 2**17
"""Pairs of arms that are worked on at once: they fit into a processor's cache."""


class Draws(NamedTuple):
    """Weighted draws from a posterior of K arms."""

    strengths: np.ndarray  # (N, K) float64, of each draw with mean 0
    log_nu: np.ndarray  # (N,) float64: davidson's
    side: np.ndarray  # (N,) float64: the effect of the left side
    weights: np.ndarray  # (N,) float64, their sum 1
    effective: float
    """Number of unweighted and independent draws that tell as much of each strength, at least."""

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

    def stronger(self) -> np.ndarray:
        """Probability of each arm that it is stronger than each other: (K, K) float64."""
        drawn = self.strengths
        above = np.stack([self.weights @ (own[:, None] > drawn) for own in drawn.T])
        return coherent(np.clip(above, 0, 1))

    def mean_preferences(self, model: str) -> tuple[np.ndarray, np.ndarray | None]:
        """Means of the preferences and, for davidson, of the probabilities of a tie, which are 0 on
        the diagonal: (K, K) float64 each."""
        num_arms, with_ties = self.strengths.shape[1], model == "davidson"
        every = -(-self.strengths.size * num_arms // _MOST_MEANS)
        strengths, log_nu, weights = (
            kind[::every] for kind in (self.strengths, self.log_nu[:, None], self.weights)
        )
        mean, ties = np.zeros((2, num_arms, num_arms))
        for arm in range(num_arms - 1):
            d, after = strengths[:, [arm]] - strengths[:, arm + 1 :], np.s_[arm, arm + 1 :]
            if with_ties:
                win, _, tie = davidson(d, log_nu)
                mean[after], ties[after] = weights @ (win + tie / 2), weights @ tie
            else:
                mean[after] = weights @ preferences(model, d, np.nan)
        mean, ties = mean / weights.sum(), ties / weights.sum()
        return coherent(mean), ties + ties.T if with_ties else None

    def resampled(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Strengths (n, K) and log nu (n,) without weights, by systematic resampling, shuffled."""
        below = np.cumsum(self.weights)
        steps = (rng.random() + np.arange(n)) / n
        chosen = rng.permutation(np.searchsorted(below / below[-1], steps, side="right"))
        return self.strengths[chosen], self.log_nu[chosen]


def draws_of(posterior: Posterior, mode: Mode) -> Draws:
    """Draws from a posterior, the same in every process.

    Random numbers are given to arms in the order of their strengths, so that relabelled arms have
    relabelled draws.

    Args:
      posterior: the posterior.
      mode: its mode.

    Warns:
      UserWarning: the chains have not met, or their draws are few.
    """
    draws = _weighted(posterior, mode)
    return _chained(posterior, mode) if draws is None else draws


def _weighted(posterior: Posterior, mode: Mode) -> Draws | None:
    """Weighted draws; None where too few would be effective, or the arms are too many."""
    num_arms, size = posterior.votes.num_arms, posterior.size
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
    left, lengths, _ = np.linalg.svd(mode.factor)
    root = (left * lengths) @ left.T  # of the covariance
    points = mode.parameters + normals[:, _places(mode)] @ root
    log_weights = -log_t
    for own in _parts(len(points), len(posterior.votes.first)):
        log_weights[own] += posterior.log_density(points[own].T)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    effective = float(1 / np.sum(weights**2))
    return _named(posterior, points, weights, effective) if effective >= _LEAST_EFFECTIVE else None


def _chained(posterior: Posterior, mode: Mode) -> Draws:
    """Draws of several chains."""
    num_arms, size, rng = posterior.votes.num_arms, posterior.size, np.random.default_rng(0)
    places = _places(mode)

    def normals() -> np.ndarray:
        return rng.standard_normal((size, _CHAINS))[places]

    squares, axes = np.linalg.eigh(mode.information)
    start = mode.parameters[:, None] + (axes / np.sqrt(squares)) @ (axes.T @ normals())
    density = posterior.log_density, posterior.slope
    drawn = chains(*density, mode.information, start, normals, rng)
    points = np.empty((0, _CHAINS, size))
    while True:
        more = np.stack(list(islice(drawn, _MORE if len(points) else _LENGTH))).transpose(0, 2, 1)
        more[..., :num_arms] -= more[..., :num_arms].mean(axis=-1, keepdims=True)
        points = np.concatenate([points, more])
        effective, r_hat = diagnosed(points)
        met = effective.min() >= _LEAST_EFFECTIVE and r_hat.max() <= _MOST_R_HAT
        if met or len(points) == _MOST_LENGTH:
            break
    if not met:
        warn_caller(
            f"the chains of the fit have not met: R-hat is {r_hat.max():.2f}, and "
            f"{effective.min():,.0f} draws are effective; intervals are rough. A smaller prior_std "
            "may help."
        )
    points = points.reshape(-1, size)
    weights = np.full(len(points), 1 / len(points))
    return _named(posterior, points, weights, float(effective.min()))


def _places(mode: Mode) -> np.ndarray:
    """The random number that each parameter takes: of the weakest arm the first, and so on."""
    num_arms = mode.num_arms
    known = np.diagonal(mode.information)[:num_arms].round(6)  # orders arms that are level
    order = np.lexsort((known, mode.strengths.round(9)))
    return np.append(np.argsort(order), np.arange(num_arms, len(mode.parameters)))


def _named(posterior: Posterior, points: np.ndarray, weights: np.ndarray, count: float) -> Draws:
    """The draws of parameters (N, P), of which `count` are effective."""
    num_arms, none = posterior.votes.num_arms, np.full(len(points), np.nan)
    log_nu = points[:, num_arms] if posterior.model == "davidson" else none
    side = points[:, -1] if posterior.votes.sided else none
    return Draws(points[:, :num_arms], log_nu, side, weights, count)


def _parts(count: int, pairs: int) -> Iterator[slice]:
    """Slices of draws, each of about `_PART` pairs."""
    part = max(_PART // max(pairs, 1), 1)
    return (slice(start, start + part) for start in range(0, count, part))


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


def differences(mode: Mode, draws: Draws, first: int, others: np.ndarray) -> np.ndarray:
    """The numbers of the `Difference` of an arm to each of M others: (4, M) float64.

    Args:
      mode: the mode of the strengths.
      draws: draws of the strengths.
      first: the arm.
      others: (M,) the other arms.
    """
    value = mode.strengths[first] - mode.strengths[others]
    drawn = draws.strengths[:, [first]] - draws.strengths[:, others]
    return np.stack([value, *draws.intervals95(drawn).T, draws.weights @ (drawn > 0)])
