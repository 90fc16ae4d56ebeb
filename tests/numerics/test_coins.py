"""Coins of any probability."""

from fractions import Fraction
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxduel.numerics import signed_tail
from jaxduel.numerics.coins import _below, bernoulli_from_tail, steps_before
from jaxduel.numerics.threefry import KeyWords


def _seeds(num):
    data = jax.random.key_data(jax.random.split(jax.random.key(3), num))
    return KeyWords(data[:, 0], data[:, 1])


@partial(jax.jit, static_argnums=2)
def _tossed(seeds, position, number, tail):
    return jax.vmap(lambda seed: bernoulli_from_tail(seed, position, number, tail))(seeds)


def test_frequencies():
    num, tail = 400_000, jnp.array([0.5, -0.5, 0.25, -0.25, 1e-3, -1e-3, 0.1, 1e-30], jnp.float32)
    position = jnp.arange(len(tail))
    heads = _tossed(_seeds(num), position, 5, tail)
    expected = np.where(tail > 0, tail, 1 + tail).astype(float)
    error = np.sqrt(expected * (1 - expected) / num)
    assert (np.abs(np.mean(heads, axis=0) - expected) <= 4 * error).all()


def test_coins_are_independent():
    num, tail = 200_000, jnp.full(4, 0.3, jnp.float32)
    one = _tossed(_seeds(num), jnp.arange(4), 0, tail)
    two = _tossed(_seeds(num), jnp.arange(4), 1, tail)
    falls = np.concatenate([one, two], axis=1).astype(float)
    correlation = np.corrcoef(falls.T) - np.eye(8)
    assert np.abs(correlation).max() < 4.5 / np.sqrt(num)


def test_coins_of_the_same_number_fall_alike():
    tail, position = jnp.array([0.5, -0.5], jnp.float32), jnp.array([3, 3])
    heads = _tossed(_seeds(100), position, 0, tail)
    assert (heads[:, 0] != heads[:, 1]).all()


def test_words_are_compared_as_one_number_of_63_bits():
    """Around the threshold, where the first word alone does not decide."""
    rng = np.random.default_rng(0)
    chances = np.concatenate([10.0 ** rng.uniform(-18, np.log10(0.5), 3000), [0.5, 2.0**-40, 0.0]])
    chances = chances.astype(np.float32)
    high, low, expected = [], [], []
    for chance in chances:
        limit = Fraction(float(chance)) * 2**63
        slack = int(limit * Fraction(2, 2**24)) + 2
        number = int(limit) + int(rng.choice([-1, 1])) * int(rng.integers(slack, 4 * slack + 4))
        number = min(max(number, 0), 2**63 - 1)
        high.append((number >> 32) << 1)
        low.append(number & 0xFFFFFFFF)
        expected.append(number < limit)
    found = _below(jnp.array(high, jnp.uint32), jnp.array(low, jnp.uint32), jnp.asarray(chances))
    assert 500 < sum(expected) < 2500
    assert np.array_equal(found, expected)


def test_tails_of_opposite_counts_make_opposite_coins():
    wins, losses = jnp.array([0, 3, 40, 7]), jnp.array([5, 3, 12, 900])
    tail = signed_tail(wins, losses)
    there = _tossed(_seeds(1000), jnp.arange(4), 0, tail)
    back = _tossed(_seeds(1000), jnp.arange(4), 0, -tail)
    assert (there != back).all()


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
