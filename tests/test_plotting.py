import csv
import io
import itertools
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import jaxduel as jd
from jaxduel import plotting
from jaxduel.plotting import STYLES, Curve, Panel, Reference, regret_figure, style_of


def made_up(policy: str, scale: float, num_seeds: int = 20) -> jd.Result:
    rng = np.random.default_rng(int(scale))
    times = np.array([1, 10, 100, 1_000, 10_000])
    regret = np.cumsum(rng.exponential(scale, (num_seeds, len(times))), axis=1)
    plays = np.zeros((num_seeds, len(times), 3), np.int64)
    return jd.Result(policy, "toy", 10_000, 0, "average", times, regret, plays)


CURVES = [Curve.from_result(made_up("rucb", 5.0)), Curve.from_result(made_up("btm", 90.0))]


def test_every_policy_has_a_colour_of_its_own():
    colors = [style.color.upper() for style in STYLES.values()]
    assert len(set(colors)) == len(colors)
    for first, second in itertools.combinations(colors, 2):
        difference = np.subtract(to_rgb(first), to_rgb(second))
        assert np.abs(difference).max() > 0.05, (first, second)


def test_all_registered_policies_have_a_style():
    assert set(jd.policies.names()) <= set(STYLES)


def test_policies_of_one_figure_differ_in_line_or_marker_too():
    for names in (
        ("pcomp", "scomp", "scomp2", "rmed1", "rucb", "btm"),
        ("scomp2[num_batches=2]", "scomp2[num_batches=8]", "scomp2", "rmed1"),
        ("dts", "dts+", "pure-dts", "rucb", "rcs", "ccb", "scb", "ecw-rmed", "savage", "sparring"),
    ):
        looks = {STYLES[name][1:] for name in names}
        assert len(looks) == len(names)


def test_a_policy_of_ones_own_has_the_same_style_each_time():
    assert style_of("epsilon-duel") == style_of("epsilon-duel")
    assert style_of("epsilon-duel").color not in {style.color for style in STYLES.values()}


def test_table_has_the_numbers_of_the_result():
    result = made_up("rucb", 5.0)
    rows = list(csv.DictReader(io.StringIO(plotting.table([Curve.from_result(result)]))))
    assert [int(row["t"]) for row in rows] == result.checkpoints.tolist()
    assert {row["policy"] for row in rows} == {"rucb"}
    assert {row["num_seeds"] for row in rows} == {"20"}
    for column, expected in (
        ("mean", result.mean),
        ("sem", result.sem),
        ("std", result.std),
        ("median", result.quantile(0.5)),
        ("q25", result.quantile(0.25)),
        ("q75", result.quantile(0.75)),
    ):
        np.testing.assert_array_equal([float(row[column]) for row in rows], expected)
    half = 2.093024 * result.sem  # Student's t, 19 degrees of freedom
    np.testing.assert_allclose(
        [float(row["upper95"]) for row in rows], result.mean + half, rtol=1e-6
    )


def test_files_are_the_same_bytes_each_time():
    files = [
        (plotting.png(figure, dpi=60), plotting.pdf(figure))
        for figure in (regret_figure([Panel(CURVES)]), regret_figure([Panel(CURVES)]))
    ]
    assert files[0] == files[1]
    assert b"CreationDate" not in files[0][1]


def test_drawing_leaves_no_global_state():
    before = dict(mpl.rcParams)
    regret_figure([Panel(CURVES)])
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_legend_covers_no_axes_and_text_is_readable(number):
    figure = regret_figure([Panel(CURVES, title=f"({i})") for i in range(number)])
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


def test_legend_of_long_labels_stays_within_the_column():
    labels = ("SCOMP2, B = 2", "SCOMP2, B = 8", "SCOMP2, B = 16", "RMED1")
    figure = regret_figure([Panel([replace(CURVES[0], label=label) for label in labels])])
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.get_window_extent().x1


def test_axes_have_labels_scales_and_lines_to_compare_with():
    references = [Reference("bound", 12.0), Reference("theory", CURVES[0].mean, CURVES[0].times)]
    panel = Panel(CURVES, references=references, time_scale="log", regret_scale="linear")
    (axes,) = regret_figure([panel]).axes
    assert axes.get_xscale() == "log"
    assert axes.get_yscale() == "linear"
    assert axes.get_xlabel() == "comparisons $t$"
    assert "regret" in axes.get_ylabel()
    assert {"bound", "theory"} <= set(axes.get_legend_handles_labels()[1])
    (linear,) = regret_figure([Panel(CURVES)]).axes
    assert linear.get_xlabel() == "comparisons $t$ (thousands)"
    assert linear.get_xlim() == (0, 10_000)


def test_one_seed_has_a_curve_and_no_band():
    curve = Curve.from_result(made_up("rucb", 5.0, num_seeds=1))
    (axes,) = regret_figure([Panel([curve])]).axes
    assert len(axes.lines) == 1
    assert not axes.collections


def test_a_figure_without_curves_is_refused():
    with pytest.raises(jd.InputError, match="at least one panel"):
        regret_figure([])
    with pytest.raises(jd.InputError, match="at least one curve"):
        regret_figure([Panel([])])
