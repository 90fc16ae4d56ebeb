import math

import numpy as np
import pytest
from scipy.special import rel_entr

import jaxduel as jd


def test_gaussian_arms():
    assert jd.theory.lai_robbins_constant(jd.problems.one_better_arm(3)) == pytest.approx(40)
    spread = jd.problems.gaussian([1.0, 0.5, 0.9], std=[3.0, 1.0, 2.0])
    assert jd.theory.lai_robbins_constant(spread) == pytest.approx(2 / 0.5 + 2 * 4 / 0.1)


@pytest.mark.parametrize("problem", ["gap", [0.6, 0.5], jd.problems.arithmetic(3)])
def test_arms_with_rewards_are_needed(problem):
    with pytest.raises(jd.InputError, match=f"rewards.* of type {type(problem).__name__}"):
        jd.theory.lai_robbins_constant(problem)


def test_bernoulli_arms():
    means = np.array([0.2, 0.7, 0.65])
    divergence = rel_entr(means, 0.7) + rel_entr(1 - means, 0.3)
    expected = np.sum((0.7 - means[[0, 2]]) / divergence[[0, 2]])
    assert jd.theory.lai_robbins_constant(jd.problems.bernoulli(means)) == pytest.approx(expected)


def test_bernoulli_arms_at_the_ends():
    assert jd.theory.lai_robbins_constant(jd.problems.bernoulli([0.0, 0.5, 1.0])) == 0
    never = jd.theory.lai_robbins_constant(jd.problems.bernoulli([0.0, 0.5]))
    assert never == pytest.approx(0.5 / math.log(2))


@pytest.mark.parametrize("mean", [1e-6, 0.1, 0.5, 0.9])
def test_close_bernoulli_arms_are_like_gaussian_ones(mean):
    """d(p, p + g) = g^2 / (2 p (1 - p)) (1 + O(g / p))."""
    gap = 1e-6 * mean
    constant = jd.theory.lai_robbins_constant(jd.problems.bernoulli([mean, mean + gap]))
    assert constant == pytest.approx(2 * mean * (1 - mean) / gap, rel=1e-5)


def test_the_two_forms_of_the_divergence_meet():
    """Where the series takes over, at a gap of a thousandth of the mean."""
    for gap in (0.000999, 0.001001):
        exact = _divergence(0.5 - gap, 0.5)
        constant = jd.theory.lai_robbins_constant(jd.problems.bernoulli([0.5 - gap, 0.5]))
        assert constant == pytest.approx(gap / exact, rel=1e-8)


def _divergence(p, q):
    """d(p, 1/2) by its power series in x = 2 p - 1."""
    x = 2 * p - 1
    assert q == 0.5
    return sum(x ** (2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 8))


def test_equally_good_arms_cost_nothing():
    assert jd.theory.lai_robbins_constant(jd.problems.gaussian([1.0, 1.0])) == 0
    assert jd.theory.lai_robbins_constant(jd.problems.bernoulli([0.5, 0.5])) == 0
