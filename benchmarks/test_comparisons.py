"""Simulated comparisons or pulls per second per core (or per GPU), one at a time.

    python -m pytest -n 0 benchmarks/test_comparisons.py

The step loop alone, after compilation, past the first 2,048 steps, on one device and a BTL instance
(arms with rewards: one better arm). "per core" divides by processor time, which does not count what
other processes take. Pin it to a core (`taskset -c 1`) for the cleanest numbers: XLA may use more
threads than pay. `lanes 0` are the simulator's own choice.
"""

import warnings

import pytest

import jaxduel as jd
from benchmarks.stepping import Stepper

WARM_UP = 2048
NAMES = (
    "dts", "dts+", "pure-dts", "rcs", "savage", "sparring", "multisbm", "interleaved-filter",
    "rmed1", "rmed2", "rmed2fh", "rucb", "btm", "ccb", "pbr", "scb", "ecw-rmed",
    "ucb1", "thompson-gaussian",
)  # fmt: skip
STUDIED = ("dts", "rucb")
"""Measured with other generators and other numbers of lanes, too."""


@pytest.mark.parametrize("prng", ["threefry2x32", "philox4x32"])
@pytest.mark.parametrize("lanes", [0, 100, 4000])
@pytest.mark.parametrize("num_arms", [5, 16, 64])
@pytest.mark.parametrize("name", NAMES)
def test_steps(benchmark, name, num_arms, lanes, prng):
    usual = prng == "threefry2x32" and lanes == 0
    if not usual and (name not in STUDIED or (prng != "threefry2x32" and lanes)):
        pytest.skip("only some policies are measured beside the default")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jd.AssumptionWarning)
        policy = jd.policies.make(name, num_arms=num_arms, horizon=100_000)
        stepper = Stepper(policy, lanes, prng)
    stepper.advance(WARM_UP - 32)
    number = max(256, 2**19 // stepper.lanes // 32 * 32)
    spent = []
    benchmark.pedantic(lambda: spent.append(stepper.timed(number)), rounds=3, iterations=1)
    benchmark.extra_info["lanes"] = stepper.lanes
    benchmark.extra_info["million steps per second per core"] = stepper.rate(min(spent), number)
    benchmark.extra_info["compile seconds"] = stepper.compile_seconds
