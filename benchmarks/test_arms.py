"""Batches of pulls: seconds for 1,000 runs at T = 1e4 and 1e9, after compilation; late rewards.

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


@pytest.mark.parametrize(
    "name", ["ucb1", "thompson-gaussian", "detc", "detc-anytime", "detc-minimax"]
)
def test_late_rewards(benchmark, size, name):
    """A pull with rewards told late, relative to one told at once; K = 16, or 2; by turns."""
    horizon, seeds, turns = size((20_000, 128, 7), (200, 4, 1))
    num_arms = 2 if name.startswith("detc") else 16
    problem = jd.problems.one_better_arm(num_arms, best=0.55)
    own = {"commit_pulls": 5e5} if "commit_pulls" in jd.policies.parameters(name) else {}
    policy = jd.policies.make(name, num_arms=num_arms, horizon=10**6, **own)  # detc explores on

    def seconds(delay):
        settings = {"delay": delay, "skip_quiet": False, "checkpoints": [horizon], "lanes": seeds}
        begin = work_seconds()
        result = jd.simulate(policy, problem, horizon, seeds, **settings)
        np.testing.assert_array_equal(result.plays[:, -1].sum(axis=1), horizon)
        return work_seconds() - begin

    def all_turns():
        return np.array([[seconds(delay) for delay in (1, 3, 10, 100)] for _ in range(turns + 1)])

    each = benchmark.pedantic(all_turns, rounds=1, iterations=1)[1:]  # the first ones compile
    late = np.median(each / each[:, :1], axis=0)[1:]
    benchmark.extra_info["ns a pull"] = 1e9 * each[:, 0].min() / (horizon * seeds)
    for delay, ratio in zip((3, 10, 100), late, strict=True):
        benchmark.extra_info[f"delay {delay}"] = ratio
