"""Pairs of arms against differences, mean preferences, the draws, and exact posteriors."""

import numpy as np
import pytest
from scipy.special import expit, ndtr

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.problems.strengths import davidson
from tests.votes.cases import STRONG, drawn, relabelled

VOTES = jd.votes.from_counts([[0, 9, 8], [5, 0, 4], [1, 6, 0]], arms=["ada", "bob", "cyd"])


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("model", STRONG)
def test_pairs_have_the_differences_and_mean_preferences(model):
    fit = jd.votes.fit(drawn(np.random.default_rng(4), model, per_pair=9), model)
    table = fit.between(3, "0", 2)
    assert table[["first", "second"]].to_numpy().tolist() == [["3", "0"], ["3", "2"], ["0", "2"]]
    for _, first, second, *numbers in table.itertuples():
        assert numbers[:4] == pytest.approx(fit.difference(first, second)[1:], abs=1e-12)
        assert numbers[4] == fit.problem.preferences[int(first), int(second)]
        assert numbers[5] < numbers[4] < numbers[6]


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize(("model", "law"), [("btl", expit), ("thurstone", ndtr)])
def test_intervals_of_preferences_are_those_of_differences(model, law):
    """Preferences grow with differences."""
    table = jd.votes.fit(VOTES, model).between()
    for end in ("low", "high"):
        np.testing.assert_allclose(table[f"preference_{end}"], law(table[f"gap_{end}"]), atol=1e-3)


def test_half_of_davidson_s_ties_counts():
    """Quantiles of wins and half of ties, of draws resampled without weights."""
    fit = jd.votes.fit(drawn(np.random.default_rng(4), "davidson", per_pair=9), "davidson")
    strengths, log_nu = fit.draws.resampled(np.random.default_rng(1), 200_000)
    win, _, tie = davidson(strengths[:, 1] - strengths[:, 4], log_nu)
    row = fit.between(1, 4).iloc[0]
    for end, level in (("low", 0.025), ("high", 0.975)):
        below = np.mean(win + tie / 2 < row[f"preference_{end}"])
        assert below == pytest.approx(level, abs=2e-4)


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("model", STRONG)
def test_the_matrix_of_who_is_stronger(model):
    fit = jd.votes.fit(VOTES, model)
    assert fit.stronger.shape == (3, 3)
    assert np.diagonal(fit.stronger).tolist() == [0.5, 0.5, 0.5]
    for i, j in ((0, 1), (2, 1), (0, 2)):
        assert fit.stronger[i, j] == pytest.approx(fit.difference(i, j).above)
        assert fit.stronger[j, i] == 1 - fit.stronger[i, j] or i > j


def test_two_level_arms():
    votes = jd.votes.from_counts([[0, 6], [6, 0]])
    row = jd.votes.fit(votes).between().iloc[0]
    error = 4 / np.sqrt(jd.votes.fit(votes).effective_draws)
    assert (row["gap"], row["preference"]) == (0, 0.5)
    assert row["gap_above"] == pytest.approx(0.5, abs=error / 2)
    assert row["preference_low"] + row["preference_high"] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("model", STRONG)
def test_relabelled_arms_have_relabelled_pairs(model):
    votes, order = drawn(np.random.default_rng(3), model, per_pair=9), [3, 0, 4, 1, 2]
    one, other = (jd.votes.fit(each, model) for each in (votes, relabelled(votes, order)))
    np.testing.assert_allclose(other.stronger, one.stronger[np.ix_(order, order)], atol=1e-6)
    names = "4", "1", "2"
    expected, found = one.between(*names), other.between(*names)
    assert found["second"].tolist() == expected["second"].tolist()
    np.testing.assert_allclose(found.iloc[:, 2:], expected.iloc[:, 2:], atol=1e-6)


@pytest.mark.parametrize(
    ("model", "arms", "message"),
    [
        ("free", (0, 1), "the free model has no strengths to compare: fit btl"),
        ("btl", (0,), "two arms or more can be compared, not 1"),
        ("btl", (0, 1, "ada"), "the arm 'ada' is compared with itself"),
        ("btl", ("adda", 1), "unknown arm 'adda' .did you mean 'ada'"),
        ("btl", (0, 3), "votes has arms 0 to 2, not 3"),
    ],
)
def test_bad_arms_get_a_sentence(model, arms, message):
    fit = jd.votes.fit(VOTES, model)
    with pytest.raises(InputError, match=message):
        fit.between(*arms)
    assert (fit.stronger is None) == (model == "free")
