"""Policies for Copeland winners over a whole run: comparisons per second from the first to T.

    taskset -c 1 python -m pytest -n 0 benchmarks/test_copeland.py

Their steps are dear as long as they learn and cheap afterwards, so that a stretch of a run says
little. Pin it to a core (`taskset -c 1`); "per core" divides by processor time.
"""

import pytest

import jaxduel as jd
from benchmarks.stepping import Stepper

RUNS = (
    # policy, arms, lanes, T
    ("ccb", 16, 224, 100_000),
    ("ccb", 64, 64, 20_000),
    ("scb", 16, 224, 100_000),
    ("scb", 500, 64, 20_000),
    ("ecw-rmed", 5, 512, 100_000),
    ("ecw-rmed", 16, 224, 100_000),
    ("ecw-rmed", 64, 64, 20_000),
    ("cw-rmed", 5, 256, 100_000),
    ("cw-rmed", 16, 32, 10_000),
)


@pytest.mark.parametrize(("name", "num_arms", "lanes", "horizon"), RUNS)
def test_whole_run(benchmark, size, name, num_arms, lanes, horizon):
    lanes, horizon = size(lanes, 4), size(horizon, 200)
    policy = jd.policies.make(name, num_arms=num_arms, horizon=horizon)
    stepper = Stepper(policy, lanes)
    number = horizon - stepper.t
    spent = benchmark.pedantic(lambda: stepper.timed(number), rounds=1, iterations=1)
    stepper.check()
    assert stepper.t == horizon
    assert spent > 0
    benchmark.extra_info["million comparisons per second per core"] = stepper.rate(spent, number)
    benchmark.extra_info["compile seconds"] = stepper.compile_seconds
