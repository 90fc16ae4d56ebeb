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
from jaxduel.numerics import log_times


def timed(call):
    begun = time.perf_counter()
    found = call()
    return time.perf_counter() - begun, found


@pytest.mark.parametrize("num_batches", [8, 16])
def test_scomp2_with_120_parameters(benchmark, size, num_batches):
    """K = 16, each of the pairs its own parameter, T = 1e5, 10,000 seeds."""
    horizon, seeds = size(100_000, 1000), size(10_000, 20)
    problem = jd.problems.btl(jax.random.key(1), num_arms=16)
    policy = jd.policies.make("scomp2", num_arms=16, horizon=horizon, num_batches=num_batches)
    p = problem.preferences[np.triu_indices(16, 1)]
    logits, given = np.log(p / (1 - p)), {"num_seeds": seeds, "checkpoints": log_times(horizon, 16)}
    plain, gradient = [], []

    def in_turns():
        for _ in range(size(6, 2)):
            spent, result = timed(lambda: jd.simulate(policy, problem, **given))
            plain.append(spent)
            spent, found = timed(lambda: regret_gradient(policy, families.free, logits, **given))
            gradient.append(spent)
        return result, found

    result, found = benchmark.pedantic(in_turns, rounds=1, iterations=1)
    value, slopes, _, errors = found.at()
    np.testing.assert_allclose(value, result.mean[-1], rtol=1e-6)
    assert slopes.shape == errors.shape == (120,)
    assert np.isfinite(slopes).all()
    assert (errors >= 0).all()
    benchmark.extra_info["first seconds"] = gradient[0]
    benchmark.extra_info["seconds"] = statistics.median(gradient[1:])
    benchmark.extra_info["times a plain simulation"] = statistics.median(
        gradient[1:]
    ) / statistics.median(plain[1:])


def test_dts(benchmark, rounds, size):
    """K = 5, T = 1e5, 10,000 seeds, from cold."""
    policy = jd.policies.make("dts", num_arms=5)
    weights, sizes = np.linspace(1.0, -1.0, 5), size((100_000, 10_000), (300, 50))

    def call():
        return regret_gradient(policy, families.btl, weights, *sizes, regret="average")

    found, seconds = rounds(call)
    _, gradient, _, sem = found.at()
    error, norm = np.linalg.norm(sem), np.linalg.norm(gradient)
    assert gradient.shape == (5,)
    assert np.isfinite([error, norm]).all()
    assert error > 0
    benchmark.extra_info["seconds"] = seconds[0]
    benchmark.extra_info["standard error over norm"] = error / norm
