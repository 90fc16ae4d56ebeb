"""Simulated comparisons per second per core (or per GPU) of the policies that make one at a time.

    python -m pytest -n 0 benchmarks/test_comparisons.py

The step loop alone, after compilation, past the first 2,048 comparisons, on one device and a BTL
instance. "per core" divides by processor time, which does not count what other processes take.
Pin it to a core (`taskset -c 1`) for the cleanest numbers: XLA may use more threads than pay.
`lanes 0` are the simulator's own choice.
"""

import threading
import time

import jax
import jax.numpy as jnp
import pytest

import jaxduel as jd
from jaxduel.simulation import blocks, run, steps
from jaxduel.simulation.cells import Program
from jaxduel.simulation.lanes import default_lanes

WARM_UP = 2048


def _job(name, num_arms, lanes, prng):
    problem = jd.problems.btl(jax.random.key(1), num_arms)
    policy = jd.policies.make(name, num_arms=num_arms, horizon=100_000)
    checked = run.CheckedCell(policy, problem, 100_000, run.Settings())
    cell = checked.to_cell(len(checked.grid))
    job = blocks.Job(
        cell=cell,
        program=Program(type(policy), stacked=False, shuffle=True, pairs=False, delayed=False),
        root=jax.random.key(0, impl=prng),
        lanes=1,
        delay=1,
        tick=lambda _: None,
        stop=threading.Event(),
    )
    if not lanes:
        _, shapes = jax.eval_shape(lambda: blocks.STEPS.start(job, 0))
        lanes = default_lanes(shapes, jax.devices()[0].platform)
    return job._replace(lanes=lanes)


@pytest.mark.parametrize("prng", ["threefry2x32", "philox4x32"])
@pytest.mark.parametrize("lanes", [0, 100, 4000])
@pytest.mark.parametrize("num_arms", [5, 16, 64])
@pytest.mark.parametrize("name", ["rucb", "rmed1", "btm"])
def test_steps(benchmark, platform_name, name, num_arms, lanes, prng):
    if prng != "threefry2x32" and lanes:
        pytest.skip("the other generator is measured at the default number of lanes")
    job = _job(name, num_arms, lanes, prng)
    setups, state = jax.block_until_ready(blocks.STEPS.start(job, 0))
    box = {"lanes": state, "t": 0}

    def advance(number):
        bounds = jnp.int32(box["t"]), jnp.int32(box["t"] + number), jnp.int32(1)
        box["lanes"] = steps.advance(job.cell, setups, box["lanes"], *bounds, program=job.program)
        jax.block_until_ready(box["lanes"])
        box["t"] += number

    began = time.perf_counter()
    advance(32)
    compiled = time.perf_counter() - began
    advance(WARM_UP - 32)
    number = max(256, 2**20 // job.lanes // 32 * 32)
    spent = []

    def timed():
        before = time.process_time() if platform_name == "cpu" else time.perf_counter()
        advance(number)
        after = time.process_time() if platform_name == "cpu" else time.perf_counter()
        spent.append(after - before)

    benchmark.pedantic(timed, rounds=3, iterations=1)
    benchmark.extra_info["lanes"] = job.lanes
    benchmark.extra_info["million comparisons per second per core"] = (
        number * job.lanes / min(spent) / 1e6
    )
    benchmark.extra_info["compile seconds"] = compiled
