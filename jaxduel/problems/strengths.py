"""Models of strengths: preferences, exact posteriors with their derivatives, and modes.

Arm i has a strength theta_i, and d = theta_i - theta_j decides a vote:

- btl (Bradley and Terry, 1952): P(i wins) = 1 / (1 + exp(-d)), of decisive votes;
- thurstone (1927, case V): P(i wins) = Phi(d), of decisive votes;
- davidson (1970): P(i wins), P(j wins), P(tie) are proportional to exp(d/2), exp(-d/2) and nu.

Where sides have an effect, d = theta_i - theta_j + sigma for i on the left. Priors: theta_i, log nu
and sigma are independent N(0, 2^2). Likelihoods depend on differences alone and are log-concave, so
that Newton's method with halved steps finds the one mode.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxduel.errors import SolverError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PRIOR_STD = 2.0
"""Standard deviation of the prior, unless another is asked for."""
_MOST_STEPS = 200
_TOLERANCE = 1e-10
"""Largest squared Newton decrement, in units of log-likelihood, at the mode."""
_LOST_TO_ROUNDING = 1e-5
"""Decrement below which whole steps are taken, until it falls no more: gains that small drown in
the rounding of the log-likelihood of many votes, but not in that of its gradient."""
_ROUNDING = 1e-12
"""Relative error of a log-likelihood, which a step may lower by as much."""
_SHORTEST = 1e-12
_ADVICE = "give a smaller prior_std"
_FAR = 30.0
"""Deviations beyond which the tail of a normal law is too close to 0 to divide by."""
_LEAST_PRIOR = 1e-10
"""Share of the largest information that the prior's is at least."""


class Comparisons(NamedTuple):
    """Votes of N pairs of K arms."""

    first: np.ndarray  # (N,) int
    second: np.ndarray  # (N,) int
    wins: np.ndarray  # (N,), of the first arm
    losses: np.ndarray  # (N,)
    ties: np.ndarray  # (N,)
    num_arms: int
    """K."""
    sided: bool = False
    """True where the first arm stood left, and sides may have an effect."""


def comparisons(wins: np.ndarray, ties: np.ndarray) -> Comparisons:
    """The votes of pairs that met, from counts (K, K)."""
    i, j = np.nonzero(np.triu(wins + wins.T + ties))
    return Comparisons(i, j, wins[i, j], wins[j, i], ties[i, j], len(wins))


@dataclasses.dataclass(frozen=True, eq=False)
class Posterior:
    """The exact posterior of P parameters: K strengths, then log nu of davidson, then the effect of
    the left side.

    Methods take the parameters of one point (P,), or of C points (P, C).
    """

    model: str
    votes: Comparisons
    prior_std: float

    @property
    def size(self) -> int:
        """P."""
        return self.votes.num_arms + (self.model == "davidson") + self.votes.sided

    @cached_property
    def differences(self) -> csr_array:
        """(N, P): times the parameters, the difference d of each pair."""
        from scipy.sparse import csr_array

        count = len(self.votes.first)
        rows, one = np.arange(count), np.ones(count)
        columns, signs = [self.votes.first, self.votes.second], [one, -one]
        if self.votes.sided:
            columns.append(np.full(count, self.size - 1))
            signs.append(one)
        places = np.tile(rows, len(columns)), np.concatenate(columns)
        return csr_array((np.concatenate(signs), places), (count, self.size))

    @property
    def num_comparable(self) -> int:
        """Number of strengths, and sides, that the votes tell: the rank of `differences`."""
        squares: Any = self.differences.T @ self.differences
        return int(np.linalg.matrix_rank(squares.toarray(), hermitian=True))

    @cached_property
    def _to_parameters(self) -> csr_array:
        return self.differences.T.tocsr()

    def _pairs(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """Differences, log nu, wins, losses and ties, of one shape."""
        d = self.differences @ x
        counts = (n.reshape(len(n), -1) if x.ndim > 1 else n for n in self.votes[2:5])
        log_nu = x[self.votes.num_arms] if self.model == "davidson" else np.nan
        return d, log_nu, *counts

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """The log-posterior, up to a constant: (C,)."""
        prior = -np.sum(x**2, axis=0) / (2 * self.prior_std**2)
        return self.log_likelihood(x) + prior

    def log_likelihood(self, x: np.ndarray) -> np.ndarray:
        """The log-likelihood without binomial coefficients: (C,)."""
        d, log_nu, wins, losses, ties = self._pairs(x)
        if self.model == "davidson":
            scale, *weights = _weights(d, log_nu)
            total = scale + np.log(sum(weights))
            each = (wins - losses) * d / 2 + ties * log_nu - (wins + losses + ties) * total
        elif self.model == "btl":
            surprise = wins * np.maximum(-d, 0) + losses * np.maximum(d, 0)
            each = -surprise - (wins + losses) * np.log1p(np.exp(-np.abs(d)))
        else:
            from scipy.special import log_ndtr

            each = wins * log_ndtr(d) + losses * log_ndtr(-d)
        return each.sum(axis=0)

    def slope(self, x: np.ndarray) -> np.ndarray:
        """The gradient of the log-posterior: (P, C)."""
        by_d, by_nu = self._surprises(x)
        slope = self._to_parameters @ by_d - x / self.prior_std**2
        if self.model == "davidson":
            slope[self.votes.num_arms] += by_nu.sum(axis=0)
        return slope

    def scores(self, x: np.ndarray) -> csr_array:
        """The gradient of each pair's log-likelihood at one point: (N, P)."""
        from scipy.sparse import csr_array, diags_array

        by_d, by_nu = self._surprises(x)
        scores: Any = diags_array(by_d) @ self.differences
        if self.model == "davidson":
            count = len(by_nu)
            places = np.arange(count), np.full(count, self.votes.num_arms)
            scores = scores + csr_array((by_nu, places), scores.shape)
        return scores

    def _surprises(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of each pair's log-likelihood by d and by log nu: of each vote, the share
        that the model had not expected."""
        d, log_nu, wins, losses, ties = self._pairs(x)
        if self.model == "davidson":
            win, loss, tie = davidson(d, log_nu)
            by_d = wins * (loss + tie / 2) - losses * (win + tie / 2) - ties * (win - loss) / 2
            return by_d, ties * (win + loss) - (wins + losses) * tie
        if self.model == "btl":
            win, loss = _logistic(d)
            return wins * loss - losses * win, 0 * d
        up, down = _mills(d)
        return wins * up - losses * down, 0 * d

    def information(self, x: np.ndarray) -> np.ndarray:
        """Minus the Hessian of the log-posterior at one point: (P, P)."""
        d, log_nu, wins, losses, ties = self._pairs(x)
        matrix = np.eye(len(x)) / self.prior_std**2
        if self.model == "davidson":
            win, loss, tie = davidson(d, log_nu)
            compared, own = wins + losses + ties, self.votes.num_arms
            by_d = compared * (4 * win * loss + tie * (win + loss)) / 4
            mixed = self._to_parameters @ (-compared * tie * (win - loss) / 2)
            matrix[own] += mixed
            matrix[:, own] += mixed
            matrix[own, own] += np.sum(compared * tie * (win + loss))
        elif self.model == "btl":
            win, loss = _logistic(d)
            by_d = (wins + losses) * win * loss
        else:
            up, down = _mills(d)
            by_d = wins * np.maximum(up * (d + up), 0) + losses * np.maximum(down * (down - d), 0)
        from scipy.sparse import diags_array

        by_parameters: Any = self._to_parameters @ diags_array(by_d) @ self.differences
        return matrix + by_parameters.toarray()


@dataclasses.dataclass(frozen=True, eq=False)
class Mode:
    """The mode of a posterior, and the curvature there.

    The likelihood says nothing of the mean of all strengths: it is 0.
    """

    parameters: np.ndarray  # (P,) float64, as of the `Posterior`
    information: np.ndarray  # (P, P) float64
    """Minus the Hessian of the log-posterior."""
    num_arms: int
    """K."""

    @property
    def strengths(self) -> np.ndarray:
        """(K,) float64."""
        return self.parameters[: self.num_arms]

    @property
    def factor(self) -> np.ndarray:
        """A with A A.T the inverse of the information, strengths centred: (P, P)."""
        centring = np.eye(len(self.parameters))
        centring[: self.num_arms, : self.num_arms] -= 1 / self.num_arms
        return centring @ np.linalg.inv(np.linalg.cholesky(self.information)).T


def mode_of(posterior: Posterior) -> Mode:
    """The mode of a posterior.

    Raises:
      SolverError: Newton's method did not converge, or rounding hides a direction of the Hessian.
    """
    try:
        x, information = _newton(posterior)
        squares = np.linalg.eigvalsh(information)
        if squares[0] < len(x) * np.finfo(float).eps * squares[-1]:  # lost in rounding
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        raise SolverError(
            f"the fit of {posterior.model} is not determined: the votes leave a direction of its "
            f"strengths open, and the prior is too wide to close it: {_ADVICE}."
        ) from None
    num_arms = posterior.votes.num_arms
    x[:num_arms] -= x[:num_arms].mean()
    return Mode(x, information, num_arms)


def fit_btl(wins: np.ndarray) -> np.ndarray:
    """Strengths (K,) of btl at the mode of the usual prior, from wins (K, K); their mean is 0."""
    votes = comparisons(wins, np.zeros_like(wins))
    return mode_of(Posterior("btl", votes, PRIOR_STD)).strengths


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
    _, larger, smaller, tie = _weights(d, log_nu)
    total, up = larger + smaller + tie, d > 0
    return np.where(up, larger, smaller) / total, np.where(up, smaller, larger) / total, tie / total


def coherent(p: np.ndarray) -> np.ndarray:
    """Preferences (..., K, K) of whose pairs the upper one counts, the lower one 1 minus it."""
    upper = np.triu(np.ones(p.shape[-2:], bool), 1)
    return np.where(upper, p, np.where(upper.T, 1 - np.swapaxes(p, -1, -2), 0.5))


def _newton(posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Parameters at the mode, and the information there."""
    num_arms, x, before = posterior.votes.num_arms, np.zeros(posterior.size), np.inf
    for _ in range(_MOST_STEPS):
        objective, gradient = float(posterior.log_density(x)), posterior.slope(x)
        information = posterior.information(x)
        # the mean of all strengths has the prior alone, which rounding may lose: it stays 0
        lost = _LEAST_PRIOR * information.diagonal().max() - posterior.prior_std**-2
        information[:num_arms, :num_arms] += max(lost, 0.0) / num_arms
        step = np.linalg.solve(information, gradient)
        decrement = float(gradient @ step)
        if decrement < _TOLERANCE or before <= decrement < _LOST_TO_ROUNDING:
            return x, information
        length, least = 1.0, objective - _ROUNDING * abs(objective)
        while decrement >= _LOST_TO_ROUNDING and posterior.log_density(x + length * step) < least:
            length /= 2
            if length < _SHORTEST:
                raise SolverError(
                    f"the fit of {posterior.model} stopped {decrement:.1e} short of its maximum: "
                    f"{_ADVICE}."
                )
        x, before = x + length * step, decrement
    raise SolverError(
        f"the fit of {posterior.model} did not converge in {_MOST_STEPS} steps: {_ADVICE}."
    )


def _weights(d: np.ndarray, log_nu: float | np.ndarray) -> tuple[np.ndarray, ...]:
    """Davidson's weights of the likelier win, the other win and a tie, and before them the
    logarithm of what all are divided by, so that the largest is 1."""
    half = np.abs(d) / 2
    above = np.maximum(log_nu - half, 0)
    larger, smaller, tie = np.exp(-above), np.exp(-2 * half - above), np.exp(log_nu - half - above)
    return half + above, larger, smaller, tie


def _logistic(d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The logistic function of d and of -d, neither by subtraction from 1."""
    small, up = np.exp(-np.abs(d)), d > 0
    total = 1 + small
    return np.where(up, 1, small) / total, np.where(up, small, 1) / total


def _mills(d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The derivative of log Phi at d and at -d."""
    from scipy.special import log_ndtr, ndtr

    distance, up = np.abs(d), d > 0
    density, tail = np.exp(-(d**2) / 2) / np.sqrt(2 * np.pi), ndtr(-distance)
    near, far = density / (1 - tail), distance > _FAR
    beyond = density / np.where(far, 1, tail)
    beyond[far] = np.exp(-(d[far] ** 2) / 2 - np.log(2 * np.pi) / 2 - log_ndtr(-distance[far]))
    return np.where(up, near, beyond), np.where(up, beyond, near)
