"""The free model: preferences of pairs are independent Beta variables."""

from __future__ import annotations

import numpy as np

from jaxduel.problems.strengths import coherent

_PRIOR = 0.5
"""Jeffreys' prior: Beta(1/2, 1/2)."""
DRAWS = 20_000
"""Draws for `best`: standard errors of at most 0.0036."""
_MOST_NUMBERS = 2**24
"""Most random numbers that are held at once."""


def mean(wins: np.ndarray) -> np.ndarray:
    """Posterior mean of the preferences: (K, K) float64."""
    counts = wins + _PRIOR
    return coherent(counts / (counts + counts.T))


def drawn(rng: np.random.Generator, wins: np.ndarray, n: int) -> np.ndarray:
    """Preferences drawn from the posterior: (n, K, K) float64."""
    i, j = np.triu_indices(len(wins), 1)
    p = np.zeros((n, *wins.shape))
    p[:, i, j] = rng.beta(wins[i, j] + _PRIOR, wins[j, i] + _PRIOR, (n, len(i)))
    return coherent(p)


def in_favour(wins: np.ndarray) -> np.ndarray:
    """P(p_ij > 1/2): (K, K) float64, 1/2 on the diagonal."""
    from scipy.special import betainc

    return coherent(betainc(wins.T + _PRIOR, wins + _PRIOR, 0.5))


def best(wins: np.ndarray) -> np.ndarray:
    """Probability of each arm to be a Copeland winner: (K,) float64, the same in every process."""
    rng, found = np.random.default_rng(0), np.zeros(len(wins))
    part = max(_MOST_NUMBERS // len(wins), 1)
    for start in range(0, DRAWS, part):
        scores = _copeland_scores(rng, wins, min(part, DRAWS - start))
        found += (scores == scores.max(axis=1, keepdims=True)).sum(axis=0)
    return found / DRAWS


def _copeland_scores(rng: np.random.Generator, wins: np.ndarray, n: int) -> np.ndarray:
    """Copeland scores of n draws, (n, K) int16: pairs are independent coins."""
    num_arms, chance = len(wins), in_favour(wins).astype(np.float32)
    scores = np.zeros((num_arms, n), np.int16)
    for i in range(num_arms - 1):
        won = rng.random((num_arms - 1 - i, n), np.float32) < chance[i, i + 1 :, None]
        scores[i] += won.sum(axis=0, dtype=np.int16)
        scores[i + 1 :] += ~won
    return scores.T
