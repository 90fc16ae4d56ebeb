"""Bars side by side, and stacked shares."""

import itertools

import numpy as np
import pytest

from jaxduel import plotting
from jaxduel.plotting import Bar, BarsPanel, SharesPanel, Stack, draw
from jaxduel.plotting.styles import ink


def test_bars_stand_side_by_side_in_their_groups():
    values = {"dts": [1.0, 4.0], "dts+": [2.0, 0.5], "rucb": [3.0, 9.0]}
    bars = [
        Bar(name, name.upper(), np.array(v), 0.9 * np.array(v), 1.2 * np.array(v))
        for name, v in values.items()
    ]
    figure = draw([BarsPanel(["one", "two"], bars, label="STD")])
    (axes,) = figure.axes
    patches = {p.get_x(): p for p in axes.patches}
    assert [patches[x].get_height() for x in sorted(patches)] == [1, 2, 3, 4, 0.5, 9]
    ends = [(x, x + patches[x].get_width()) for x in sorted(patches)]
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ends))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["one", "two"]
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["DTS", "DTS+", "RUCB"]
    assert axes.get_yscale() == "log"


def test_shares_are_stacked_to_the_whole():
    stacks = [
        Stack("dts", "D-TS", np.array([0.5, 0.3, 0.2]), ["arm 1", "arm 3", "arm 2"]),
        Stack("dts+", "D-TS+", np.array([0.97, 0.03, 0.0]), ["arm 2", "arm 1", "arm 3"]),
    ]
    figure = draw([SharesPanel(stacks, "(a)", "share")])
    (axes,) = figure.axes
    tops = [p.get_y() + p.get_height() for p in axes.patches]
    np.testing.assert_allclose(tops, [0.5, 0.8, 1.0, 0.97, 1.0, 1.0])
    words = [text.get_text() for text in axes.texts]
    assert words == ["arm 1", "arm 3", "arm 2", "arm 2"]  # no room for 3 %
    assert not figure.legends


def test_words_in_columns_are_read_on_their_colour():
    shares, words = np.array([0.4, 0.3, 0.3]), ["largest", "2nd", "3rd"]
    stacks = [Stack(name, name, shares, words) for name in ("pcomp", "scb[scale=0.51]")]
    (axes,) = draw([SharesPanel(stacks)]).axes
    colors = [text.get_color() for text in axes.texts]
    assert colors == [ink(patch.get_facecolor()) for patch in axes.patches]
    assert colors == ["white", "white", "black", *["black"] * 3]


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("values", [[0.0, 0.0], [np.nan, np.nan], [-2.0, -1.0], [np.nan, 3.0]])
def test_bars_of_any_numbers_stand_on_an_axis_with_all_groups(values, scale, recwarn):
    bar = Bar("dts", "D-TS", *np.array([values, values, values]))
    (axes,) = draw([BarsPanel(["a", "b"], [bar], scale=scale)]).axes
    assert axes.get_yscale() == ("log" if scale == "log" and values[1] == 3 else "linear")
    low, high = axes.get_xlim()
    assert low < 0 < 1 < high
    bottom, known = axes.get_ylim()[0], np.nan_to_num(values)
    assert bottom < known.min() if known.min() < 0 else bottom <= known.max() / 2
    assert not recwarn.list


def test_names_of_columns_do_not_overlap():
    names = [f"a long policy {number}" for number in range(9)]
    stacks = [Stack("dts", name, np.array([1.0]), ["a"]) for name in names]
    figure = draw([SharesPanel(stacks)])
    labels = figure.axes[0].get_xticklabels()
    assert {label.get_rotation() for label in labels} == {25}
    short = draw([SharesPanel(stacks[:2])]).axes[0].get_xticklabels()
    assert {label.get_rotation() for label in short} == {0}


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_all_kinds_of_figures_can_be_written(kind):
    one = np.ones(1)
    for figure in (
        draw([BarsPanel(["a"], [Bar("dts", "D-TS", one, one * np.nan, one * np.nan)])]),
        draw([SharesPanel([Stack("dts", "D-TS", np.zeros(2), ["a", "b"])])]),
    ):
        content = plotting.png(figure, dpi=60) if kind == "png" else plotting.pdf(figure)
        assert len(content) > 1000
