"""Grids of times."""

import numpy as np
import pytest

from jaxduel.errors import InputError
from jaxduel.numerics import linear_times, log_times
from jaxduel.numerics.times import MAX_TIMES


@pytest.mark.parametrize("horizon", [1, 2, 3, 10, 12_345, 2**31 - 1])
@pytest.mark.parametrize("points", [1, 2, 50])
@pytest.mark.parametrize("grid", [log_times, linear_times])
def test_grids_increase_to_the_horizon(grid, horizon, points):
    times = grid(horizon, points)
    assert times.dtype == np.int64
    assert times[0] >= 1
    assert times[-1] == horizon
    assert (np.diff(times) > 0).all()
    assert len(times) <= points


def test_log_times_are_even_in_log_time():
    steps = np.diff(np.log(log_times(10**9, 50).astype(float))[10:])
    assert steps.max() < 1.1 * steps.min()


@pytest.mark.parametrize("horizon", [1, 2, 7, 30, 1000])
def test_all_times_are_the_longest_log_times(horizon):
    every = np.arange(1, horizon + 1)
    np.testing.assert_array_equal(log_times(horizon, 10**12), every)
    np.testing.assert_array_equal(linear_times(horizon, 10**12), every)
    points = int(horizon * np.log(horizon) + 1)  # one more gives all times without computing
    rounded = np.unique(np.rint(np.geomspace(1, horizon, points)))
    np.testing.assert_array_equal(log_times(horizon, points), np.union1d(rounded, [horizon]))


@pytest.mark.parametrize("grid", [log_times, linear_times])
def test_grids_that_would_fill_the_memory_are_refused(grid):
    assert len(grid(10**9, MAX_TIMES)) <= MAX_TIMES
    with pytest.raises(InputError, match="1,000,000,000 checkpoints are too many: at most 100,000"):
        grid(2**31 - 1, 10**9)
