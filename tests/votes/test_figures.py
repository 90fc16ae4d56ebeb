"""Figures of fits, and of several results of `identify`."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.plotting import PAGE_WIDTH, identification_figure, png
from jaxduel.votes.figures import drawn_names
from tests.plotting.test_votes import texts

pytestmark = pytest.mark.usefixtures("quick_compilation")


def test_results_have_axes_for_each_problem():
    names, asked = ("cyclic", "strong-borda"), {"votes": 50, "num_seeds": 8, "recommend": ["btl"]}
    founds = [
        jd.identify(
            jd.policies.make("round-robin", num_arms=problem.num_arms), problem, seed=seed, **asked
        )
        for problem in map(jd.problems.load, names)
        for seed in (0, 1)
    ]
    figure = identification_figure(founds)
    assert [axes.get_title() for axes in figure.axes] == list(names)
    assert texts(figure) == ["round robin", "round robin (2)"]
    assert figure.get_figwidth() == PAGE_WIDTH
    assert len({line.get_color() for line in figure.axes[0].lines}) == 2
    np.testing.assert_array_equal(
        figure.axes[1].lines[0].get_ydata(), founds[2].probability("btl")[0]
    )
    assert png(figure) == png(identification_figure(founds))
    assert founds[0].plot().axes[0].get_title() == "cyclic"


def named(axes):
    return [text.get_text() for text in axes.get_yticklabels()]


COUNTS = [[0, 60, 80, 70], [40, 0, 55, 0], [20, 45, 0, 52], [30, 0, 48, 0]]


def test_ratings_are_drawn_as_elo_gives_them():
    votes = jd.votes.from_counts(COUNTS, arms=["ada", "b$a$", "cyd", "dan"])
    fit = jd.votes.fit(votes)
    for asked, label in (((), "mean of all: 1000"), (("cyd", 1500), "cyd: 1500")):
        (axes,) = fit.plot(*asked).axes
        table = fit.elo(*asked)
        assert named(axes) == [arm.replace("$", r"\$") for arm in table["arm"]]
        reference, dots = axes.lines
        np.testing.assert_array_equal(dots.get_xdata(), table["elo"])
        bars = np.array([bar[:, 0] for bar in axes.collections[0].get_segments()])
        np.testing.assert_array_equal(bars, table[["elo_low", "elo_high"]])
        assert set(reference.get_xdata()) == {asked[1] if asked else 1000}
        assert label in axes.figure.get_supxlabel()
    assert named(fit.plot(2).axes[0]) == named(fit.plot("cyd").axes[0])
    with pytest.raises(jd.InputError, match="unknown arm 'eve'"):
        fit.plot("eve")


def test_scores_of_the_free_model_are_drawn():
    fit = jd.votes.fit(jd.votes.from_counts(COUNTS), "free")
    (axes,) = fit.plot().axes
    assert named(axes) == fit.table()["arm"].tolist()
    np.testing.assert_array_equal(axes.lines[1].get_xdata(), fit.table()["borda"])
    assert axes.figure.get_supxlabel().startswith("Borda score")
    with pytest.raises(jd.InputError, match="has no strengths"):
        fit.plot(0)


def test_many_arms_are_in_two_columns():
    wins = 5 * np.triu(np.ones((70, 70), int), 1) + np.tril(np.ones((70, 70), int), -1)
    fit = jd.votes.fit(jd.votes.from_counts(wins))
    first, second = fit.plot().axes
    assert named(first) + named(second) == fit.elo()["arm"].tolist()
    assert len(named(first)) == 35


@pytest.mark.parametrize("model", ["btl", "free"])
def test_the_matrix_is_drawn_best_first(model):
    fit = jd.votes.fit(jd.votes.from_counts(COUNTS), model)
    axes, _ = fit.plot_matrix().axes
    order = [int(arm) for arm in fit.table()["arm"]]
    assert named(axes) == fit.table()["arm"].tolist()
    drawn = axes.images[0].get_array().filled(np.nan)
    expected = fit.problem.preferences[np.ix_(order, order)].copy()
    np.fill_diagonal(expected, np.nan)
    if model == "free":  # 1 and 3 never met
        one, other = order.index(1), order.index(3)
        expected[[one, other], [other, one]] = np.nan
    np.testing.assert_array_equal(drawn, expected)


def test_names_in_figures_are_safe_and_differ():
    names = ["a\x1b[1m\u202e", "x" * 60 + "1", "x" * 60 + "2", "$x^2$", "東京", "大阪"]
    drawn = drawn_names(names)
    assert len(set(drawn)) == 6
    assert drawn[0] == r"a\x1b[1m\u202e"
    assert max(map(len, drawn)) <= 36
    assert drawn[3] == r"\$x^2\$"
    assert drawn[4:] == ["□ #5", "□ #6"]


def test_no_results_are_refused():
    with pytest.raises(jd.InputError, match="at least one panel"):
        identification_figure([])
