"""Policies of batches of pulls: seconds for 1,000 runs at T = 1e4 and 1e9, after compilation.

    taskset -c 1 python -m pytest -n 0 benchmarks/test_arms.py

Processor time on a CPU. `simulate` as a user calls it, 50 checkpoints, M = 8, one better arm.
"""

import numpy as np
import pytest

import jaxduel as jd
from benchmarks.clocks import work_seconds


@pytest.mark.parametrize("horizon", [10**4, 10**9])
@pytest.mark.parametrize("num_arms", [3, 16, 64])
@pytest.mark.parametrize("name", ["base", "etc"])
def test_runs(benchmark, rounds, size, name, num_arms, horizon):
    seeds, horizon = size(1000, 10), size(horizon, 1000)
    problem = jd.problems.one_better_arm(num_arms)
    policy = jd.policies.make(name, num_arms=num_arms, horizon=horizon, num_batches=8)
    result, seconds = rounds(lambda: jd.simulate(policy, problem, num_seeds=seeds), 4, work_seconds)
    np.testing.assert_array_equal(result.plays[:, -1].sum(axis=1), horizon)
    assert result.batches.max() <= 8
    assert np.isfinite(result.regret).all()
    benchmark.extra_info["seconds per 1,000 runs"] = min(seconds)
    benchmark.extra_info["first call seconds"] = seconds[0]
