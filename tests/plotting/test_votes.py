"""The probability of naming the best arm against votes."""

import numpy as np
import pytest

from jaxduel.errors import InputError
from jaxduel.plotting import COLUMN_WIDTH, draw, style_of, votes_line, votes_panel

VOTES = np.array([10, 100, 1000])


def share_of(label, level=0.0, votes=VOTES, **more):
    share = np.linspace(0.2, 0.8, len(votes)) + level
    return votes_line(label, label, votes, (share, share - 0.1, share + 0.1), **more)


def figure_of(lines, *more):
    return draw([votes_panel(lines, *more)])


def texts(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_curves_have_bands_and_lines_at_targets():
    figure = figure_of([share_of("dts"), share_of("rucb", 0.1)], "log", [0.9, 0.95])
    (axes,) = figure.axes
    assert (axes.get_title(), axes.get_xscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("votes", "P(best arm named)")
    dts, rucb, *targets = axes.lines
    assert dts.get_color() == style_of("dts").color
    assert rucb.get_color() == style_of("rucb").color
    assert [float(line.get_ydata()[0]) for line in targets] == [0.9, 0.95]
    ends = axes.collections[0].get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose([ends.min(), ends.max()], [0.1, 0.9])
    assert texts(figure) == ["dts", "rucb"]
    assert figure.get_figwidth() == COLUMN_WIDTH


def test_votes_from_zero_on_are_all_drawn():
    figure = figure_of([share_of("dts", votes=np.array([0, 10, 1000]))])
    (axes,) = figure.axes
    assert axes.get_xscale() == "symlog"
    assert axes.get_xlim() == (0, 1000)


def test_a_single_number_of_votes_is_a_marker_with_its_interval():
    (axes,) = figure_of([share_of("dts", votes=np.array([70]))]).axes
    (line,) = axes.lines
    assert line.get_markevery() is None
    np.testing.assert_allclose(axes.collections[0].get_segments(), [[(70, 0.1), (70, 0.3)]])
    assert axes.get_xlim()[0] < 70 < axes.get_xlim()[1]


def test_rules_differ_in_lines_and_policies_in_colours():
    curves = [share_of(one, rule=rule) for one in ("dts", "rucb") for rule in ("borda", "btl")]
    figure = figure_of(curves)
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata())]
    assert len({line.get_color() for line in lines}) == 2
    assert len({line.get_linestyle() for line in lines}) == 2
    assert texts(figure) == ["dts", "rucb", "by borda", "by btl"]
    alone = figure_of([share_of("dts", rule="btl")])
    assert alone.axes[0].get_ylabel() == "P(best arm named by btl)"
    assert texts(alone) == ["dts"]


def test_a_figure_of_nothing_is_refused():
    with pytest.raises(InputError, match="at least one line"):
        figure_of([])
    with pytest.raises(InputError, match="at least one panel"):
        draw([])


def test_no_votes_alone_can_be_drawn(recwarn):
    share = np.array([0.25])
    (axes,) = draw(
        [votes_panel([votes_line("dts", "dts", np.array([0]), (share, share, share))])]
    ).axes
    assert axes.get_xlim()[0] <= 0 < axes.get_xlim()[1]
    assert not recwarn.list
