import math

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from tests.theory.instances import from_margins

ORDERED = from_margins([0.1, 0.3, 0.2])


def test_the_theorems():
    growth, log = 1000 ** (1 / 5), math.log(1000)
    total = 1 / 0.1 + 1 / 0.3
    assert jd.theory.pcomp_bound(ORDERED, 1000, 5) == pytest.approx(
        3 * 3 * growth * math.log(6 * 1000 * 9 * 5) * total
    )
    assert jd.theory.scomp_order(ORDERED, 1000, 5) == pytest.approx(
        math.sqrt(3) * growth * log * total
    )
    assert jd.theory.scomp2_order(ORDERED, 1000, 5) == pytest.approx(3 * 5 * growth * log / 0.1)


@pytest.mark.parametrize("batches", [13, 14, 100, 10_000])
def test_pcomp_stays_below_its_bound_with_many_batches(batches):
    """q = 10,000^(1/B) is below 2 from B = 14 on; the printed bound is 292 at B = 1,000."""
    problem = jd.problems.from_matrix([[0.5, 0.9], [0.1, 0.5]])
    q = 10_000 ** (1 / batches)
    factor = q if batches == 13 else q**2 / (2 * (q - 1))
    bound = jd.theory.pcomp_bound(problem, 10_000, batches)
    assert bound == pytest.approx(6 * factor * math.log(24 * 10_000 * batches) / 0.4)
    sizes = np.maximum(1, np.floor(q ** np.arange(1, batches + 1) * (1 + 1e-13)))
    survived = np.append(1, sizes[:-1])  # c_r, beside the sum up to c_{r+1}
    gaps = np.minimum(0.5, np.sqrt(2 * math.log(24 * 10_000 * batches) / survived))
    for gap in np.unique(gaps):
        played = min(np.cumsum(sizes)[gaps >= gap].max(), 10_000)
        assert played * gap / 2 + 1 <= bound * 0.4 / gap


def test_bad_input():
    cyclic, losing = jd.problems.load("cyclic"), jd.problems.load("gap")
    for function in (jd.theory.pcomp_bound, jd.theory.scomp_order, jd.theory.scomp2_order):
        for batches in (1, 101):
            with pytest.raises(InputError, match="2 <= B <= T"):
                function(ORDERED, 100, batches)
        for horizon, batches in ((100, 2.5), (math.inf, 4), (100.5, 4)):
            with pytest.raises(InputError, match="whole number"):
                function(ORDERED, horizon, batches)
    with pytest.raises(InputError, match="'gap' has no Condorcet winner"):
        jd.theory.pcomp_bound(losing, 100, 4)
    assert np.isfinite(jd.theory.pcomp_bound(cyclic, 100, 4))
    for function in (jd.theory.scomp_order, jd.theory.scomp2_order):
        with pytest.raises(InputError, match="'cyclic' lacks strong stochastic transitivity"):
            function(cyclic, 100, 4)
    tied_at_the_top = jd.problems.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(InputError, match="no Condorcet winner"):
        jd.theory.scomp_order(tied_at_the_top, 100, 4)
    assert jd.theory.scomp_order(jd.problems.btl(jax.random.key(0), 5), 100, 4) > 0
