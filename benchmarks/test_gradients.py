"""Gradients of regret: what they cost beside a plain simulation, and how sure they are.

    python -m pytest -n 0 benchmarks/test_gradients.py

Seconds by the clock, on all devices, of calls that are compiled already. A plain simulation and a
gradient take turns: the ratio is that of the medians of five. The first call is left out of it.
"""

import statistics
import time

import jax
import numpy as np
import pytest

import jaxduel as jd
from jaxduel.gradients import families, regret_gradient
from jaxduel.numerics import log_grid

HORIZON = 100_000


def seconds_of(call):
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


@pytest.mark.parametrize("num_batches", [8, 16])
def test_scomp2_with_120_parameters(benchmark, num_batches):
    """K = 16, each of the pairs its own parameter, 10,000 seeds."""
    problem = jd.problems.btl(jax.random.key(1), num_arms=16)
    policy = jd.policies.make("scomp2", num_arms=16, horizon=HORIZON, num_batches=num_batches)
    p = problem.preferences[np.triu_indices(16, 1)]
    logits, given = np.log(p / (1 - p)), {"num_seeds": 10_000, "checkpoints": log_grid(HORIZON, 16)}
    plain, gradient = [], []

    def in_turns():
        for _ in range(6):
            plain.append(seconds_of(lambda: jd.simulate(policy, problem, **given)))
            call = lambda: regret_gradient(policy, families.free, logits, **given)  # noqa: E731
            gradient.append(seconds_of(call))

    benchmark.pedantic(in_turns, rounds=1, iterations=1)
    benchmark.extra_info["first seconds"] = gradient[0]
    benchmark.extra_info["seconds"] = statistics.median(gradient[1:])
    benchmark.extra_info["times a plain simulation"] = statistics.median(
        gradient[1:]
    ) / statistics.median(plain[1:])


def test_dts(benchmark):
    """K = 5, T = 1e5, 10,000 seeds, from cold."""
    policy = jd.policies.make("dts", num_arms=5)
    weights = np.linspace(1.0, -1.0, 5)

    def call():
        return regret_gradient(policy, families.btl, weights, HORIZON, 10_000, regret="average")

    found = benchmark.pedantic(call, rounds=1, iterations=1)
    _, gradient, _, sem = found.at()
    error, norm = np.linalg.norm(sem), np.linalg.norm(gradient)
    benchmark.extra_info["seconds"] = benchmark.stats.stats.max
    benchmark.extra_info["standard error over norm"] = error / norm
