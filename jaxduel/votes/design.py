"""Voters who gave several votes: how much wider they make the posterior.

Votes of one person are not independent. The sandwich H^-1 J H^-1 has the variances of estimates
whatever the votes of a voter have to do with one another: H is the information at the mode, and J
the prior's information and the covariance of the voters' scores (Liang and Zeger, Biometrika 73,
1986, with voters as clusters). With H^-1 = A A.T it is A M A.T, and M has the ratio of its variance
to that of independent votes, the design effect (Kish, "Survey sampling", 1965), in each direction.
Exact posterior draws are moved away from the mode by the root of M (as of Shaby, "The open-faced
sandwich adjustment for MCMC using estimating functions", Journal of Computational and Graphical
Statistics 23, 2014), and by a multivariate t with as many degrees of freedom as voters but one,
since few voters tell little of J. For the same reason M is first shrunk toward its mean, by as much
as it is noise (Ledoit and Wolf, Journal of Multivariate Analysis 88, 2004).
So draws keep the skew of the posterior, which modes of resampled voters lose: of an arm that won
all its votes they all are alike. For the same reason draws are never moved toward the mode: where a
design effect is below 1 it is taken as 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxduel.problems.strengths import Comparisons, Mode, Posterior
from jaxduel.votes.posterior import Draws
from jaxduel.votes.voters import Voters

_MOST_NUMBERS = 2**24
"""Most scores that are held at once."""


class Spread(NamedTuple):
    """Variances of the P parameters by the sandwich, in units of those of independent votes."""

    ratios: np.ndarray  # (P, P) float64
    """M."""
    shrunk: np.ndarray  # (P, P) float64
    """M, shrunk toward its mean by as much as it is noise, or toward 1 where that is less."""
    num_voters: int

    def covariances(self, mode: Mode) -> tuple[np.ndarray, np.ndarray]:
        """Of the parameters, strengths centred: by the sandwich, and of independent votes, (P, P)
        float64 each."""
        root = mode.factor
        return root @ self.ratios @ root.T, root @ root.T

    def design_effect(self, posterior: Posterior, mode: Mode) -> float:
        """The design effect of differences of strengths: the mean over the pairs that met, each
        weighted by the precision of its difference."""
        i, j = posterior.votes[:2]
        by_voters, independent = (
            c.diagonal()[i] + c.diagonal()[j] - 2 * c[i, j] for c in self.covariances(mode)
        )
        return float(np.average(by_voters / independent, weights=1 / independent))


def spread_of(posterior: Posterior, mode: Mode, voters: Voters) -> Spread:
    """The variances of the parameters by the sandwich.

    Args:
      posterior: the posterior, if votes were independent.
      mode: its mode.
      voters: the votes of each voter.
    """
    from scipy.sparse import csr_array

    ties = voters.ties * (posterior.model == "davidson")
    given = Comparisons(*voters[1:5], ties, posterior.votes.num_arms, posterior.votes.sided)
    rows = Posterior(posterior.model, given, posterior.prior_std).scores(mode.parameters)
    count, size = voters.num_voters, len(mode.parameters)
    places = voters.voter, np.arange(len(voters.voter))
    scores: Any = csr_array((np.ones(len(voters.voter)), places)) @ rows  # (voters, P)
    mean = scores.mean(axis=0)
    root = np.linalg.inv(np.linalg.cholesky(mode.information)).T
    sums, fourth = np.zeros((size, size)), 0.0
    part = max(_MOST_NUMBERS // size, 1)
    for start in range(0, count, part):
        moved = (scores[start : start + part].toarray() - mean) @ root
        sums += moved.T @ moved
        fourth += np.sum(np.sum(moved**2, axis=1) ** 2)
    scale = count / (count - 1)
    ratios = scale * sums + root.T @ root / posterior.prior_std**2
    squares = np.sum((scale * sums) ** 2)
    error = scale**2 * fourth - squares / count
    # without the mean of all strengths, of which votes say nothing: there M is 1
    mean_ratio = (np.trace(ratios) - 1) / (size - 1)
    distance = np.sum(ratios**2) - 1 - (size - 1) * mean_ratio**2
    noise = min(error / distance, 1.0) if distance > 0 else 1.0
    shrunk = (1 - noise) * ratios + noise * max(mean_ratio, 1.0) * np.eye(size)
    return Spread(ratios, shrunk, count)


def widened(draws: Draws, posterior: Posterior, mode: Mode, spread: Spread) -> Draws:
    """Exact posterior draws, as wide as voters make them.

    Args:
      draws: the draws.
      posterior: the posterior.
      mode: its mode.
      spread: the variances by the sandwich.
    """
    degrees = spread.num_voters - 1
    squares, directions = np.linalg.eigh(spread.shrunk)
    stretch = (directions * np.sqrt(np.maximum(squares, 1))) @ directions.T
    half = np.linalg.cholesky(mode.information)
    move = half @ stretch @ np.linalg.inv(half)  # of rows: in units of independent votes, and back
    num_arms, point, with_ties = mode.num_arms, mode.parameters, posterior.model == "davidson"
    columns = [draws.strengths]
    columns += [draws.log_nu[:, None]] if with_ties else []
    columns += [draws.side[:, None]] if posterior.votes.sided else []
    radius = np.random.default_rng(0).chisquare(degrees, len(draws.weights)) / degrees
    moved = (np.hstack(columns) - point) @ move / np.sqrt(radius)[:, None] + point
    strengths = moved[:, :num_arms]
    return draws._replace(
        strengths=strengths - strengths.mean(axis=1, keepdims=True),
        log_nu=moved[:, num_arms] if with_ties else draws.log_nu,
        side=moved[:, -1] if posterior.votes.sided else draws.side,
    )
