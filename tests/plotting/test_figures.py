"""Figures: the same bytes each time, legends, sizes, what is refused."""

from dataclasses import replace

import matplotlib as mpl
import pytest

import jaxduel as jd
from jaxduel import plotting
from jaxduel.plotting import BarsPanel, LinePanel, draw, regret_panel
from tests.plotting.cases import CELLS, LINES, heats, swept


def test_files_are_the_same_bytes_each_time():
    files = [
        (plotting.png(figure, dpi=60), plotting.pdf(figure))
        for figure in (draw([regret_panel(LINES)]), draw([regret_panel(LINES)]))
    ]
    assert files[0] == files[1]
    assert b"CreationDate" not in files[0][1]


@pytest.mark.thorough
def test_layout_is_not_of_the_users_file_format():
    panels = [regret_panel(LINES, title="(a)", time_scale="log")] * 3
    plain = plotting.pdf(draw(panels))
    with mpl.rc_context({"savefig.format": "svg"}):
        assert plotting.pdf(draw(panels)) == plain


def test_drawing_leaves_no_global_state():
    before = dict(mpl.rcParams)
    draw([regret_panel(LINES)])
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_legend_covers_no_axes_and_text_is_readable(number):
    figure = draw([regret_panel(LINES, title=f"({i})") for i in range(number)])
    width = plotting.COLUMN_WIDTH if number == 1 else plotting.PAGE_WIDTH
    assert figure.get_figwidth() == width
    assert len(figure.axes) == number
    (legend,) = figure.legends
    box = legend.get_window_extent()
    for axes in figure.axes:
        assert not box.overlaps(axes.get_window_extent())
        assert all(label.get_fontsize() >= 7 for label in axes.get_xticklabels())
        assert axes.yaxis.label.get_fontsize() >= 7
    assert all(text.get_fontsize() >= 7 for text in legend.get_texts())
    assert [text.get_text() for text in legend.get_texts()] == ["RUCB", "BTM"]


@pytest.mark.parametrize("panels", [1, 2])
@pytest.mark.parametrize(
    "labels",
    [
        ("SCOMP2, B = 2", "SCOMP2, B = 8", "SCOMP2, B = 16", "RMED1"),
        *[[f"BaSE, B = {b}, grid = geometric{more}" for b in (2, 4, 8)] + ["UCB1"]
          for more in ("", ", gamma = 0.5, delay = 100", 5 * ", gamma = 0.5, delay = 100")],
    ],
)  # fmt: skip
def test_legend_of_long_labels_stays_within_the_figure(labels, panels):
    panel = regret_panel([replace(LINES[0], label=label) for label in labels])
    figure = draw([panel] * panels)
    (legend,) = figure.legends
    box, page = legend.get_window_extent(), figure.get_window_extent()
    assert page.x0 <= box.x0 < box.x1 <= page.x1
    assert [text.get_text().replace("\n", " ") for text in legend.get_texts()] == [*labels]
    assert figure.axes[0].get_window_extent().height > 1.4 * figure.dpi


def test_lines_of_a_legend_are_equally_full():
    panel = regret_panel([replace(LINES[0], label=f"policy {number}") for number in range(7)])
    figure = draw([panel, panel])
    figure.draw_without_rendering()
    heights = [round(text.get_window_extent().y0) for text in figure.legends[0].get_texts()]
    assert sorted(map(heights.count, set(heights))) == [3, 4]


def test_a_tall_legend_leaves_the_axes_their_height():
    curves = [replace(LINES[0], label=f"P{i}") for i in range(11)]
    few, many = (draw([regret_panel(chosen)]) for chosen in (curves[:3], curves))
    assert many.get_figheight() > few.get_figheight()
    heights = [figure.axes[0].get_window_extent().height for figure in (few, many)]
    assert heights[1] > 0.85 * heights[0]


def test_a_figure_without_curves_is_refused():
    with pytest.raises(jd.InputError, match="at least one panel"):
        draw([])
    with pytest.raises(jd.InputError, match="at least one line"):
        draw([regret_panel([])])
    with pytest.raises(jd.InputError, match="at least one bar"):
        draw([BarsPanel(["a"], [])])


def test_sweeps_and_maps_are_the_same_bytes_each_time():
    def files():
        for figure in (
            draw([LinePanel(lines=[swept("base", "BaSE")])]),
            draw([heats("ratio", CELLS), heats("choice", CELLS, choices=["a"] * 6)]),
        ):
            yield plotting.png(figure, dpi=60), plotting.pdf(figure)

    assert list(files()) == list(files())


def test_figures_of_nothing_are_refused():
    with pytest.raises(jd.InputError, match="at least one line"):
        draw([LinePanel(lines=[])])
    with pytest.raises(jd.InputError, match="at least one panel"):
        draw([])
    for panels in ([heats("amount")], [heats("amount", CELLS), heats("amount", CELLS, CELLS)]):
        with pytest.raises(jd.InputError, match="same number of maps"):
            draw(panels)
