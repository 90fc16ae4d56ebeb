import math

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from tests.theory.instances import from_margins

ORDERED = from_margins([0.1, 0.3, 0.2])  # 0 beats 1 and 2, 1 beats 2


def divergence(p, q=0.5):
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def test_ccb_is_half_of_theorem_3():
    assert jd.theory.ccb_constant(ORDERED) == pytest.approx(3 * (1 + 0 + 1) / 0.1**2)
    gap = jd.problems.load("gap")
    assert jd.theory.ccb_constant(gap) == pytest.approx(5 * (1 + 1 + 1) / 0.01**2)


def test_scb_is_theorem_5():
    h1, h2 = 1 / 0.1**2 + 1 / 0.2**2, 1 / 0.3**2 + 1 / 0.2**2
    expected = (h1 * (1 / 2) / (1 / 2) ** 2 + h2 * 1 / 1**2) / 3
    assert jd.theory.scb_order(ORDERED) == pytest.approx(expected)
    three = jd.problems.from_matrix([[0.5, 0.6, 0.2], [0.4, 0.5, 0.7], [0.8, 0.3, 0.5]])
    hardness = 2 * (1 / 0.1**2 + 1 / 0.3**2 + 1 / 0.2**2)
    assert jd.theory.scb_order(three) == pytest.approx(hardness * (1 / 2) / (1 / 2) ** 2 / 3)


def test_dts_is_proposition_1():
    pairs = (0.1, 0.3, 0.2)
    expected = sum(4 * 0.6 / g**2 + 1.5 / divergence(0.5 - g) for g in pairs)
    assert jd.theory.dts_constant(ORDERED, alpha=0.6, epsilon=0.5) == pytest.approx(expected)


def test_dts_refined_is_theorem_1():
    winner = 1.5 / divergence(0.4) + 1.5 / divergence(0.2)
    others = 4 * 0.6 / 0.1**2 + 4 * 0.6 / 0.3**2
    found = jd.theory.dts_refined_constant(ORDERED, alpha=0.6, epsilon=0.5)
    assert found == pytest.approx(winner + others)
    loglog = 1 / divergence(0.5, 0.6) + 1 / divergence(0.3, 0.6)  # arm 1: itself, arm 2
    loglog += 1 / divergence(0.7, 0.8) + 1 / divergence(0.5, 0.8)  # arm 2: arm 1, itself
    found = jd.theory.dts_loglog_constant(ORDERED, beta=3, epsilon=0.5)
    assert found == pytest.approx(3 * 1.5**2 * loglog)


def test_dts_refined_counts_a_losing_winners_superiors():
    problem = jd.problems.load("gap")  # L_C = 1: two superiors of each other arm
    p = np.asarray(problem.preferences)
    expected = sum(1 / divergence(p[j, 0]) for j in range(1, 5) if p[j, 0] < 0.5)
    expected += sum(4 * 0.51 / (p[j, 0] - 0.5) ** 2 for j in range(1, 5) if p[j, 0] > 0.5)
    for arm in range(1, 5):
        expected += sum(4 * 0.51 / (x - 0.5) ** 2 for x in sorted(p[:, arm])[-2:])
    assert jd.theory.dts_refined_constant(problem) == pytest.approx(expected)


def test_certain_losses_have_finite_terms():
    problem = from_margins([0.5, 0.5, 0.2])
    assert np.isfinite(jd.theory.dts_loglog_constant(problem))
    assert np.isfinite(jd.theory.dts_refined_constant(problem))


def test_rounding_makes_no_preferences():
    p = 1.1 - 0.6  # 0.5000000000000001
    tied = jd.problems.from_matrix([[0.5, p], [1 - p, 0.5]])
    assert tied.condorcet_winner is None
    for function in (jd.theory.ccb_constant, jd.theory.rmed1_constant):
        with pytest.raises(InputError):
            function(tied)
    near = from_margins([0.1, 0.2 + 1e-12, 0.2])
    with pytest.raises(InputError, match="arms 0 and 1 beat arm 2 equally clearly"):
        jd.theory.dts_loglog_constant(near)
    named = jd.problems.from_matrix(near.preferences, "m", arms=["ada", "bob", "cyd"])
    with pytest.raises(InputError, match=": ada and bob beat cyd equally clearly\\."):
        jd.theory.dts_loglog_constant(named)
    with jax.enable_x64(True):
        assert np.isnan(jax.jit(jd.theory.dts_loglog_constant)(near.preferences))


def test_bad_input():
    tied = jd.problems.load("arxiv")
    for function in (
        jd.theory.ccb_constant,
        jd.theory.scb_order,
        jd.theory.dts_constant,
        jd.theory.dts_refined_constant,
        jd.theory.dts_loglog_constant,
    ):
        with pytest.raises(InputError, match="arms 3 and 5"):
            function(tied)
    with pytest.raises(InputError, match="alpha must be above 1/2"):
        jd.theory.dts_constant(ORDERED, alpha=0.5)
    for alpha in (np.array([0.51, 0.6]), None):
        with pytest.raises(InputError, match="alpha must be above 1/2 for D-TS's bounds, not"):
            jd.theory.dts_constant(ORDERED, alpha=alpha)
    for name, least in (("epsilon", 0), ("beta", 2)):
        for value in (least - 1, math.nan, math.inf):
            with pytest.raises(InputError, match=f"{name} must be at least {least}"):
                jd.theory.dts_loglog_constant(ORDERED, **{name: value})
    with pytest.raises(InputError, match="arms 0 and 1 beat arm 2 equally clearly"):
        jd.theory.dts_refined_constant(from_margins([0.1, 0.2, 0.2]))
