"""Misfit of models: deviances, cyclic triples, residuals."""

from itertools import combinations

import numpy as np
import pytest
from scipy import special, stats

import jaxduel as jd
from jaxduel.votes import deviance
from tests.votes.cases import STRENGTHS, drawn

MODELS = ("btl", "thurstone", "davidson")


@pytest.mark.parametrize("model", MODELS)
def test_deviances_of_a_true_model_have_the_chi_square_law(model):
    rng = np.random.default_rng(0)
    found = [jd.votes.fit(drawn(rng, model, STRENGTHS[:4], 200), model).misfit for _ in range(200)]
    (freedom,) = {misfit.degrees_of_freedom for misfit in found}
    assert freedom == (12 - 3 - 1 if model == "davidson" else 6 - 3)
    deviances = np.array([misfit.deviance for misfit in found])
    assert abs(deviances.mean() - freedom) < 4 * np.sqrt(2 * freedom / len(found))
    assert stats.kstest([misfit.p_value for misfit in found], "uniform").pvalue > 6e-5


@pytest.mark.parametrize("model", MODELS)
def test_few_votes_a_pair_are_no_misfit(model):
    """Of a true model with three votes a pair, where chi-square finds a misfit too often."""
    rng, strengths = np.random.default_rng(3), np.random.default_rng(4).normal(0, 0.5, 16)
    found = [jd.votes.fit(drawn(rng, model, strengths, 3), model).misfit for _ in range(100)]
    errors = np.array([(misfit.deviance - misfit.expected) / misfit.std for misfit in found])
    assert abs(errors.mean()) < 4 / np.sqrt(len(errors))
    assert abs(errors.std() - 1) < 4 / np.sqrt(2 * len(errors))
    assert stats.kstest([misfit.p_value for misfit in found], "uniform").pvalue > 6e-5
    rough = [stats.chi2.sf(m.deviance, m.degrees_of_freedom) for m in found]
    assert np.mean(np.array(rough) < 0.01) > 0.01 + 4 * np.sqrt(0.01 / len(rough))


def test_one_vote_a_pair_tests_nothing():
    wins = np.triu(np.random.default_rng(6).integers(0, 2, (9, 9)), 1)
    misfit = jd.votes.fit(jd.votes.from_counts(wins + np.tril(1 - wins.T, -1))).misfit
    assert misfit.std < 1e-3 * misfit.expected
    assert misfit.deviance == pytest.approx(misfit.expected, abs=1e-3)
    assert misfit.p_value == 1


def test_the_deviance_is_twice_a_difference_of_log_likelihoods():
    """K = 3 and votes of which each arm beats the next as often: no strength explains any."""
    wins = np.array([[0, 60, 40], [40, 0, 60], [60, 40, 0]])
    misfit = jd.votes.fit(jd.votes.from_counts(wins)).misfit
    free = 3 * (60 * np.log(0.6) + 40 * np.log(0.4))
    assert misfit.deviance == pytest.approx(2 * (free - 300 * np.log(0.5)), rel=1e-9)
    law = misfit.expected, misfit.std  # chi-square's up to terms of order 1/n, n = 100
    assert law == pytest.approx((1, np.sqrt(2)), abs=3 / 100)
    assert misfit.worst.observed == 0.6
    assert misfit.worst.expected == pytest.approx(0.5)
    assert misfit.worst.errors == pytest.approx(10 / 5)
    assert "does not fit" in misfit.lines()[0]


@pytest.mark.parametrize(
    ("won", "verdict"),
    [(60, "< 0.01: does not fit"), (53, ">= 0.01: no sign of a misfit"), (50, ">= 0.01: no sign")],
)
def test_the_threshold_stands_beside_the_p_value(won, verdict):
    wins = np.array([[0, won, 100 - won], [100 - won, 0, won], [won, 100 - won, 0]])
    misfit = jd.votes.fit(jd.votes.from_counts(wins)).misfit
    assert f", p = {misfit.p_value:.2g} {verdict}" in misfit.lines()[0]
    assert ("does not" in verdict) == (misfit.p_value < 0.01)


def test_separated_votes_have_no_deviance():
    """The largest likelihood is at infinite strengths: without the prior nothing is left over."""
    misfit = jd.votes.fit(jd.votes.from_counts(np.triu(np.full((4, 4), 9), 1))).misfit
    assert misfit.degrees_of_freedom == 3
    assert misfit.deviance == pytest.approx(0, abs=1e-3)


def test_a_deviance_of_0_is_no_misfit():
    """Arm 0 never loses: two strengths explain three pairs, whatever rounding leaves."""
    misfit = jd.votes.fit(jd.votes.from_counts([[0, 100, 100], [0, 0, 60], [0, 40, 0]])).misfit
    assert misfit.deviance < 1e-3
    assert misfit.p_value == 1


@pytest.mark.parametrize(
    ("model", "num", "each", "spread"),
    [("davidson", 8, 50, 2.5), ("btl", 4, 1_000, 5.0), ("thurstone", 4, 1_000, 3.0)],
)
def test_rare_outcomes_are_no_misfit(model, num, each, spread):
    """Of many votes on a pair few are ties, or wins of the weaker arm: no limit of many votes, but
    each of them adds to the deviance."""
    rng = np.random.default_rng(9)
    logs = [drawn(rng, model, rng.normal(0, spread, num), each) for _ in range(60)]
    found = [jd.votes.fit(votes, model).misfit for votes in logs]
    errors = np.array([misfit.deviance - misfit.expected for misfit in found])
    assert abs(errors.mean()) < 4 * errors.std() / np.sqrt(len(errors))
    assert np.mean([misfit.p_value < 0.01 for misfit in found]) < 0.01 + 4 * np.sqrt(0.01 / 60)


def test_rare_outcomes_join_those_of_few_votes(monkeypatch):
    """Cumulants of 999 votes, summed over all outcomes, differ from those of Poisson outcomes
    by some p: a third moment has (1 - p) (1 - 2 p)."""
    n, p = np.full(3, 999), np.array([0.0005, 0.002, 0.004])
    chances, statistics = np.stack([1 - p, p], axis=1), np.array([[1.0], [0]])
    exact = deviance._cumulants(n, chances, statistics)
    monkeypatch.setattr(deviance, "_MOST_OUTCOMES", 0)
    for one, other in zip(exact, deviance._cumulants(n, chances, statistics), strict=True):
        np.testing.assert_allclose(other, one, rtol=5 * p.max(), atol=5 * p.max())


def test_davidson_without_ties_is_tested_as_btl():
    votes = drawn(np.random.default_rng(1))
    first, second = (jd.votes.fit(votes, model).misfit for model in ("btl", "davidson"))
    assert (first.deviance, first.degrees_of_freedom) == (
        second.deviance,
        second.degrees_of_freedom,
    )


def test_cycles_are_those_of_all_triples():
    rng = np.random.default_rng(2)
    wins = rng.integers(0, 5, (8, 8)) * (rng.random((8, 8)) < 0.7)
    np.fill_diagonal(wins, 0)
    misfit = jd.votes.fit(jd.votes.from_counts(wins), "free").misfit
    q = stats.beta.sf(0.5, wins + 0.5, wins.T + 0.5)
    triples, cycles = 0, {}
    for i, j, k in combinations(range(8), 3):
        chance = q[i, j] * q[j, k] * q[k, i] + q[j, i] * q[k, j] * q[i, k]
        if all(wins[a, b] + wins[b, a] > 0 for a, b in ((i, j), (j, k), (i, k))):
            triples += 1
        for order in ((i, j, k), (i, k, j)):
            following = zip(order, (*order[1:], order[0]), strict=True)
            if all(wins[a, b] > wins[b, a] for a, b in following):
                cycles[order] = chance
    assert len(cycles) > 2
    assert {cycle.arms: cycle.probability for cycle in misfit.cycles} == pytest.approx(cycles)
    assert misfit.num_triples == triples
    assert misfit.num_cycles == len(cycles)
    assert misfit._likeliest_cycles(2) == misfit.cycles[:2]
    chances = [cycle.probability for cycle in misfit.cycles]
    assert chances == sorted(chances, reverse=True)


def test_expected_cycles_are_those_of_the_model():
    votes = drawn(np.random.default_rng(5), "btl", np.linspace(0.3, -0.3, 8), 9)
    strengths = jd.votes.fit(votes, prior_std=1e6).strengths
    p = special.expit(strengths[:, None] - strengths)
    won = np.triu(np.random.default_rng(6).binomial(9, p, (4_000, 8, 8)), 1)
    beats = (won > 4) | (np.triu(won < 5, 1)).swapaxes(1, 2)
    cycles = np.einsum("sij,sjk,ski->s", beats, beats, beats, dtype=int) / 3
    error = cycles.std() / np.sqrt(len(cycles))
    assert abs(cycles.mean() - jd.votes.fit(votes).misfit.expected_cycles) < 4 * error
