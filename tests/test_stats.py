"""Statistics of proportions, against their definition and exact coverage."""

import numpy as np
import pytest
from scipy import stats

from jaxduel.stats import wilson95
from tests.oracles.recommending import wilson


@pytest.mark.parametrize("n", [1, 7, 400])
def test_wilson_is_its_definition(n):
    successes = np.unique(np.linspace(0, n, 9).astype(int))
    found = np.transpose(wilson95(successes, n))
    np.testing.assert_allclose(found, [wilson(k, n) for k in successes], atol=1e-10)
    assert found[0, 0] == 0
    assert found[-1, 1] == 1


def test_wilson_covers_about_95_percent():
    """Exactly, averaged over probabilities; the counts broadcast."""
    p = np.linspace(0.01, 0.99, 99)
    low, high = wilson95(np.arange(101)[:, None], np.full(99, 100))
    mass = stats.binom.pmf(np.arange(101)[:, None], 100, p)
    covered = np.sum(mass * ((low <= p) & (p <= high)), axis=0)
    assert covered.mean() == pytest.approx(0.95, abs=0.005)
    assert covered.min() > 0.9
