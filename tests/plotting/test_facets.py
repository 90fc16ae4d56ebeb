import numpy as np
import pytest
from matplotlib.colors import to_rgb

from jaxduel.errors import InputError
from jaxduel.plotting import (
    PAGE_WIDTH,
    HeatMap,
    Line,
    LinePanel,
    Missing,
    facets,
    ticks,
    words,
)
from jaxduel.plotting.facets import facet_figure
from jaxduel.plotting.styles import STYLES


def curve(policy, label=None, level=False):
    at = np.array([1.0, 100.0])
    mean = np.array([1.0, 50.0])
    return Line(name=policy, label=label or policy, at=at, mean=mean, lower95=mean - 2,
                      upper95=mean + 2, level=level)  # fmt: skip


def panel(title, curves, across="x", up="regret"):
    return LinePanel(lines=curves, title=title, across=across, up=up, across_scale="log")


def drawn(*lists):
    return facet_figure([panel(str(i), curves) for i, curves in enumerate(lists)])


def test_every_curve_has_a_look_of_its_own():
    variants = [curve("dts", f"dts[{i}]") for i in range(4)]
    unknown = [curve("mine"), curve("yours"), curve("theirs")]
    (axes,) = drawn([*variants, curve("rucb"), *unknown]).axes
    lines = {line.get_label(): line for line in axes.lines}
    colors = {label: to_rgb(line.get_color()) for label, line in lines.items()}
    assert len(set(colors.values())) == len(colors) == 8
    assert colors["rucb"] == to_rgb(STYLES["rucb"].color)
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in axes.lines}
    assert len(looks) == 8
    brightness = [sum(colors[f"dts[{i}]"]) for i in range(4)]
    assert brightness == sorted(brightness)


def test_facets_share_the_axis_of_regret_and_one_legend():
    figure = drawn(*[[curve("dts"), curve("rucb", level=True)]] * 7)
    assert len(figure.axes) == 7
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert figure.axes[0].get_yscale() == "log"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["dts", "rucb"]
    labelled = [i for i, axes in enumerate(figure.axes) if axes.get_ylabel()]
    assert labelled == [0, 3, 6]
    assert [facets.arrangement(count)[:2] for count in range(1, 8)] == [
        (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 3), (3, 3)]  # fmt: skip
    assert facets.arrangement(6)[2] == PAGE_WIDTH


def test_facets_name_their_axes_where_their_neighbours_have_others():
    ups = ["average", "copeland", "average", "average", "weak"]
    acrosses = ["pulls", "comparisons", "comparisons", "comparisons", "comparisons"]
    figure = facet_figure([
        panel(str(i), [curve("dts")], across, up)
        for i, (across, up) in enumerate(zip(acrosses, ups, strict=True))
    ])  # fmt: skip
    assert [axes.get_ylabel() for axes in figure.axes] == ups
    assert [axes.get_xlabel() for axes in figure.axes] == ["pulls", "", *acrosses[2:]]
    for axes in figure.axes:
        assert any(label.get_text() for label in axes.get_yticklabels())
    same = facet_figure([panel(str(i), [curve("dts")]) for i in range(3)])
    assert [axes.get_ylabel() for axes in same.axes] == ["regret", "", ""]
    assert not any(label.get_text() for label in same.axes[2].get_yticklabels())


def test_what_is_missing_is_a_frame():
    figure = facet_figure([LinePanel(lines=[curve("dts")]), Missing("gap", "why not")])
    assert [axes.get_title() for axes in figure.axes] == ["", "gap"]
    assert [text.get_text() for text in figure.axes[1].texts] == ["why not"]


def test_a_figure_needs_something_to_draw():
    with pytest.raises(InputError, match="at least one facet"):
        facet_figure([])
    empty = HeatMap("", np.full((2, 2), np.nan))
    with pytest.raises(InputError, match="at least one number"):
        facets.facet_map_figure([[empty]], across="", up="", columns=[1, 2], rows=[1, 2])


def test_a_map_shows_its_values():
    values = np.array([[1.0, 10.0], [100.0, np.nan]])
    figure = facets.facet_map_figure(
        [[HeatMap("a, b", values, best=values == 1)]], across="x", up="y", columns=[2, 4],
        rows=[1e3, 1e6], heading="regret", note="left out: D-TS",
    )  # fmt: skip
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["1", "10", "100"]
    assert [patch.get_xy() for patch in axes.patches] == [(-0.46, -0.46)]
    assert {text.get_text() for text in figure.texts} == {"regret", "left out: D-TS"}
    np.testing.assert_array_equal(axes.images[0].get_array().filled(np.nan), values)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2", "4"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["$10^{3}$", "$10^{6}$"]


def test_ticks_and_titles_have_room():
    assert ticks.kept([2, 3, 4, 8, 32], np.log([2, 3, 4, 8, 32]).tolist()) == [0, 2, 3, 4]
    assert ticks.kept([1], [1]) == [0]
    assert ticks.kept([1, 1000], [0, 1]) == [0, 1]
    assert words.broken("short, title", 24) == "short, title"
    assert words.broken("mslr16-noncondorcet, T = 1e6", 24) == "mslr16-noncondorcet,\nT = 1e6"
    long = "random_condorcet, K = 8, instance = 0, T = $10^{6}$"
    assert words.broken(long, 24) == "random_condorcet, K = 8,\ninstance = 0, T = $10^{6}$"
