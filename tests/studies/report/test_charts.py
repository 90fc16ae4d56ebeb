"""Panels of every kind, for a page."""

import numpy as np
import pytest

from jaxduel import plotting
from jaxduel.plotting import STYLES
from jaxduel.runs import Runs
from jaxduel.studies.report.charts import css_dash, interval, ranking, seen
from tests.plotting.cases import heats


def runs(name, label, end, **changes):
    regret = np.tile(np.linspace(1.0, end, 3), (20, 1))
    times = np.array([10, 100, 1000])
    return Runs(name=name, label=label, times=times, regret=regret, **changes)


def page_of(*some, **more):
    return seen(plotting.regret_panel([plotting.Line.of(one) for one in some], **more), some)


def test_curves_have_their_colours_intervals_and_who_is_lowest():
    rucb = runs("rucb", "RUCB", 50.0)
    dts = runs("dts", "D-TS", 20.0, separate=True)
    line = plotting.Reference(r"$2 \log t$", 2 * np.log([10, 100]), np.array([10, 100]))
    found = page_of(rucb, dts, title="arxiv", references=[line], regret="copeland",
                    time_scale="log")  # fmt: skip
    assert found.alt.startswith("2 curves of regret. At T = 1,000 the lowest is D-TS (20); ")
    assert "mean of 20 runs" in found.what
    assert "both axes logarithmic" in found.what
    assert "D-TS has separate runs" in found.what
    first, second, third = found.chart.lines
    assert (first.color, first.dash) == (STYLES["rucb"].color.lower(), "dash")
    assert (first.y, first.lower) == ((1.0, 25.5, 50.0), (1.0, 25.5, 50.0))
    assert (first.points, second.points, third.reference) == (False, True, True)
    assert third.label == "2 log t"
    assert [row[0] for row in found.table.rows] == ["D-TS", "RUCB"]
    assert found.chart.low < 1.0 < 50.0 < found.chart.high


def test_colours_are_digits_whatever_their_names(monkeypatch):
    monkeypatch.setitem(STYLES, "mine", plotting.Style("tab:red", "--", "o"))
    found = page_of(runs("mine", "MINE", 5.0), regret_scale="linear")
    assert found.chart.lines[0].color == "#d62728"


def test_without_regret_or_intervals_nothing_is_said_of_them():
    one = Runs(name="dts", label="D-TS", times=np.array([1, 9]), regret=np.zeros((1, 2)))
    found = page_of(one)
    assert found.what.endswith("up to T = 9: mean of 1 run of each policy; linear axes.")
    assert found.alt.startswith("1 curve of regret.")
    assert not found.chart.up_log


def test_what_is_not_a_number_is_left_out():
    assert seen(heats("amount", np.full((2, 3), np.nan))).alt == "Heat maps. There is no number."
    one = runs("rucb", "RUCB", np.nan)
    assert page_of(one).chart.lines[0].y[1:] == (None, None)


def test_the_lowest_mean_is_first_and_negative_numbers_are_in_the_picture():
    ends = {"a": np.nan, "b": 3.0, "c": -5.0}
    some = [runs(name, name, end) for name, end in ends.items()]
    found = page_of(*some, regret_scale="linear")
    assert [row[0] for row in found.table.rows] == ["c", "b", "a"]
    assert found.chart.low < -5
    at, mean = np.array([2, 4]), np.array([-2.0, -1.0])
    varied = plotting.Line(name="a", label="a", at=at, mean=mean, lower95=mean, upper95=mean)
    chart = seen(plotting.LinePanel(lines=[varied], up_scale="log")).chart
    assert not chart.up_log
    assert chart.low < -2
    assert chart.high is None


def test_varied_quantities_are_told_at_both_ends():
    at, mean = np.array([2, 4, 8]), np.array([900.0, 210.0, 120.0])
    ends = {"lower95": 0.9 * mean, "upper95": 1.1 * mean}
    curves = [
        plotting.Line(name="pcomp", label="PCOMP", at=at, mean=mean, **ends),
        plotting.Line(name="scomp", label="SCOMP", at=at[1:], mean=mean[1:] / 2,
                            lower95=mean[1:], upper95=mean[1:]),
    ]  # fmt: skip
    bound = plotting.Reference("bound", mean / 3, at, "pcomp")
    panel = plotting.LinePanel(lines=curves, references=[bound], across="$B$", up="regret $R(T)$")
    found = seen(panel)
    assert "At B = 2 PCOMP (900)." in found.alt
    assert "At B = 8 the lowest is SCOMP (60); the highest is PCOMP (120)." in found.alt
    assert found.table.rows[0][1:] == ("900 [810, 990]", "")
    assert [line.reference for line in found.chart.lines] == [False, False, True]


def test_bars_shares_and_maps_are_pictures_with_words():
    values = np.array([40.0, 55.0])
    bar = plotting.Bar("dts", "D-TS", values, 0.9 * values, 1.1 * values)
    bars = seen(plotting.BarsPanel(["arxiv", "cyclic"], [bar], label="regret"))
    assert bars.chart is None
    assert bars.table.rows == (("D-TS", "40.0 [36.0, 44.0]", "55.0 [49.5, 60.5]"),)
    assert "arxiv: D-TS (40)." in bars.alt
    stack = plotting.Stack("pcomp", "PCOMP\none run", np.array([0.25, 0.75]), ["arm 1", "arm 2"])
    shares = seen(plotting.SharesPanel([stack], label="share of $R(T)$", about="by arm"))
    assert "PCOMP one run: arm 1 25%, arm 2 75%" in shares.alt
    assert shares.what == "Share of R(T): by arm."
    cells = np.array([[0.0, 1.0], [1.0, np.nan]])
    common = {"label": "x", "across": "B", "up": "T", "columns": ["2", "4"], "rows": ["1", "9"]}
    best = plotting.HeatPanel(
        maps=[plotting.HeatMap("K = 2", cells)], kind="choice", choices=("a", "b"), **common
    )
    assert "Of 3 cells the best is a in 1, b in 2." in seen(best).alt
    ratio = plotting.HeatPanel(maps=[plotting.HeatMap("", cells - 0.5)], kind="ratio", **common)
    assert "above 1 in 2 and below 1 in 1 of 3" in seen(ratio).alt
    amount = plotting.HeatPanel(maps=[plotting.HeatMap("", cells)], kind="amount", **common)
    assert "goes from 0 to 1" in seen(amount).alt
    one = plotting.HeatPanel(
        maps=[plotting.HeatMap("D-TS", cells[:1, :1])], kind="choice", choices=("a",),
        **{**common, "columns": ["2"], "rows": ["1"]},
    )  # fmt: skip
    assert seen(one).what == "1 map (D-TS), 1 value of B by 1 of T."
    assert "Of 1 cell the best is a in 1." in seen(one).alt


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ([("a", 1.0)], "now a (1)."),
        ([("a", 2.0), ("b", 1.0)], "now the lowest is b (1); the highest is a (2)."),
        ([(x, float(i)) for i, x in enumerate("abcde")],
         "now the lowest is a (0), then b (1), c (2); the highest is e (4)."),
        ([("a", np.nan)], "now there is no number."),
    ],
)  # fmt: skip
def test_ranking(ends, text):
    assert ranking(ends, "now") == text


def test_looks_and_numbers():
    assert css_dash((0.0, (7.0, 2.0))) == "14px,4px"
    assert interval(134.21, 130.0, 138.0) == "134.2 [130.0, 138.0]"
    assert interval(12.0, np.nan, np.nan) == "12"
