"""Votes drawn from models of strengths: for tests."""

import numpy as np
from scipy.special import expit, log_expit, ndtr

from jaxduel.votes import Votes, from_counts

STRENGTHS = np.array([0.9, 0.4, 0.0, -0.3, -1.0])
NU = 0.6
STRONG = ("btl", "thurstone", "davidson")


def probabilities(model, strengths, nu=NU):
    """Of a win, (K, K), and of a tie."""
    d = strengths[:, None] - strengths
    if model == "btl":
        return expit(d), np.zeros_like(d)
    if model == "thurstone":
        return ndtr(d), np.zeros_like(d)
    total = np.exp(d / 2) + np.exp(-d / 2) + nu
    return np.exp(d / 2) / total, nu / total


def log_posterior(model, votes, strengths, log_nu, prior_std=2.0):
    """From the definition, without constants; pairs one by one."""
    win, tie = probabilities(model, strengths, np.exp(log_nu))
    value = -(np.sum(strengths**2) + log_nu**2) / (2 * prior_std**2)
    for i, j in zip(*np.triu_indices(len(strengths), 1), strict=True):
        value += votes.wins[i, j] * np.log(win[i, j]) + votes.wins[j, i] * np.log(win[j, i])
        if model == "davidson":
            value += votes.ties[i, j] * np.log(tie[i, j])
    return value


def btl_on_a_grid(votes, size=301):
    """Strengths (3, n, n) of three arms on a grid of the differences to the first, and the exact
    posterior (n, n) of btl there; the mean of all has been integrated out."""
    steps = np.linspace(-10, 10, size)
    strengths = np.stack([np.zeros((size, size)), *np.meshgrid(steps, steps, indexing="ij")])
    strengths -= strengths.mean(axis=0)
    log = -(strengths**2).sum(axis=0) / 8
    for i, j in zip(*np.nonzero(votes.wins), strict=True):
        log += votes.wins[i, j] * log_expit(strengths[i] - strengths[j])
    mass = np.exp(log - log.max())
    return strengths, mass / mass.sum()


def drawn(rng, model="btl", strengths=STRENGTHS, per_pair=40) -> Votes:
    win, tie = probabilities(model, strengths)
    wins, ties = np.zeros((2, len(strengths), len(strengths)), np.int64)
    for i, j in zip(*np.triu_indices(len(strengths), 1), strict=True):
        law = [win[i, j], win[j, i], tie[i, j]]
        wins[i, j], wins[j, i], ties[i, j] = rng.multinomial(per_pair, np.array(law) / sum(law))
    return from_counts(wins, ties + ties.T)


def relabelled(votes, order) -> Votes:
    """The same votes with arm `order[i]` at place i."""
    chosen = np.ix_(order, order)
    arms = [votes.arms[arm] for arm in order]
    return from_counts(votes.wins[chosen], votes.ties[chosen], arms, votes.name)
