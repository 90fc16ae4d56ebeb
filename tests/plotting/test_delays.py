"""Regret against the delay."""

import numpy as np

from jaxduel import plotting
from jaxduel.plotting import DelayCurve, DelayPanel, delay_figure


def test_delays_have_a_logarithmic_axis_and_error_bars():
    delays, mean = np.array([1, 10, 100]), np.array([5.0, 6.0, 9.0])
    curve = DelayCurve(
        name="dts", label="D-TS", delays=delays, mean=mean, lower95=mean - 1, upper95=mean + 2
    )
    figure = delay_figure([DelayPanel([curve], "(a)", "copeland"), DelayPanel([curve])])
    axes = figure.axes[0]
    assert axes.get_xscale() == "log"
    assert axes.get_ylim()[0] == 0
    assert "R(T)" in axes.get_ylabel()
    (container,) = axes.containers
    bars = container.lines[2][0].get_segments()
    np.testing.assert_allclose([bar[:, 1] for bar in bars], [[4, 7], [5, 8], [8, 11]])
    assert figure.get_figwidth() == plotting.PAGE_WIDTH
