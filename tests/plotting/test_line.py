"""Lines of regret, and lines to compare them with."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text

from jaxduel.plotting import (
    Line,
    Missing,
    Reference,
    draw,
    regret_panel,
    seeds_words,
    spread_words,
)
from tests.plotting.cases import LINES, line_of, made_up

ENDS = ("mean", "lower95", "upper95")


def test_axes_have_labels_scales_and_lines_to_compare_with():
    references = [Reference("bound", 12.0), Reference("theory", LINES[0].mean, LINES[0].at)]
    panel = regret_panel(LINES, references=references, time_scale="log", regret_scale="linear")
    (axes,) = draw([panel]).axes
    assert axes.get_xscale() == "log"
    assert axes.get_yscale() == "linear"
    assert axes.get_xlabel() == "comparisons $t$"
    assert "regret" in axes.get_ylabel()
    assert {"bound", "theory"} <= set(axes.get_legend_handles_labels()[1])
    (linear,) = draw([regret_panel(LINES)]).axes
    assert linear.get_xlabel() == "comparisons $t$"
    assert linear.get_xlim() == (0, 10_000)


def test_one_seed_has_a_curve_and_no_band():
    curve = line_of(made_up("rucb", 5.0, num_seeds=1))
    (axes,) = draw([regret_panel([curve])]).axes
    assert len(axes.lines) == 1
    assert not axes.collections


def test_separate_runs_are_points_with_error_bars_inside_the_axes():
    points = replace(LINES[1], separate=True)
    figure = draw([regret_panel([points, LINES[0]], time_scale="log")])
    (axes,) = figure.axes
    (container,) = axes.containers
    line, _, (bars,) = container.lines
    assert line.get_linestyle() == "None"
    np.testing.assert_array_equal(line.get_ydata(), points.mean)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends[:, 1], points.upper95)
    assert axes.get_xlim()[0] < points.at[0]
    assert axes.get_xlim()[1] > points.at[-1]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["BTM", "RUCB"]


def test_lines_to_compare_with_look_different():
    times = LINES[0].at
    references = [Reference(name, LINES[0].mean, times) for name in ("LB", "ECWB")]
    (axes,) = draw([regret_panel(LINES, references=references)]).axes
    one, other = (line for line in axes.lines if line.get_label() in ("LB", "ECWB"))
    assert one.get_color() != other.get_color()
    assert one.get_zorder() > other.get_zorder()


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_a_single_time_is_a_marker_with_its_interval_inside_the_axes(scale):
    end = LINES[0].at[-1:]
    last = {name: getattr(LINES[0], name)[-1:] for name in ENDS}
    curve = replace(LINES[0], at=end, **last)
    (axes,) = draw([regret_panel([curve], time_scale=scale)]).axes
    (line,) = axes.lines
    assert line.get_markevery() is None
    (bar,) = axes.collections
    ends = [(end[0], curve.lower95[0]), (end[0], curve.upper95[0])]
    np.testing.assert_allclose(bar.get_segments(), [ends])
    assert axes.get_xlim()[0] < end < axes.get_xlim()[1]
    if scale == "log":
        assert [text.get_text() for text in axes.get_xticklabels()] == ["$10^{4}$"]


@pytest.mark.parametrize(("regrets", "scale"), [((0.0, 0.0, 1.0), "log"), ((0.0,) * 3, "linear")])
def test_runs_may_be_without_regret(regrets, scale):
    result = made_up("rucb", 5.0, num_seeds=3)
    result = replace(
        result,
        horizon=1,
        checkpoints=np.array([1]),
        regret=np.array(regrets)[:, None],
        plays=result.plays[:, :1],
    )
    (axes,) = draw([regret_panel([line_of(result)], time_scale="log")]).axes
    assert axes.get_yscale() == scale
    low, high = axes.get_ylim()
    assert low <= np.mean(regrets) < high
    assert axes.get_position().height > 0.3


def test_curves_may_leave_the_picture():
    panel = regret_panel(LINES, time_scale="log", regret_scale="linear", top=30.0)
    (axes,) = draw([panel]).axes
    assert axes.get_ylim() == (0, 30)
    assert max(line.get_ydata().max() for line in axes.lines) > 30


def test_a_definition_with_a_factor_has_its_own_label():
    (axes,) = draw([regret_panel(LINES, regret="2 copeland")]).axes
    assert "cpld" in axes.get_ylabel()


def test_few_seeds_are_thin_lines_in_place_of_a_band():
    result = made_up("rucb", 5.0, num_seeds=4)
    figure = draw([regret_panel([line_of(result)])])
    (axes,) = figure.axes
    mean, *runs = axes.lines
    np.testing.assert_array_equal([line.get_ydata() for line in runs], result.regret)
    assert max(line.get_linewidth() for line in runs) < mean.get_linewidth()
    assert not axes.collections
    assert figure.legends[0].get_title().get_text().endswith("4 seeds, thin lines: single seeds")
    points = replace(line_of(result), separate=True)
    figure = draw([regret_panel([points], time_scale="log")])
    (axes,) = figure.axes
    assert figure.legends[0].get_title().get_text().endswith("4 seeds, dots: single seeds")
    assert [line.get_marker() for line in axes.lines].count(".") == 4


def test_captions_say_how_the_spread_over_seeds_is_drawn():
    few, many = line_of(made_up("rucb", 5.0, num_seeds=3)), LINES[0]
    cases = {
        "bands: 95 % of the mean": [many],
        "bars: 95 % of the mean": [replace(many, separate=True)],
        "bands: 95 % of the mean, thin lines: single seeds": [few, many],
        "bars: 95 % of the mean, dots: single seeds": [
            replace(few, separate=True), replace(many, separate=True),
        ],
    }  # fmt: skip
    for words, curves in cases.items():
        about = regret_panel(curves).about
        assert about == f"average regret, {seeds_words({c.num_seeds for c in curves}, words)}"
    # few seeds that are not known one by one have a band
    assert spread_words([replace(few, seeds=None)]) == "bands: 95 % of the mean"
    one_time = {name: getattr(many, name)[:1] for name in ("at", *ENDS)}
    assert spread_words([replace(many, **one_time)]) == "bars: 95 % of the mean"
    assert few.seeds is not None
    assert spread_words([replace(few, seeds=few.seeds[:, :1])]) == "dots: single seeds"
    alone = replace(many, **dict.fromkeys(("lower95", "upper95"), np.full(5, np.nan)))
    assert spread_words([alone]) == ""


@pytest.mark.parametrize("regret", [[0, 0, 0], [-1, -2, -3], [np.nan] * 3])
@pytest.mark.parametrize("time_scale", ["linear", "log"])
def test_curves_without_positive_regret_are_in_the_picture(regret, time_scale, recwarn):
    values = dict.fromkeys(ENDS, np.array(regret, float))
    times = np.array([1, 10, 100])
    curve = Line(name="dts", label="D-TS", at=times, num_seeds=20, **values)
    (axes,) = draw([regret_panel([curve], time_scale=time_scale)]).axes
    low, high = axes.get_ylim()
    assert low <= np.nan_to_num(regret).min() < high
    assert not recwarn.list


def test_long_titles_stay_within_the_page():
    title = "some_matrix_of_preferences_of_people_2024-12_version_3.csv, $K=3$"
    panels = [regret_panel(LINES, title=title), Missing(title, "not here")] * 2
    figure = draw(panels)
    figure.draw_without_rendering()
    boxes = [axes.title.get_window_extent() for axes in figure.axes]
    assert boxes[0].x1 < boxes[1].x0
    assert figure.get_window_extent().x0 <= boxes[0].x0
    assert boxes[1].x1 <= figure.get_window_extent().x1


def test_ends_that_coincide_are_labelled_in_their_order():
    first = LINES[0]
    curves = [replace(first, label=f"P{i}", mean=(1 + 0.002 * i) * first.mean) for i in (2, 0, 1)]
    (axes,) = draw([regret_panel([*curves, LINES[1]])]).axes
    texts = sorted(axes.texts, key=lambda text: text.xyann[1])
    assert [text.get_text() for text in texts] == ["P0", "P1", "P2"]
    boxes = [Text.get_window_extent(text) for text in texts]  # without the lines to the ends
    assert all(low.y1 <= high.y0 + 1 for low, high in itertools.pairwise(boxes))
    assert axes.get_figure().get_window_extent().x1 >= max(box.x1 for box in boxes)
    for panel in (regret_panel(LINES), regret_panel(LINES, top=10.0)):
        (apart,) = draw([panel]).axes
        assert not apart.texts


def test_axes_begin_where_the_curves_do():
    early = replace(LINES[0], mean=np.array([0.0, 0.0, 1.0, 20.0, 40.0]))
    (axes,) = draw([regret_panel([early], time_scale="log")]).axes
    assert axes.get_xlim() == (100, 10_000)


def test_a_missing_panel_is_an_empty_frame_that_says_why():
    figure = draw([regret_panel(LINES, "(a)"), Missing("(b)", "the data are not here")])
    _, empty = figure.axes
    assert empty.get_title() == "(b)"
    assert [text.get_text() for text in empty.texts] == ["the data are not here"]
    assert not empty.lines


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ([12_000, 16_000, 20_000], [rf"${m}\!\cdot\!10^{{4}}$" for m in (1.2, 1.4, 1.6, 1.8, 2)]),
        ([5_000, 9_000, 20_000], ["5000", "$10^{4}$", r"$2\!\cdot\!10^{4}$"]),
        ([20_000], [r"$2\!\cdot\!10^{4}$"]),
    ],
)
def test_axes_of_less_than_a_decade_have_numbers(times, words):
    columns = dict.fromkeys(ENDS, np.linspace(200.0, 300.0, len(times)))
    curve = replace(LINES[0], at=np.array(times), **columns)
    (axes,) = draw([regret_panel([curve], time_scale="log")]).axes
    shown = [
        [
            text.get_text()
            for text in axis.get_ticklabels()
            if low <= text.get_position()[at] <= high
        ]
        for at, (axis, (low, high)) in enumerate(
            [(axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())]
        )
    ]
    assert shown[0] == words
    assert len(shown[1]) > 1
