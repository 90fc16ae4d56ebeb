"""Voters who gave several votes: how much wider they make the posterior.

Votes of one person are not independent. The sandwich H^-1 J H^-1 has the variances of estimates
whatever the votes of a voter have to do with one another: H is the information at the mode, and J
the prior's information and the covariance of the voters' scores (Liang and Zeger, Biometrika 73,
1986, with voters as clusters). A parameter's ratio of its variance to that of independent votes,
which is in H^-1, is its design effect (Kish, "Survey sampling", 1965). Exact posterior draws are
moved away from the mode by its root (as of Shaby, "The open-faced sandwich adjustment for MCMC
using estimating functions", Journal of Computational and Graphical Statistics 23, 2014), and by a
multivariate t with as many degrees of freedom as voters but one, since few voters tell little of J.
So draws keep the skew of the posterior, which modes of resampled voters lose: of an arm that won
all its votes they all are alike. For the same reason draws are never moved toward the mode.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxduel.problems.strengths import Comparisons, Mode, Posterior
from jaxduel.votes.posterior import Draws
from jaxduel.votes.voters import Voters

_MOST_NUMBERS = 2**24
"""Most scores that are held at once."""


def variances(posterior: Posterior, mode: Mode, voters: Voters) -> tuple[np.ndarray, np.ndarray]:
    """Variances of the parameters, strengths centred: by the sandwich, and of independent votes,
    (P,) float64 each.

    Args:
      posterior: the posterior, if votes were independent.
      mode: its mode.
      voters: the votes of each voter.
    """
    from scipy.sparse import csr_array

    ties = voters.ties * (posterior.model == "davidson")
    given = Comparisons(*voters[1:5], ties, posterior.votes.num_arms, posterior.votes.sided)
    rows = Posterior(posterior.model, given, posterior.prior_std).scores(mode.parameters)
    count = voters.num_voters
    places = voters.voter, np.arange(len(voters.voter))
    scores: Any = csr_array((np.ones(len(voters.voter)), places)) @ rows  # (voters, P)
    mean = scores.mean(axis=0)
    root = mode.factor
    inverse = root @ root.T
    squares = inverse @ inverse.T
    total = squares.diagonal() / posterior.prior_std**2
    part = max(_MOST_NUMBERS // len(mean), 1)
    for start in range(0, count, part):
        moved = (scores[start : start + part].toarray() - mean) @ inverse
        total = total + np.sum(moved**2, axis=0) * count / (count - 1)
    return total, inverse.diagonal()


def widened(
    draws: Draws, posterior: Posterior, mode: Mode, ratios: np.ndarray, num_voters: int
) -> Draws:
    """Exact posterior draws, as wide as voters make them.

    Args:
      draws: the draws.
      posterior: the posterior.
      mode: its mode.
      ratios: (P,) the parameters' design effects.
      num_voters: number of voters.
    """
    degrees = num_voters - 1
    radius = np.random.default_rng(0).chisquare(degrees, len(draws.weights)) / degrees
    lengths = np.sqrt(np.maximum(ratios, 1) / radius[:, None])
    num_arms, point = mode.num_arms, mode.parameters
    strengths = point[:num_arms] + lengths[:, :num_arms] * (draws.strengths - point[:num_arms])
    log_nu, side = draws.log_nu, draws.side
    if posterior.model == "davidson":
        log_nu = point[num_arms] + lengths[:, num_arms] * (log_nu - point[num_arms])
    if posterior.votes.sided:
        side = point[-1] + lengths[:, -1] * (side - point[-1])
    strengths -= strengths.mean(axis=1, keepdims=True)
    return draws._replace(strengths=strengths, log_nu=log_nu, side=side)
