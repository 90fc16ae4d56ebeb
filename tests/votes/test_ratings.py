"""Ratings against closed forms, the strengths they are of, and Elo's own rule for draws."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.errors import InputError
from jaxduel.problems.strengths import davidson
from tests.votes.cases import STRONG, drawn, relabelled

VOTES = jd.votes.from_counts([[0, 9, 8], [5, 0, 4], [1, 6, 0]], arms=["ada", "bob", "cyd"])
ELO = ["elo", "elo_low", "elo_high"]


def elo(fit, *arguments):
    """Ratings and ends of intervals (K, 3), in the order of the votes' arms."""
    return fit.elo(*arguments).set_index("arm").loc[list(fit.votes.arms), ELO].to_numpy()


def test_400_points_are_ten_wins_for_a_loss():
    """A wide prior leaves the odds of the votes."""
    votes = jd.votes.from_counts([[0, 1_000], [100, 0]], arms=["ada", "bob"])
    fit = jd.votes.fit(votes, prior_std=1e3)
    table = fit.elo("bob")
    assert table.columns.tolist() == ["arm", *ELO]
    assert table["arm"].tolist() == ["ada", "bob"]
    assert table["elo"].tolist() == pytest.approx([1_400, 1_000], abs=1e-3)
    # the information about log odds of n p (1 - p), and the exact skew, of a standard error / 6
    half = 1.96 * np.sqrt(1 / 1_000 + 1 / 100) * 400 / np.log(10)
    assert table.loc[0, "elo_high"] - table.loc[0, "elo_low"] == pytest.approx(2 * half, rel=0.03)
    assert fit.elo()["elo"].tolist() == pytest.approx([1_200, 800], abs=1e-3)


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("model", STRONG)
def test_ratings_are_strengths_and_differences_on_another_scale(model):
    fit = jd.votes.fit(drawn(np.random.default_rng(4), model, per_pair=9), model)
    scale = 400 / np.log(10)
    strengths = np.column_stack([fit.strengths, fit.strength_intervals])
    np.testing.assert_allclose(elo(fit), 1_000 + scale * strengths)
    numbers = elo(fit, 2, 1_500)
    assert numbers[2].tolist() == [1_500, 1_500, 1_500]
    for arm in (0, 1, 3, 4):
        np.testing.assert_allclose(
            numbers[arm], 1_500 + scale * np.array(fit.difference(arm, 2)[1:4]), atol=1e-6
        )


def test_intervals_relative_to_an_anchor_are_quantiles_of_the_draws():
    """Against sorted draws, resampled without weights."""
    fit = jd.votes.fit(VOTES)
    drawn_strengths, _ = fit.draws.resampled(np.random.default_rng(1), 200_000)
    gaps = (drawn_strengths - drawn_strengths[:, [1]]) * 400 / np.log(10)
    numbers = elo(fit, "bob")
    for arm in (0, 2):
        for end, level in ((numbers[arm, 1], 0.025), (numbers[arm, 2], 0.975)):
            assert np.mean(gaps[:, arm] + 1_000 < end) == pytest.approx(level, abs=2e-4)


def test_a_tie_moves_ratings_as_half_a_win_and_half_a_loss():
    """Slopes of log P(win), log P(loss) and log P(tie) by the difference."""
    d, step = np.linspace(-3, 3, 13), 1e-6
    log = [np.log(davidson(x, np.log(0.6))) for x in (d + step, d - step)]
    win, loss, tie = (log[0] - log[1]) / (2 * step)
    np.testing.assert_allclose(tie, (win + loss) / 2, atol=1e-8)


@pytest.mark.parametrize("anchor", [None, 3])
@pytest.mark.parametrize("model", STRONG)
def test_relabelled_arms_have_relabelled_ratings(model, anchor):
    votes, order = drawn(np.random.default_rng(3), model, per_pair=9), [3, 0, 4, 1, 2]
    name = None if anchor is None else votes.arms[anchor]
    one, other = (jd.votes.fit(each, model) for each in (votes, relabelled(votes, order)))
    np.testing.assert_allclose(elo(other, name), elo(one, anchor)[order], atol=1e-6)


def test_the_strongest_arm_is_first():
    table = jd.votes.fit(VOTES).elo()
    assert table["elo"].is_monotonic_decreasing
    assert table["elo"].mean() == pytest.approx(1_000)
    assert table["arm"].tolist() == jd.votes.fit(VOTES).table()["arm"].tolist()


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        ("free", (), "the free model has no strengths to compare: fit btl"),
        ("btl", ("adda",), "unknown arm 'adda' .did you mean 'ada'"),
        ("btl", (3,), "votes has arms 0 to 2, not 3"),
        ("btl", (None, np.inf), "rating must be a number from -1e6 to 1e6, not inf"),
        ("btl", ("ada", "1000"), "rating must be a number from -1e6 to 1e6, not '1000'"),
        ("btl", ("ada", -1e7), "rating must be a number from -1e6 to 1e6, not -10000000.0"),
    ],
)
def test_bad_arguments_get_a_sentence(model, arguments, message):
    with pytest.raises(InputError, match=message):
        jd.votes.fit(VOTES, model).elo(*arguments)
