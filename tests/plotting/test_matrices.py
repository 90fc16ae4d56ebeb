"""Heat maps of probabilities: names, numbers and colours in their places."""

import itertools

import numpy as np
import pytest

from jaxduel.plotting import PAGE_WIDTH
from jaxduel.plotting.matrices import MatrixPanel, matrix_figure


def drawn(names, spread=0.4):
    strengths = np.linspace(spread, -spread, len(names))
    values = 0.5 + (strengths[:, None] - strengths) / 2
    np.fill_diagonal(values, np.nan)
    return values, matrix_figure(MatrixPanel(names=names, values=values, label="P"))


def labels(axes):
    rows, columns = axes.get_yticklabels(), axes.get_xticklabels()
    return [[text.get_text() for text in some] for some in (rows, columns)]


def test_few_names_stand_before_rows_and_above_columns():
    values, figure = drawn(["ada", "bea", "cyd"])
    axes, bar = figure.axes
    assert labels(axes) == [["ada", "bea", "cyd"]] * 2
    bottom, top = axes.get_ylim()
    assert bottom > top  # the first row is above
    (image,) = axes.images
    np.testing.assert_array_equal(image.get_array().filled(np.nan), values)
    texts = {tuple(map(round, text.get_position())): text.get_text() for text in axes.texts}
    assert texts[1, 0] == "0.70"  # column, row: bea against ada
    assert texts[0, 1] == "0.30"
    assert len(texts) == 6
    assert bar.get_ylabel() == "P"


def test_a_half_is_white_and_ends_are_of_different_lightness():
    _, figure = drawn(["ada", "bea", "cyd"])
    (image,) = figure.axes[0].images
    low, high = image.get_clim()
    assert (low + high, high) == (1, pytest.approx(0.9))
    np.testing.assert_allclose(image.to_rgba(np.array([0.5]))[0], [0.97, 0.97, 0.97, 1], atol=0.01)
    red, blue = image.to_rgba(np.array([low, high]))[:, [0, 2]]
    assert red[0] > red[1]
    assert blue[1] > blue[0]


def test_even_matches_are_not_in_full_colours():
    _, figure = drawn(["ada", "bea"], spread=0.001)
    assert figure.axes[0].images[0].get_clim() == (0.45, 0.55)


@pytest.mark.parametrize(
    ("count", "rows", "columns"), [(31, 31, 15), (129, 43, 13), (1000, 59, 21)]
)
def test_many_names_are_numbered(count, rows, columns):
    names = [f"some model {number}" for number in range(count)]
    _, figure = drawn(names)
    axes = figure.axes[0]
    before, above = labels(axes)
    assert figure.get_figwidth() <= PAGE_WIDTH
    assert not axes.texts
    assert before[0] == "1 some model 0"
    for text in before:
        number = int(text.split()[0])
        assert text == f"{number} {names[number - 1]}"
    assert [int(place) + 1 for place in axes.get_xticks()] == list(map(int, above))
    assert (len(before), len(above)) == (rows, columns)
    boxes = [text.get_window_extent() for text in axes.get_yticklabels()]
    for one, other in itertools.pairwise(boxes):
        assert one.y0 >= other.y1 - 0.35 * one.height  # letters are lower than their boxes
    assert min(box.x0 for box in boxes) >= 0


@pytest.mark.parametrize("name", [30 * "W", 30 * "i"])
def test_names_of_any_width_are_within_the_figure(name):
    _, figure = drawn([name, "ada", "bea"])
    axes = figure.axes[0]
    assert axes.get_yticklabels()[0].get_window_extent().x0 >= 0
    assert axes.get_window_extent().width > 1.5 * figure.dpi
    assert figure.axes[1].get_tightbbox().x1 <= figure.bbox.width
