"""Simulated comparisons or pulls per second per core (or per GPU), one at a time.

    taskset -c 1 python -m pytest -n 0 benchmarks/test_comparisons.py -k test_steps

The step loop alone, after compilation, past the first 2,048 steps, on one device and a BTL instance
(arms with rewards: one better arm). "per core" divides by processor time, which does not count what
other processes take; pin it to a core, since XLA may use more threads than pay. The best of three
rounds of 2^19 steps, all lanes together, or of two seconds where these are fewer. `lanes 0` are the
simulator's own choice.
"""

import math
import warnings

import pytest

import jaxduel as jd
from benchmarks.stepping import Stepper

WARM_UP = 2048
ROUND_STEPS, ROUND_SECONDS = 2**19, 2.0
NAMES = (
    "dts", "dts+", "pure-dts", "rcs", "rucb", "rmed1", "rmed2", "rmed2fh", "btm", "savage",
    "sparring", "multisbm", "interleaved-filter", "pbr", "ccb", "scb", "ecw-rmed",
    "ucb1", "thompson-gaussian",
)  # fmt: skip
OTHERS = (
    "cw-rmed", "ws-w", "ws-s", "beat-the-winner", "versatile-db", "rex3", "self-sparring", "d-exp3",
    "borda-cb", "nts", "select-then-verify", "dkwt", "pocowista", "d-ucb", "sw-ucb",
    "lucb", "top-two-thompson",
)  # fmt: skip
"""Not in the table that `benchmarks.report` makes."""


@pytest.fixture
def measure(benchmark, size):
    """Measures a policy's steps and puts their rate into `extra_info`."""

    def of(name, num_arms, lanes=0, **settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jd.AssumptionWarning)
            policy = jd.policies.make(name, num_arms=num_arms, horizon=100_000)
            stepper = Stepper(policy, lanes, **settings)
        stepper.advance(size(WARM_UP, 128) - 64)
        most = max(32, ROUND_STEPS // stepper.lanes // 32 * 32)
        number = size(min(most, stepper.steps_in(ROUND_SECONDS)), 32)
        spent = []
        benchmark.pedantic(
            lambda: spent.append(stepper.timed(number)), rounds=size(3, 1), iterations=1
        )
        stepper.check()
        rate = stepper.rate(min(spent), number)
        assert math.isfinite(rate)
        assert rate > 0
        benchmark.extra_info["lanes"] = stepper.lanes
        benchmark.extra_info["million steps per second per core"] = rate
        benchmark.extra_info["compile seconds"] = stepper.compile_seconds

    return of


@pytest.mark.smallest("dts-5", "rmed1-5", "ucb1-5")
@pytest.mark.parametrize("num_arms", [5, 16, 64])
@pytest.mark.parametrize("name", NAMES)
def test_steps(measure, name, num_arms):
    measure(name, num_arms)


@pytest.mark.smallest("rex3-5")
@pytest.mark.parametrize("num_arms", [5, 16, 64])
@pytest.mark.parametrize("name", OTHERS)
def test_others(measure, name, num_arms):
    measure(name, num_arms)


@pytest.mark.smallest("merge-rucb-136")
@pytest.mark.parametrize("num_arms", [16, 64, 136, 1_000])
@pytest.mark.parametrize("name", ["merge-rucb", "merge-dts", "rucb", "dts"])
def test_many_arms(measure, name, num_arms):
    measure(name, num_arms)


@pytest.mark.smallest("rmed1-9")
@pytest.mark.parametrize("num_arms", [9, 16])
@pytest.mark.parametrize("name", ["dts", "dts+", "rcs", "merge-dts", "rmed1", "ecw-rmed", "rucb"])
def test_late_steps(measure, name, num_arms):
    """Outcomes are told after every third comparison."""
    measure(name, num_arms, delay=3)


@pytest.mark.smallest("rucb-5-100")
@pytest.mark.parametrize("lanes", [100, 4000])
@pytest.mark.parametrize("num_arms", [5, 16, 64])
@pytest.mark.parametrize("name", ["dts", "rucb"])
def test_other_numbers_of_lanes(measure, name, num_arms, lanes):
    measure(name, num_arms, lanes)


@pytest.mark.smallest("rucb-5")
@pytest.mark.parametrize("num_arms", [5, 16, 64])
@pytest.mark.parametrize("name", ["dts", "rucb"])
def test_another_generator(measure, name, num_arms):
    measure(name, num_arms, prng="philox4x32")
