"""Models of strengths: preferences, likelihoods and their derivatives, and Laplace posteriors.

Arm i has a strength theta_i, and d = theta_i - theta_j decides a vote:

- btl (Bradley and Terry, 1952): P(i wins) = 1 / (1 + exp(-d)), of decisive votes;
- thurstone (1927, case V): P(i wins) = Phi(d), of decisive votes;
- davidson (1970): P(i wins), P(j wins), P(tie) are proportional to exp(d/2), exp(-d/2) and nu.

Priors: theta_i and log nu are independent N(0, 2^2). Likelihoods depend on differences alone and
are log-concave, so that Newton's method with halved steps finds the one mode.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from jaxduel.errors import SolverError

PRIOR_STD = 2.0
"""Standard deviation of the prior, unless another is asked for."""
_NODES, _NODES_OF_NU = 32, 16
"""Nodes of Gauss-Hermite quadrature over a difference and over log nu: means of preferences are
right to 5e-5 without votes (davidson: 1e-3), and closer with them."""
_WIDE, _REACH = 3.0, 9.0
"""Standard deviation above which an even grid takes over, to so many deviations: with a step of
1 / std, errors are below 1e-8."""
_MOST_NODES = 250
"""Of half the grid: beyond a deviation of 28 preferences are steps, and errors up to 0.01."""
_MOST_STEPS = 200
_TOLERANCE = 1e-10
"""Largest squared Newton decrement, in units of log-likelihood, at the mode."""
_LOST_TO_ROUNDING = 1e-5
"""Decrement below which whole steps are taken, until it falls no more: gains that small drown in
the rounding of the log-likelihood of many votes, but not in that of its gradient."""
_ROUNDING = 1e-12
"""Relative error of a log-likelihood, which a step may lower by as much, and of a preference."""
_SHORTEST = 1e-12
_ADVICE = "give a smaller prior_std"
_LEAST_PRIOR = 1e-10
"""Share of the largest information that the prior's is at least."""


class Slopes(NamedTuple):
    """A log-likelihood at differences d, and its derivatives."""

    value: float
    first: np.ndarray  # (K, K): by d_ij, antisymmetric
    second: np.ndarray  # (K, K): minus the second derivative by d_ij, symmetric, at least 0
    nuisance: tuple[float, float, np.ndarray]
    """For davidson by log nu: first, minus second, and minus mixed derivatives with d_ij (K, K)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Laplace:
    """A normal approximation N(mode, H^-1) of the posterior, H minus the Hessian at the mode.

    The likelihood says nothing of the mean of all strengths: they are centred at 0, and so is every
    draw.
    """

    model: str
    mode: np.ndarray  # (K,) float64
    log_nu: float  # davidson's; NaN for the others
    factor: np.ndarray  # (P, P) float64
    """A with A A.T the covariance of the centred strengths and, for davidson, log nu: P = K (+ 1).
    """

    @property
    def covariance(self) -> np.ndarray:
        """(P, P)."""
        return self.factor @ self.factor.T

    def draws(self, normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Strengths (n, K) and log nu (n,) from standard normal numbers (n, P)."""
        moved = normals @ self.factor.T
        num_arms = len(self.mode)
        log_nu = self.log_nu + (moved[:, -1] if moved.shape[1] > num_arms else 0 * moved[:, 0])
        return self.mode + moved[:, :num_arms], log_nu

    def mean_preferences(self) -> np.ndarray:
        """Posterior mean of the preferences: (K, K), p + p.T = 1; 1/2 of arms that are level."""
        mean = self._mean(partial(preferences, self.model))
        return coherent(np.where(np.abs(mean - 0.5) < _ROUNDING, 0.5, mean))

    def mean_ties(self) -> np.ndarray:
        """Posterior mean of davidson's probabilities of a tie: (K, K), 0 on the diagonal."""
        ties = self._mean(lambda d, log_nu: davidson(d, log_nu)[2])
        return np.where(np.eye(len(ties), dtype=bool), 0, (ties + ties.T) / 2)

    def _mean(self, of: Callable[[np.ndarray, float], np.ndarray]) -> np.ndarray:
        """Posterior mean of a function of the differences and log nu: (K, K)."""
        num_arms = len(self.mode)
        covariance = self.covariance
        diagonal = np.diagonal(covariance)[:num_arms]
        d = self.mode[:, None] - self.mode
        variance = diagonal[:, None] + diagonal - 2 * covariance[:num_arms, :num_arms]
        weights, nodes = _normal(_NODES, float(np.sqrt(variance.max(initial=0))))
        if len(covariance) == num_arms:
            outer = [(1.0, np.nan, d, variance)]
        else:  # given log nu, d is normal
            with_nu, of_nu = covariance[:num_arms, -1], covariance[-1, -1]
            slope = (with_nu[:, None] - with_nu) / of_nu
            rest = variance - slope**2 * of_nu
            nu_weights, of_log_nu = _normal(_NODES_OF_NU, float(np.sqrt(of_nu)))
            outer = [
                (weight, self.log_nu + shift, d + slope * shift, rest)
                for weight, shift in zip(nu_weights, np.sqrt(of_nu) * of_log_nu, strict=True)
            ]
        mean = np.zeros_like(d)
        for weight, log_nu, centre, spread in outer:
            std = np.sqrt(np.maximum(spread, 0))
            for inner, node in zip(weights, nodes, strict=True):
                mean += weight * inner * of(centre + std * node, log_nu)
        return mean


def fit_strengths(model: str, wins: np.ndarray, ties: np.ndarray, prior_std: float) -> Laplace:
    """The posterior of a model of strengths.

    Args:
      model: "btl", "thurstone" or "davidson".
      wins: (K, K) int64.
      ties: (K, K) int64, symmetric; only davidson reads it.
      prior_std: standard deviation of the prior of each strength and of log nu.

    Raises:
      SolverError: Newton's method did not converge, or rounding hides a direction of the Hessian.
    """
    try:
        return _fitted(model, wins, ties, prior_std)
    except np.linalg.LinAlgError:
        raise SolverError(
            f"the fit of {model} is not determined: the votes leave a direction of its strengths "
            f"open, and the prior is too wide to close it: {_ADVICE}."
        ) from None


def _fitted(model: str, wins: np.ndarray, ties: np.ndarray, prior_std: float) -> Laplace:
    num_arms, ridge = len(wins), prior_std**-2
    size = num_arms + (model == "davidson")
    state, before = np.zeros(size), np.inf
    for _ in range(_MOST_STEPS):
        slopes, objective = _objective(model, state, wins, ties, ridge)
        gradient, hessian = _assembled(slopes, state, ridge)
        # the mean of all strengths has the prior alone, which rounding may lose: it stays 0
        lost = _LEAST_PRIOR * hessian.diagonal().max() - ridge
        hessian[:num_arms, :num_arms] += max(lost, 0.0) / num_arms
        step = np.linalg.solve(hessian, gradient)
        decrement = float(gradient @ step)
        if decrement < _TOLERANCE or before <= decrement < _LOST_TO_ROUNDING:
            break
        length, least = 1.0, objective - _ROUNDING * abs(objective)
        while (
            decrement >= _LOST_TO_ROUNDING
            and _objective(model, state + length * step, wins, ties, ridge)[1] < least
        ):
            length /= 2
            if length < _SHORTEST:
                raise SolverError(
                    f"the fit of {model} stopped {decrement:.1e} short of its maximum: {_ADVICE}."
                )
        state, before = state + length * step, decrement
    else:
        raise SolverError(f"the fit of {model} did not converge in {_MOST_STEPS} steps: {_ADVICE}.")
    centring = np.eye(size)
    centring[:num_arms, :num_arms] -= 1 / num_arms
    factor = centring @ np.linalg.inv(np.linalg.cholesky(hessian)).T
    log_nu = float(state[-1]) if size > num_arms else np.nan
    return Laplace(model, state[:num_arms] - state[:num_arms].mean(), log_nu, factor)


def preferences(model: str, d: np.ndarray, log_nu: float | np.ndarray) -> np.ndarray:
    """p_ij as a function of d_ij: P(i wins), for davidson with half of P(tie)."""
    from scipy.special import expit, ndtr

    if model == "btl":
        return expit(d)
    if model == "thurstone":
        return ndtr(d)
    win, _, tie = davidson(d, log_nu)
    return win + tie / 2


def davidson(
    d: np.ndarray, log_nu: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of a win, a loss and a tie."""
    total = np.logaddexp(np.logaddexp(d / 2, -d / 2), log_nu)
    return np.exp(d / 2 - total), np.exp(-d / 2 - total), np.exp(log_nu - total)


def log_likelihood(model: str, fitted: Laplace, wins: np.ndarray, ties: np.ndarray) -> float:
    """The log-likelihood at the mode of `fitted`, without binomial coefficients."""
    d = fitted.mode[:, None] - fitted.mode
    return _slopes(model, d, fitted.log_nu, wins, ties).value


def coherent(p: np.ndarray) -> np.ndarray:
    """Preferences (..., K, K) of whose pairs the upper one counts, the lower one 1 minus it."""
    upper = np.triu(np.ones(p.shape[-2:], bool), 1)
    return np.where(upper, p, np.where(upper.T, 1 - np.swapaxes(p, -1, -2), 0.5))


def _normal(count: int, std: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights and nodes of the mean of f(std z), z standard normal, f smooth at a scale of 1."""
    if std <= _WIDE:
        nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    else:
        nodes = np.linspace(-_REACH, _REACH, 2 * min(int(_REACH * std), _MOST_NODES) + 1)
        weights = np.exp(-(nodes**2) / 2)
    return weights / weights.sum(), nodes


def _objective(
    model: str, state: np.ndarray, wins: np.ndarray, ties: np.ndarray, ridge: float
) -> tuple[Slopes, float]:
    strengths = state[: len(wins)]
    slopes = _slopes(model, strengths[:, None] - strengths, state[-1], wins, ties)
    return slopes, slopes.value - ridge * float(state @ state) / 2


def _assembled(slopes: Slopes, state: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Gradient of the log-posterior, and minus its Hessian: a weighted Laplacian and the prior."""
    num_arms = len(slopes.first)
    gradient = -ridge * state
    gradient[:num_arms] += slopes.first.sum(axis=1)
    hessian = ridge * np.eye(len(state))
    laplacian = np.diag(slopes.second.sum(axis=1)) - slopes.second
    hessian[:num_arms, :num_arms] += laplacian
    if len(state) > num_arms:
        first, second, mixed = slopes.nuisance
        gradient[-1] += first
        hessian[-1, -1] += second
        hessian[:num_arms, -1] += mixed.sum(axis=1)
        hessian[-1, :num_arms] += mixed.sum(axis=1)
    return gradient, hessian


def _slopes(model: str, d: np.ndarray, log_nu: float, wins: np.ndarray, ties: np.ndarray) -> Slopes:
    from scipy.special import expit, log_expit, log_ndtr

    none = (0.0, 0.0, np.zeros_like(d))
    if model == "btl":  # 1 - p as the p of -d: nothing cancels
        p, lost = expit(d), wins * expit(-d)
        second = (wins + wins.T) * p * p.T
        return Slopes(float((wins * log_expit(d)).sum()), lost - lost.T, second, none)
    if model == "thurstone":
        log_p = log_ndtr(d)
        mills = np.exp(-(d**2) / 2 - np.log(2 * np.pi) / 2 - log_p)
        first, second = wins * mills, wins * np.maximum(mills * (d + mills), 0)
        return Slopes(float((wins * log_p).sum()), first - first.T, second + second.T, none)
    total = np.logaddexp(np.logaddexp(d / 2, -d / 2), log_nu)
    win, loss, tie = davidson(d, log_nu)
    compared = wins + wins.T + ties
    value = float((wins * (d / 2 - total)).sum() + (ties * (log_nu - total)).sum() / 2)
    missed = wins * (loss + tie / 2)  # of each win, what the model had not expected
    return Slopes(
        value,
        missed - missed.T - ties * (win - loss) / 2,
        compared * (4 * win * loss + tie * (win + loss)) / 4,
        (
            float((ties * (win + loss) - (wins + wins.T) * tie).sum()) / 2,
            float((compared * tie * (win + loss)).sum()) / 2,
            -compared * tie * (win - loss) / 2,
        ),
    )
