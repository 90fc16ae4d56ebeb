"""Dots with intervals: every name, in order, whatever it is."""

import numpy as np
import pytest

from jaxduel.display import told_apart
from jaxduel.plotting import COLUMN_WIDTH, PAGE_WIDTH, png
from jaxduel.plotting.intervals import IntervalsPanel, intervals_figure
from jaxduel.plotting.words import boxed


def panel(names, **more):
    values = np.arange(len(names))[::-1] * 10.0
    ends = {"lower95": values - 5, "upper95": values + 7} | more
    return IntervalsPanel(names=names, values=values, label="rating", **ends)


def bars(axes):
    return [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]


def names_in(axes):
    return [text.get_text() for text in axes.get_yticklabels()]


def test_names_stand_below_each_other_with_their_numbers():
    figure = intervals_figure([panel(["ada", "bea", "cyd"], reference=12.0)])
    (axes,) = figure.axes
    assert figure.get_figwidth() == COLUMN_WIDTH
    assert names_in(axes) == ["ada", "bea", "cyd"]
    low, high = axes.get_ylim()
    assert low > high  # the first name is above
    assert bars(axes) == [[15, 27], [5, 17], [-5, 7]]
    dotted, dots = axes.lines
    assert dots.get_xdata().tolist() == [20, 10, 0]
    assert set(dotted.get_xdata()) == {12}
    assert axes.get_xlim() == pytest.approx((-5 - 0.04 * 32, 27 + 0.04 * 32))
    assert figure.get_supxlabel() == "rating"


def test_parts_share_the_scale_and_have_all_names():
    names = [f"arm {number}" for number in range(130)]
    whole = panel(names)
    parts = whole.parts(50)
    assert [len(part.names) for part in parts] == [44, 43, 43]
    assert [name for part in parts for name in part.names] == names
    np.testing.assert_array_equal(np.concatenate([part.upper95 for part in parts]), whole.upper95)
    figure = intervals_figure(parts)
    assert figure.get_figwidth() == PAGE_WIDTH
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert len({axes.get_ylim() for axes in figure.axes}) == 1  # rows are equally high


def test_without_intervals_there_are_dots_alone():
    unknown = np.full(2, np.nan)
    figure = intervals_figure([panel(["ada", "bea"], lower95=unknown, upper95=unknown)])
    assert png(figure)[1:4] == b"PNG"
    (dots,) = figure.axes[0].lines
    assert dots.get_xdata().tolist() == [10, 0]


def test_equal_numbers_have_an_axis():
    names = ["ada"]
    figure = intervals_figure([panel(names, lower95=np.zeros(1), upper95=np.zeros(1))])
    assert figure.axes[0].get_xlim() == (-1, 1)


@pytest.mark.parametrize("name", [30 * "W", 30 * "i", "x" * 30])
def test_names_of_any_width_are_within_the_figure(name):
    figure = intervals_figure([panel([name, "ada"])])
    (axes,) = figure.axes
    box = axes.get_yticklabels()[0].get_window_extent()
    assert box.x0 >= 0
    assert axes.get_window_extent().width > 0.9 * figure.dpi


def test_letters_without_a_glyph_are_boxes():
    names = told_apart([boxed(name) for name in ("東京-7b", "大阪-7b", "ada")], 30)
    assert names == ["□-7b #1", "□-7b #2", "ada"]
    assert png(intervals_figure([panel(names)]))[1:4] == b"PNG"  # and no warning
