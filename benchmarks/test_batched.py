"""Batched policies: runs per second at T = 1e5 and 1e9, after compilation.

    python -m pytest -n 0 benchmarks/test_batched.py

`simulate` as a user calls it, 1,000 seeds, B = 16, 50 checkpoints, a BTL instance.
"""

import time
import warnings

import jax
import pytest

import jaxduel as jd

SEEDS = 1000


@pytest.mark.parametrize("horizon", [10**5, 10**9])
@pytest.mark.parametrize("num_arms", [5, 16, 64])
@pytest.mark.parametrize("name", ["pcomp", "scomp", "scomp2"])
def test_runs(benchmark, name, num_arms, horizon):
    problem = jd.problems.btl(jax.random.key(1), num_arms)
    policy = jd.policies.make(name, num_arms=num_arms, horizon=horizon, num_batches=16)

    def simulate():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jd.AssumptionWarning)
            jd.simulate(policy, problem, num_seeds=SEEDS)

    began = time.perf_counter()
    simulate()
    first = time.perf_counter() - began
    benchmark.pedantic(simulate, rounds=3, iterations=1)
    best = benchmark.stats.stats.min
    benchmark.extra_info["seconds per 1,000 runs"] = best
    benchmark.extra_info["runs per second"] = SEEDS / best
    benchmark.extra_info["first call seconds"] = first
