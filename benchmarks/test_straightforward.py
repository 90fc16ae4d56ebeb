"""D-TS beside the straightforward D-TS that draws every theta with `jax.random.beta`.

    taskset -c 1 python -m pytest -n 0 benchmarks/test_straightforward.py

That both have the same law is tested in tests/policies/thompson/test_sampling.py.
"""

import numpy as np
import pytest

import jaxduel as jd
from benchmarks.stepping import Stepper
from benchmarks.straightforward import PlainDTS

WARM_UP = {"ours": 2048, "plain": 64}
"""The yardstick is not given as long: its cost hardly depends on the time."""


@pytest.mark.parametrize("num_arms", [5, 16])
def test_ratio(benchmark, size, num_arms):
    steppers = {
        "ours": Stepper(jd.policies.make("dts", num_arms=num_arms), size(0, 4)),
        "plain": Stepper(
            PlainDTS(num_arms=num_arms, active_arms=np.ones(num_arms, bool)), size(128, 4)
        ),
    }
    rates = {"ours": [], "plain": []}

    def race():
        for name, number in (("plain", 32), ("ours", 512)):
            stepper = steppers[name]
            rates[name].append(stepper.rate(stepper.timed(number), number))

    for name, stepper in steppers.items():
        stepper.advance(size(WARM_UP[name], 64) - 32)
    benchmark.pedantic(race, rounds=size(3, 1), iterations=1)
    for stepper in steppers.values():
        stepper.check()
    for name, found in rates.items():
        benchmark.extra_info[f"{name}, million comparisons per second per core"] = max(found)
    benchmark.extra_info["ratio"] = max(rates["ours"]) / max(rates["plain"])
