"""Draws of strengths that allow for voters who gave several votes: voters are resampled.

Each draw weights the voters by Dirichlet variables (Rubin, "The Bayesian bootstrap", Annals of
Statistics 9, 1981) and has a draw from the prior as the prior's centre; its strengths are the mode
(Newton and Raftery, "Approximate Bayesian inference with the weighted likelihood bootstrap",
Journal of the Royal Statistical Society B 56, 1994). Where every voter gave one vote, this is the
usual posterior up to the skew of its law. A sandwich of variances would give intervals alone, and
ranks and the probability of being best need draws.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxduel.problems.strengths import Mode, Posterior, mode_of
from jaxduel.votes.posterior import Draws, draws_named, places_of
from jaxduel.votes.voters import Voters

_DRAWS = 1_000
_MOST_NUMBERS = 2**22
"""Most weights of voters, or of pairs, that are held at once."""
_MOST_STEPS = 100
_TOLERANCE = 1e-4
"""Squared step to the mode, in units of the posterior's deviation, that is let go."""
_LONGEST = 2.0


def draws_of_voters(posterior: Posterior, mode: Mode, voters: Voters) -> Draws:
    """Draws with voters resampled, the same in every process.

    Args:
      posterior: the posterior, if votes were independent.
      mode: its mode.
      voters: the votes of each voter.
    """
    from scipy.sparse import csr_array

    count, rng = voters.num_voters, np.random.default_rng(0)
    row, *counts = _by_pair(posterior, voters)
    shape = len(posterior.votes.first), count
    by_voter = [csr_array((n, (row, voters.voter)), shape) for n in counts]
    inverse, places = np.linalg.inv(mode.information), places_of(mode)
    points: list[np.ndarray] = []
    part = max(_MOST_NUMBERS // max(shape), 1)
    for start in range(0, _DRAWS, part):
        size = min(part, _DRAWS - start)
        weights = rng.standard_exponential((count, size))
        weights /= weights.mean(axis=0)
        wins, losses, ties = (counts @ weights for counts in by_voter)
        own = dataclasses.replace(
            posterior,
            votes=posterior.votes._replace(wins=wins, losses=losses, ties=ties),
            centre=posterior.prior_std * rng.standard_normal((posterior.size, size))[places],
        )
        points.append(_modes(own, mode.parameters, inverse))
    found = np.concatenate(points, axis=1).T
    num_arms = posterior.votes.num_arms
    found[:, :num_arms] -= found[:, :num_arms].mean(axis=1, keepdims=True)
    return draws_named(posterior, found, np.full(_DRAWS, 1 / _DRAWS), _DRAWS)


def _by_pair(posterior: Posterior, voters: Voters) -> tuple[np.ndarray, ...]:
    """The pair of each row of the voters, and the votes for its first arm, for its second arm, and
    ties; rows that the model does not read have the pair 0 and no votes."""
    votes = posterior.votes
    ties = voters.ties * (posterior.model == "davidson")
    read = voters.wins + voters.losses + ties > 0
    turned = (voters.left > voters.right) & (not votes.sided)
    ends = (voters.left, voters.right), (voters.wins, voters.losses)
    (first, second), (wins, losses) = (
        (np.where(turned, two, one), np.where(turned, one, two)) for one, two in ends
    )
    known, wanted = (
        i.astype(np.int64) * votes.num_arms + j for i, j in (votes[:2], (first, second))
    )
    order = np.argsort(known)
    place = np.searchsorted(known, np.where(read, wanted, known[order[0]]), sorter=order)
    return order[place], wins * read, losses * read, ties


def _modes(posterior: Posterior, start: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Modes of C posteriors (P, C): steps by one inverse information, each of a length that its own
    gains allow, and Newton's method for those that have not arrived."""
    count = np.shape(posterior.centre)[1]
    x, length = np.repeat(start[:, None], count, axis=1), np.ones(count)
    value, slope = posterior.log_density(x), posterior.slope(x)
    going = np.ones(count, bool)
    for _ in range(_MOST_STEPS):
        step = inverse @ slope
        going = np.sum(step * slope, axis=0) > _TOLERANCE
        if not going.any():
            return x
        there = x + length * going * step
        value_there, slope_there = posterior.log_density(there), posterior.slope(there)
        gains = value_there >= value
        x, slope = np.where(gains, there, x), np.where(gains, slope_there, slope)
        value = np.where(gains, value_there, value)
        length = np.where(gains, np.minimum(1.2 * length, _LONGEST), length / 2)
    for place in np.flatnonzero(going):
        wins, losses, ties = (n[:, place] for n in posterior.votes[2:5])
        own = dataclasses.replace(
            posterior,
            votes=posterior.votes._replace(wins=wins, losses=losses, ties=ties),
            centre=np.asarray(posterior.centre)[:, place],
        )
        x[:, place] = mode_of(own, x[:, place]).parameters
    return x
