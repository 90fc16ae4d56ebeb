"""Geometric numbers beside SciPy's law, and at rates that float32 uniform numbers do not reach."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxduel.numerics.geometric import steps_before

NUM, MOST = 40_000, 2**31 - 1


def drawn(chance, limit):
    words = np.random.default_rng(0).integers(0, 2**32, (2, NUM), dtype=np.uint32)
    with jax.enable_x64(True):
        draw = jax.jit(jax.vmap(steps_before, (0, 0, None, None)))
        return np.asarray(draw(*words, jnp.float64(chance), jnp.int32(limit)))


@pytest.mark.parametrize("chance", [0.9, 0.3, 1e-3])
def test_small_numbers_have_the_law_of_scipy(chance):
    found, law = drawn(chance, MOST), stats.geom(chance, loc=-1)
    for n in (0, 1, 2, int(1 / chance), int(3 / chance)):
        expected = law.cdf(n)
        error = np.sqrt(expected * (1 - expected) / NUM)
        assert abs((found <= n).mean() - expected) <= 4 * error + 1e-12


@pytest.mark.parametrize("chance", [1e-7, 1e-9, 1e-12])
def test_small_rates_are_those_of_exponential_numbers_cut_at_the_limit(chance):
    found = drawn(chance, MOST)
    cut = np.exp(-chance * MOST)
    assert abs((found == MOST).mean() - cut) <= 4 * np.sqrt(cut * (1 - cut) / NUM) + 1e-9
    short = found[found < MOST]
    if len(short) > 1000:
        law = stats.truncexpon(chance * MOST, scale=1 / chance)
        assert stats.kstest(short, law.cdf).pvalue > 1e-4


def test_certain_events_and_no_time():
    assert (drawn(1.0, 10) == 0).all()
    assert (drawn(1e-9, 0) == 0).all()
