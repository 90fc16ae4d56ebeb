"""The cost of a seed by the number of seeds: none should be simulated that nobody asked for.

    taskset -c 1 python -m pytest -n 0 benchmarks/test_seeds.py

Processor time of `simulate` on one device, compiled, of plain steps, the best of three rounds of
all numbers of seeds. `n` is in milliseconds a seed, `ratio n` that by the least of any larger one.
"""

import jax
import numpy as np
import pytest

import jaxduel as jd
from benchmarks.clocks import work_seconds

NUMBERS = (10, 50, 97, 100, 225, 257, 500, 1_000)
HORIZONS = {
    ("rucb", 5): 10_000,
    ("rucb", 16): 5_000,
    ("rucb", 64): 3_000,
    ("rucb", 136): 1_000,
    ("dts", 5): 5_000,
    ("dts", 16): 2_000,
    ("dts", 64): 200,
    ("dts", 136): 50,
}


@pytest.mark.parametrize(("name", "num_arms"), HORIZONS)
def test_cost_of_a_seed(benchmark, size, name, num_arms):
    horizon, numbers = size((HORIZONS[name, num_arms], NUMBERS), (50, (5, 9)))
    policy = jd.policies.make(name, num_arms=num_arms, horizon=horizon)
    problem = jd.problems.btl(jax.random.key(1), num_arms)
    settings = {"checkpoints": [horizon], "skip_quiet": False, "devices": jax.devices()[:1]}
    spent = {number: [] for number in numbers}

    def once():
        for number in numbers:
            before = work_seconds()
            result = jd.simulate(policy, problem, horizon, number, **settings)
            spent[number].append((work_seconds() - before) / number)
            np.testing.assert_array_equal(result.plays.sum(axis=-1), 2 * horizon)
            assert len(result.plays) == number

    benchmark.pedantic(once, rounds=size(3, 1), warmup_rounds=1)
    each = [min(some) for some in spent.values()]
    benchmark.extra_info |= {str(n): 1e3 * cost for n, cost in zip(numbers, each, strict=True)}
    ratios = [cost / min(each[i:]) for i, cost in enumerate(each)]
    benchmark.extra_info |= {f"ratio {n}": x for n, x in zip(numbers, ratios, strict=True)}
