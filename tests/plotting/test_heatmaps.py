"""Maps of amounts, ratios and choices."""

import itertools
from dataclasses import replace

import numpy as np
from matplotlib.colors import to_rgb

from jaxduel import plotting
from jaxduel.plotting import HeatMap, draw
from jaxduel.plotting.facets import facet_map_figure
from jaxduel.plotting.styles import ink
from tests.plotting.cases import CELLS, heats


def test_maps_of_a_row_share_a_scale_of_colours():
    figure = draw([heats("amount", CELLS, np.multiply(CELLS, 2))])
    first, second, bar = figure.axes
    for axes in (first, second):
        (image,) = axes.images
        assert image.get_clim() == (1, 10)
        assert image.origin == "lower"
    assert [label.get_text() for label in first.get_yticklabels()] == ["10", "100"]
    assert [label.get_text() for label in second.get_yticklabels()] == ["", ""]
    assert [label.get_text() for label in second.get_xticklabels()] == ["2", "3", "4"]
    assert bar.get_ylabel() == "what"
    assert "(a) maps" in {text.get_text() for text in figure.texts}


def test_ratios_are_white_where_they_are_one():
    figure = draw([heats("ratio", CELLS, np.negative(CELLS) / 10)])
    (image,) = figure.axes[0].images
    assert image.get_clim() == (-5, 5)
    np.testing.assert_allclose(image.to_rgba(np.zeros(1))[0], [0.97, 0.97, 0.97, 1], atol=0.01)


def test_choices_have_colours_and_are_paler_where_they_are_not_sure():
    sure = np.array([[True, False, True], [True, True, True]])
    best = [[0, 0, 1], [2, 1, np.nan]]
    figure = draw([heats("choice", best, sure=sure, choices=("a", "b", "c"))])
    (axes,) = figure.axes
    cells = axes.images[0].get_array()
    colors = [to_rgb(color) for color in ("#00507A", "#E69F00", "#7FBF9B")]
    np.testing.assert_allclose(cells[0, 0], [*colors[0], 1])
    np.testing.assert_allclose(cells[0, 2], [*colors[1], 1])
    np.testing.assert_allclose(cells[1, 0], [*colors[2], 1])
    assert (cells[0, 1, :3] > cells[0, 0, :3]).all()
    assert cells[1, 2, 3] == 0
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b", "c"]


def test_every_choice_has_a_colour_of_its_own():
    for count in range(1, 8):
        choices = [f"choice {number}" for number in range(count)]
        cells = np.resize(np.arange(count), (2, count))
        panel = replace(heats("choice", cells, choices=choices), columns=choices)
        (axes,) = draw([panel]).axes
        legend = [tuple(patch.get_facecolor()) for patch in axes.get_legend().get_patches()]
        assert len(set(legend)) == count
        np.testing.assert_array_equal(axes.images[0].get_array()[0], legend)


def test_small_amounts_have_two_digits():
    figure = draw([heats("amount", [[0.04, 0.123, 1.26], [99.6, -0.0, 1234]])])
    words = [text.get_text() for text in figure.axes[0].texts]
    assert words == ["0.04", "0.12", "1.3", "100", "0", "1234"]
    figure = draw([heats("amount", [[4.0, 0.996, 9.96], [0.1, 12.3, -0.04]])])
    words = [text.get_text() for text in figure.axes[0].texts]
    assert words == ["4.0", "1.0", "10", "0.1", "12", "-0.04"]


def test_letters_are_read_on_every_colour():
    cells = np.linspace(0, 1, 6).reshape(2, 3)
    figure = draw([heats("amount", cells)])
    axes = figure.axes[0]
    colors = axes.images[0].to_rgba(cells).reshape(6, 4)
    assert [text.get_color() for text in axes.texts] == [ink(color) for color in colors]
    assert [ink(grey) for grey in ("0.49", "0.51", "black", "white")] == [
        "white", "black", "white", "black",
    ]  # fmt: skip


def test_what_has_no_room_is_left_out():
    tall = np.ones((30, 3))
    rows = [str(number) for number in range(30)]
    figure = draw([replace(heats("amount", tall), rows=rows)])
    axes = figure.axes[0]
    assert not axes.texts
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert all(a.y1 < b.y0 for a, b in itertools.pairwise(boxes))


def test_long_labels_of_rows_stay_within_the_page():
    panel = replace(heats("amount", CELLS), rows=["SCOMP2, B = 8", "a policy of a longer name"])
    figure = draw([panel])
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert min(label.get_window_extent().x0 for label in axes.get_yticklabels()) > 0
    assert axes.yaxis.label.get_window_extent().x0 >= 0


def test_the_legend_of_choices_stays_within_the_page():
    choices = ["a very long name of a choice", "averyveryverylongname"]
    figure = draw([heats("choice", np.zeros((2, 3)), choices=choices)])
    box = figure.axes[0].get_legend().get_window_extent()
    assert box.x1 <= figure.get_window_extent().x1


def test_infinite_numbers_are_left_out():
    values = [[np.inf, -np.inf, np.nan], [1, 2, 3]]
    for kind in ("amount", "ratio"):
        axes = draw([heats(kind, values)]).axes[0]
        assert len(axes.texts) == 3
    same = facet_map_figure([[HeatMap("", np.array(values))]], across="", up="", columns=[1, 2, 3],
                            rows=[1, 2])  # fmt: skip
    assert [text.get_text() for text in same.axes[0].texts] == ["1", "2", "3"]


def test_rows_of_maps_have_their_columns_below_each_other():
    panels = [
        heats("amount", CELLS, CELLS), heats("choice", np.zeros((2, 3)), CELLS, choices=["a"]),
    ]  # fmt: skip
    figure = draw(panels)
    assert figure.get_figwidth() == plotting.PAGE_WIDTH
    boxes = [axes.get_position() for axes in figure.axes if axes.images]
    assert boxes[0].x0 == boxes[2].x0
    assert boxes[1].x1 == boxes[3].x1
    assert boxes[0].y0 > boxes[2].y1
    assert [axes.get_xlabel() for axes in figure.axes if axes.images] == ["M"] * 4


def test_maps_without_numbers_can_be_drawn():
    nothing = np.full((2, 3), np.nan)
    panels = [heats(kind, nothing, choices=["a"]) for kind in ("amount", "ratio", "choice")]
    assert len(plotting.png(draw(panels), dpi=60)) > 1000
