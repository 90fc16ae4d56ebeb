"""Probabilities, by quadrature, that each of several Beta numbers is the largest."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats


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
