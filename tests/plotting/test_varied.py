"""Lines against a varied quantity, and bounds."""

from dataclasses import replace

import numpy as np
import pytest

from jaxduel import plotting
from jaxduel.plotting import LinePanel, Reference, draw
from jaxduel.plotting.facets import facet_figure
from tests.plotting.cases import swept


def test_sweeps_have_bands_and_ticks_where_something_was_tried():
    panel = LinePanel(lines=[swept("base", "BaSE")], across="batches $M$", up="regret")
    (axes,) = draw([panel]).axes
    (line,) = axes.lines
    np.testing.assert_array_equal(line.get_ydata(), [0.6, 0.2, 0.1])
    (band,) = axes.collections
    ends = band.get_paths()[0].vertices[:, 1]
    assert ends.min() == pytest.approx(0.09)
    assert ends.max() == pytest.approx(0.72)
    assert axes.get_xticks().tolist() == [2, 3, 5]
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylabel() == "regret"


def test_bands_of_a_sweep_end_where_the_intervals_do_on_a_logarithmic_axis():
    curve = swept("dts", "D-TS", at=[1, 10, 100], mean=[5.0, 6.0, 9.0])
    panel = LinePanel(lines=[curve], title="(a)", across="delay", across_scale="log")
    figure = draw([panel, panel])
    axes = figure.axes[0]
    assert axes.get_xscale() == "log"
    assert axes.get_ylim()[0] == 0
    (band,) = axes.collections
    ends = band.get_paths()[0].vertices
    for at, low, high in zip(curve.at, curve.lower95, curve.upper95, strict=True):
        here = ends[ends[:, 0] == at, 1]
        np.testing.assert_allclose([here.min(), here.max()], [low, high])
    assert figure.get_figwidth() == plotting.PAGE_WIDTH


@pytest.mark.parametrize("dense", [True, False])
def test_a_single_point_is_a_marker_with_its_interval(dense):
    curve = replace(swept("dts", "D-TS", at=[300], mean=[5.0]), dense=dense)
    (axes,) = facet_figure([LinePanel(lines=[curve], across_scale="log")]).axes
    (line,) = axes.lines
    assert line.get_markevery() is None
    np.testing.assert_allclose(axes.collections[0].get_segments(), [[(300, 4.5), (300, 6.0)]])
    assert axes.get_xlim()[0] < 300 < axes.get_xlim()[1]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["300"]


def test_numbers_that_are_not_known_leave_a_logarithmic_axis():
    at = [1, 10, 100, 1_000]
    curve = swept("dts", "D-TS", at=at, mean=[np.nan, 1.0, np.nan, 90.0])
    nothing = swept("rucb", "RUCB", at=at, mean=[np.nan] * 4)
    for dense in (True, False):
        curves = [replace(one, dense=dense) for one in (curve, nothing)]
        (axes,) = facet_figure([LinePanel(lines=curves, across_scale="log")]).axes
        assert axes.get_yscale() == "log"
        low, high = axes.get_ylim()
        assert low < 1 < 90 < high
        assert len(axes.lines) == 2


@pytest.mark.parametrize("mean", [[0.0] * 3, [np.nan] * 3, [-1.0, -3.0, np.nan]])
def test_numbers_without_a_logarithm_have_a_linear_axis(mean, recwarn):
    panel = LinePanel(lines=[swept("dts", "D-TS", mean=mean)], up_scale="log")
    for maker in (draw, facet_figure):
        (axes,) = maker([panel]).axes
        assert axes.get_yscale() == "linear"
        assert axes.get_ylim()[0] <= np.nan_to_num(mean).min()
    assert not recwarn.list


def test_infinite_numbers_leave_the_axes_of_facets_finite():
    curve = swept("dts", "D-TS", mean=[1.0, 2.0, np.inf])
    (axes,) = facet_figure([LinePanel(lines=[curve])]).axes
    assert 2 < axes.get_ylim()[1] < 3


def test_labels_of_final_regret_say_so():
    assert plotting.regret_label("copeland", final=True) == "Copeland regret $R(T)$, normalised"
    assert "$R(t)" in plotting.regret_label("borda")


def test_each_panel_of_a_sweep_has_its_own_label_below():
    curves = [swept("base", "BaSE")]
    panels = [LinePanel(lines=curves, across=what) for what in ("M", "K", "T", "M")]
    assert [axes.get_xlabel() for axes in draw(panels).axes] == ["M", "K", "T", "M"]


def test_bounds_of_a_sweep_are_thin_lines_of_the_policys_colour():
    bound = Reference("bound", np.array([0.03, 0.02, 0.01]), np.array([2, 3, 5]), "base")
    panel = LinePanel(lines=[swept("base", "BaSE")], references=[bound], up_scale="log")
    figure = draw([panel])
    (axes,) = figure.axes
    measured, compared = axes.lines
    assert compared.get_color() == measured.get_color()
    assert compared.get_linewidth() < measured.get_linewidth()
    assert axes.get_yscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["BaSE", "bound"]


def test_variants_of_a_policy_are_told_apart_in_every_panel():
    curves = [swept(f"dts[alpha={a}]", f"D-TS, {a}") for a in (0.51, 0.6)]
    panels = [LinePanel(lines=some, up="regret") for some in (curves, curves[1:])]
    first, second, again = (
        (line.get_color(), line.get_marker())
        for axes in draw(panels).axes
        for line in axes.get_lines()
    )
    assert first[0] != second[0]
    assert second == again


def test_a_logarithmic_axis_shows_whole_decades_of_numbers_close_together():
    panel = LinePanel(lines=[swept("base", "BaSE")], up_scale="log")
    (axes,) = draw([panel]).axes
    np.testing.assert_allclose(axes.get_ylim(), [0.01, 1])


def test_a_wide_legend_stays_within_the_page():
    names = [f"{policy} {grid}" for policy in ("BaSE", "ETC") for grid in ("minimax", "geometric")]
    curves = [swept("base", name) for name in (*names, "BaSE arithmetic", "UCB1")]
    figure = draw([LinePanel(lines=curves)] * 2)
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.get_window_extent().x1
