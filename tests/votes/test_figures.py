"""The figure of several results of `identify`."""

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.plotting import PAGE_WIDTH, identification_figure, png
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


def test_no_results_are_refused():
    with pytest.raises(jd.InputError, match="at least one panel"):
        identification_figure([])
