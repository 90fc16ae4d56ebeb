"""Policies of batches of pulls: seconds for 1,000 runs at T = 1e4 and 1e9, after compilation.

    python -m pytest -n 0 benchmarks/test_arms.py

`simulate` as a user calls it, 50 checkpoints, M = 8, one better arm.
"""

import time

import pytest

import jaxduel as jd

SEEDS = 1000


@pytest.mark.parametrize("horizon", [10**4, 10**9])
@pytest.mark.parametrize("num_arms", [3, 16, 64])
@pytest.mark.parametrize("name", ["base", "etc"])
def test_runs(benchmark, name, num_arms, horizon):
    problem = jd.problems.one_better_arm(num_arms)
    policy = jd.policies.make(name, num_arms=num_arms, horizon=horizon, num_batches=8)
    began = time.perf_counter()
    jd.simulate(policy, problem, num_seeds=SEEDS)
    first = time.perf_counter() - began
    benchmark.pedantic(
        lambda: jd.simulate(policy, problem, num_seeds=SEEDS), rounds=3, iterations=1
    )
    benchmark.extra_info["seconds per 1,000 runs"] = benchmark.stats.stats.min
    benchmark.extra_info["first call seconds"] = first
