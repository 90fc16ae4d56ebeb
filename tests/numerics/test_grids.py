"""Grids of times."""

import numpy as np
import pytest

from jaxduel.numerics import linear_grid, log_grid


@pytest.mark.parametrize("horizon", [1, 2, 3, 10, 12_345, 2**31 - 1])
@pytest.mark.parametrize("points", [1, 2, 50])
@pytest.mark.parametrize("grid", [log_grid, linear_grid])
def test_grids_increase_to_the_horizon(grid, horizon, points):
    times = grid(horizon, points)
    assert times.dtype == np.int64
    assert times[0] >= 1
    assert times[-1] == horizon
    assert (np.diff(times) > 0).all()
    assert len(times) <= points + 1


def test_log_grid_is_even_in_log_time():
    steps = np.diff(np.log(log_grid(10**9, 50).astype(float))[10:])
    assert steps.max() < 1.1 * steps.min()
