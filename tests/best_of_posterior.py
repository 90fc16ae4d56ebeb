"""Probabilities, by quadrature, that each of several Beta numbers is the largest; and how often
it is found to be."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

TINY = 6e-5
"""p-value below which a test with fixed keys fails: four standard errors."""


def best_of(won, lost):
    """P(theta_i is the largest) for every i, theta_i ~ Beta(won_i + 1, lost_i + 1)."""
    laws = [stats.beta(w + 1, x + 1) for w, x in zip(won, lost, strict=True)]

    def best(i, x):
        return laws[i].pdf(x) * np.prod([law.cdf(x) for j, law in enumerate(laws) if j != i])

    edges = np.unique([law.ppf(q) for law in laws for q in (0, 1e-12, 0.1, 0.9, 1 - 1e-12, 1)])
    parts = [
        [integrate.quad(partial(best, i), *ends)[0] for ends in pairwise(edges)]
        for i in range(len(won))
    ]
    p = np.sum(parts, axis=1)
    assert p.sum() == pytest.approx(1, abs=1e-6)
    return p


def assert_found(left, right, p):
    """Pairs of the largest in two independent samples, as often as their probabilities say."""
    pairs = np.histogram2d(left, right, bins=np.arange(-0.5, len(p)))[0].ravel()
    assert pairs.sum() == len(left)  # none is outside
    law = np.clip(np.outer(p, p).ravel(), 0, 1)  # quadrature leaves it by 1e-12
    chances = [
        stats.binomtest(int(count), len(left), chance).pvalue
        for count, chance in zip(pairs, law.tolist(), strict=True)
    ]
    assert min(chances) > TINY / len(chances)
