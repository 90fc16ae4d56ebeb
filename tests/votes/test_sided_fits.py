"""Effects of sides against definitions, exact posteriors and simulation."""

import dataclasses

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit, log_expit, ndtr

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.problems.strengths import davidson
from jaxduel.votes.facts import facts
from jaxduel.votes.sides import Sides
from tests.votes.cases import NU, STRENGTHS, STRONG


def sided(left, right, ties=None):
    """Votes of (K, K) counts by sides."""
    left, right = np.array(left), np.array(right)
    ties = 0 * left if ties is None else np.array(ties)
    votes = jd.votes.from_counts(left + right.T, ties + ties.T)
    return dataclasses.replace(votes, sides=Sides(left, right, ties))


def chances(model, d, log_nu=None):
    """Of the left arm's win, the right arm's, and a tie."""
    if model == "davidson":
        return davidson(d, np.log(NU) if log_nu is None else log_nu)
    law = expit if model == "btl" else ndtr
    return law(d), law(-d), 0 * d


def drawn(rng, model, side, num_votes, strengths=STRENGTHS):
    """Votes of ordered pairs that are drawn at random."""
    counts = np.zeros((3, len(strengths), len(strengths)), int)
    pairs = np.argwhere(~np.eye(len(strengths), dtype=bool))
    met = rng.multinomial(num_votes, np.full(len(pairs), 1 / len(pairs)))
    for (i, j), n in zip(pairs, met, strict=True):
        law = chances(model, strengths[i] - strengths[j] + side)
        counts[:, i, j] = rng.multinomial(n, law)
    return sided(*counts)


@pytest.mark.parametrize("model", STRONG)
def test_the_mode_is_that_of_the_definition(model):
    votes = drawn(np.random.default_rng(0), model, 0.4, 300, STRENGTHS[:3])

    def cost(x):
        d = x[:3, None] - x[:3] + x[3]
        win, loss, tie = chances(model, d, x[4])
        log = votes.sides.left * np.log(win) + votes.sides.right * np.log(loss)
        if model == "davidson":
            log = log + votes.sides.ties * np.log(tie)
        return x @ x / 8 - (log * (1 - np.eye(3))).sum()

    x = optimize.minimize(cost, np.zeros(5), tol=1e-12).x
    fit = jd.votes.fit(votes, model, side=True)
    np.testing.assert_allclose(fit.strengths, x[:3] - x[:3].mean(), atol=1e-5)
    assert fit.side.value == pytest.approx(x[3], abs=1e-5)
    if model == "davidson":
        assert np.log(fit.nu) == pytest.approx(x[4], abs=1e-5)


@pytest.mark.usefixtures("kind")
def test_draws_are_of_the_exact_posterior():
    """Two arms: the difference and the side, on a grid."""
    votes = sided([[0, 9], [3, 0]], [[0, 2], [4, 0]])
    fit = jd.votes.fit(votes, side=True)
    d, side = np.meshgrid(np.linspace(-8, 8, 801), np.linspace(-8, 8, 801), indexing="ij")
    log = -(d**2) / 16 - side**2 / 8  # of d, the sum of two squares
    log += 9 * log_expit(d + side) + 2 * log_expit(-d - side)
    log += 3 * log_expit(-d + side) + 4 * log_expit(d - side)
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    error = 4 / np.sqrt(fit.draws.effective)
    assert abs(fit.side.above - mass[side > 0].sum() - mass[side == 0].sum() / 2) < error / 2
    found = fit.difference(0, 1)
    for low, value in ((fit.side.low, side), (found.low, d)):
        assert abs(mass[value < low].sum() - 0.025) < error * np.sqrt(0.025) + 0.004  # of the grid
    for high, value in ((fit.side.high, side), (found.high, d)):
        assert abs(mass[value > high].sum() - 0.025) < error * np.sqrt(0.025) + 0.004


@pytest.mark.parametrize("model", STRONG)
def test_sides_turned_have_the_opposite_effect(model):
    votes = drawn(np.random.default_rng(1), model, 0.5, 400)
    left, right, ties = votes.sides
    turned = dataclasses.replace(votes, sides=Sides(right.T, left.T, ties.T))
    one, other = (jd.votes.fit(each, model, side=True) for each in (votes, turned))
    np.testing.assert_allclose(one.strengths, other.strengths, atol=1e-8)
    assert one.side.value == pytest.approx(-other.side.value)
    assert 0 < one.side.low < 0.5 < one.side.high
    assert one.side.above > 0.999
    assert other.side.high < 0


def test_strengths_are_without_the_effect_of_sides():
    """The strongest arm always on the worse side; the fit without sides misses by the effect."""
    rng, strengths = np.random.default_rng(2), np.array([1.0, 0.0, -1.0])
    counts = np.zeros((3, 3, 3), int)
    for i, j in ((1, 0), (2, 0), (1, 2), (2, 1)):
        counts[0, i, j] = rng.binomial(20_000, expit(strengths[i] - strengths[j] + 0.5))
        counts[1, i, j] = 20_000 - counts[0, i, j]
    votes = sided(*counts)
    fit, plain = jd.votes.fit(votes, side=True), jd.votes.fit(votes)
    np.testing.assert_allclose(fit.strengths, strengths, atol=0.05)
    assert fit.side.value == pytest.approx(0.5, abs=0.05)
    moved = np.abs(fit.strengths - plain.strengths).max()
    assert fit.side.moved == pytest.approx(moved)
    assert moved > 0.2
    assert fit.problem.preferences[0, 1] == pytest.approx(expit(1.0), abs=0.02)
    assert any("with --side" in line for line in facts(plain))
    said = next(line for line in facts(fit) if line.startswith("left side: +0.5"))
    assert f"level arms win {expit(fit.side.value):.1%}" in said
    assert "model btl with sides" in facts(fit)[0]


def test_balanced_sides_are_not_warned_of():
    counts = np.full((2, 3, 3), 30) * (1 - np.eye(3, dtype=int))
    counts[0] *= 2  # the left arm wins twice as often, whoever it is
    plain = jd.votes.fit(sided(*counts))
    assert len(facts(plain)) == 1
    assert jd.votes.fit(plain.votes, side=True).side.low > 0.3


@pytest.mark.parametrize("model", STRONG)
def test_deviances_of_a_true_model_have_their_mean(model):
    rng, ratios = np.random.default_rng(3), []
    for _ in range(60):
        misfit = jd.votes.fit(drawn(rng, model, 0.6, 600), model, side=True).misfit
        ratios.append((misfit.deviance - misfit.expected) / misfit.std)
    assert misfit.model == f"{model} with sides"
    assert misfit.degrees_of_freedom == (34 if model == "davidson" else 15)
    assert abs(np.mean(ratios)) < 4 / np.sqrt(60)
    assert 0.6 < np.std(ratios) < 1.4


def test_a_model_without_sides_does_not_fit_strong_ones():
    votes = drawn(np.random.default_rng(4), "btl", 1.5, 2_000)
    left, right, _ = votes.sides
    assert jd.votes.fit(votes, side=True).misfit.p_value > 0.001
    assert jd.votes.fit(votes).misfit.degrees_of_freedom == 6
    always = sided(np.triu(left), np.triu(right))  # arms always stood in one order
    assert jd.votes.fit(always, side=True).misfit.degrees_of_freedom == 10 - 5
    assert len(facts(jd.votes.fit(votes, side=True))) == 2


def test_sides_that_cannot_be_told_from_strengths_are_said():
    """One arm always stood left, and beat the others there."""
    counts = np.zeros((2, 3, 3), int)
    counts[0, 0, 1:], counts[1, 0, 1:] = 30, 10
    said = facts(jd.votes.fit(sided(*counts), side=True))
    assert said[2].startswith(
        "warning: arms stood in an order that cannot tell sides from strength"
    )
    assert len(facts(jd.votes.fit(sided(*counts)))) == 1


def test_sides_that_nobody_knows_get_a_sentence():
    votes = jd.votes.from_counts([[0, 3], [2, 0]])
    with pytest.raises(InputError, match="votes has no sides: an effect of sides needs a file"):
        jd.votes.fit(votes, side=True)
    with pytest.raises(InputError, match="the free model has no strengths, and takes neither"):
        jd.votes.fit(sided([[0, 3], [0, 0]], [[0, 2], [0, 0]]), "free", side=True)
    with pytest.raises(InputError, match="side"):
        jd.votes.fit(votes, side="left")
    assert jd.votes.fit(votes).side is None
