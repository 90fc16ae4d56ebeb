"""Batched policies: seconds for 1,000 runs at T = 1e5 and 1e9, after compilation.

    taskset -c 1 python -m pytest -n 0 benchmarks/test_batched.py

Processor time on a CPU. `simulate` as a user calls it, B = 16, 50 checkpoints, a BTL instance.
"""

import jax
import numpy as np
import pytest

import jaxduel as jd
from benchmarks.clocks import work_seconds

pytestmark = pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning")


@pytest.mark.parametrize("horizon", [10**5, 10**9])
@pytest.mark.parametrize("num_arms", [5, 16, 64])
@pytest.mark.parametrize("name", ["pcomp", "scomp", "scomp2"])
def test_runs(benchmark, rounds, size, name, num_arms, horizon):
    seeds, horizon = size(1000, 10), size(horizon, 1000)
    problem = jd.problems.btl(jax.random.key(1), num_arms)
    policy = jd.policies.make(name, num_arms=num_arms, horizon=horizon, num_batches=16)
    result, seconds = rounds(lambda: jd.simulate(policy, problem, num_seeds=seeds), 4, work_seconds)
    np.testing.assert_array_equal(result.plays[:, -1].sum(axis=1), 2 * horizon)
    assert result.batches.max() <= 2 * 16 + 1
    assert np.isfinite(result.regret).all()
    benchmark.extra_info["seconds per 1,000 runs"] = min(seconds)
    benchmark.extra_info["first call seconds"] = seconds[0]
