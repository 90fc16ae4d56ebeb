"""The rows of `benchmarks.gpu`, each a function that returns a dictionary of numbers."""

import os
import shutil
import subprocess
import tempfile
import time
from datetime import datetime
from functools import partial
from typing import NamedTuple

import jax
import jaxlib
import numpy as np

import jaxduel as jd
from benchmarks import gpu_constants
from benchmarks.stepping import HORIZON, Batches, Stepper, Turner
from jaxduel.numerics.target import LOOPS_VARIABLE
from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, run_sweep

BATCHES = 8
ERRORS = 4.0
"""Most combined standard errors between means."""
GRID_MARGIN = 10.0
"""Seconds that the grid leaves at the end."""
LONG = 30.0
"""Seconds of a first run above which there is no second one."""


class Sizes(NamedTuple):
    """Sizes of the rows: lanes, arms, seeds, horizons, seconds."""

    lanes: tuple  # few, many, most
    arms: tuple  # some, many
    begun: int = 1_000  # steps before those that are timed
    warm_seconds: float = 10.0  # at most for these
    seconds: float = 0.5  # of the steps or turns that are timed, about; the best of three
    copied: int = 2**31  # bytes
    turns: int = 512  # of tiny loops
    means: tuple = (2_048, 2_000)
    others: tuple = ("ucb1", "ccb", "dts+", "ecw-rmed")  # policies stepped once
    skipping: tuple = ("rucb", "dts")  # policies in the event loop
    long: tuple = (5, 4_096, 10**6)  # arms, seeds, T
    batched: tuple = (100_000, 10**9)  # seeds, T
    rounds: tuple = ("pcomp", "scomp2")  # policies with batches
    grid_arms: tuple = (4, 6, 8, 12, 16, 24, 32, 40, 48, 64)
    grid_batches: tuple = (3, 6, 10, 16, 24)
    grid_horizons: tuple = (21_544, 46_415_888)
    grid_seeds: int = 10_000


FULL = Sizes((4_096, 65_536, 2**20), (16, 64))
SMALL = Sizes(
    lanes=(64, 64, 64),
    arms=(4, 4),
    begun=64,
    seconds=0.0,
    copied=2**16,
    turns=8,
    means=(64, 64),
    others=("ucb1",),
    skipping=("rucb",),
    long=(4, 64, 2_000),
    batched=(64, 2_000),
    rounds=("pcomp",),
    grid_arms=(4,),
    grid_batches=(2, 3),
    grid_horizons=(1_000, 2_000),
    grid_seeds=64,
)


class Row(NamedTuple):
    """A row to be measured."""

    name: str
    measure: partial
    needs: float = 20.0  # seconds that must be left to begin it


def rows_of(sizes, model, table, until, policies=()):
    """All rows, in order.

    Args:
      sizes: the sizes.
      model: numbers of `gpu_kernels` by (policy, arms, lanes, loop).
      table: the table, for a row that is computed from others.
      until: time by which the grid ends, finished or not.
      policies: if given, only steps of these are rows.
    """
    few, many, most = sizes.lanes
    arms, wide = sizes.arms
    yield Row("versions", partial(versions))
    if policies:
        yield from (_steps(name, arms, many, sizes, model) for name in policies)
        return
    yield Row("memory", partial(memory, sizes.copied))
    for kind in gpu_constants.KINDS:
        yield Row(f"tiny loops, {kind}", partial(tiny_loops, kind, sizes.turns))
    yield Row("the model's constants", partial(constants, table))
    for name in ("rucb", "rmed1", "dts"):
        yield Row(f"{name}, means as on the CPU", partial(same_mean, name, arms, *sizes.means))
    cases = [
        (name, arms, lanes) for lanes in (many, few, most) for name in ("rucb", "rmed1", "dts")
    ]
    cases += [(name, arms, many) for name in sizes.others]
    cases += [(name, wide, many) for name in ("rucb", "rmed1", "dts")]
    yield from (_steps(*case, sizes, model) for case in cases)
    for name in sizes.skipping:
        beside = model.get((name, arms, many, "turn"))
        title = f"{name}, turns of the event loop, K = {arms}, {many:,} lanes"
        yield Row(title, partial(turn_rate, name, arms, many, sizes, beside))
        few_arms, seeds, horizon = sizes.long
        title = f"{name} to T = {horizon:,}, K = {few_arms}, {seeds:,} seeds"
        yield Row(title, partial(long_run, name, *sizes.long), 40.0)
    for name in sizes.rounds:
        seeds, horizon = sizes.batched
        title = f"{name} to T = {horizon:,}, K = {arms}, {seeds:,} seeds"
        yield Row(title, partial(batched_run, name, arms, *sizes.batched))
        beside = model.get((name, arms, many, "round"))
        title = f"{name}, rounds, K = {arms}, {many:,} lanes"
        yield Row(title, partial(round_rate, name, arms, many, sizes, beside))
    yield Row("grid of pcomp", partial(grid, sizes, until), 60.0)


def _steps(name, arms, lanes, sizes, model):
    """The row of a policy's steps."""
    beside = model.get((name, arms, lanes, "step"))
    title = f"{name}, K = {arms}, {lanes:,} lanes"
    return Row(title, partial(step_rate, name, arms, lanes, sizes, beside))


def versions():
    device, found = jax.devices()[0], {}
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=driver_version,memory.total", "--format=csv,noheader"]
        output = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        found["driver, memory"] = output.splitlines()[0]
    return {
        "device": device.device_kind,
        "platform": " ".join(device.client.platform_version.split()),
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        **found,
        "cores": os.cpu_count(),
        "loops": os.environ.get(LOOPS_VARIABLE, ""),
    }


def memory(size):
    device = jax.devices()[0]
    limit = (device.memory_stats() or {}).get("bytes_limit", 0)
    rate = gpu_constants.copy_rate(min(size, limit // 8) if limit else size)
    assumed = gpu_constants.gpu_programs.BYTES_PER_SECOND / 1e9
    return {"GiB for JAX": limit / 2**30, "copied GB a second": rate / 1e9, "assumed": assumed}


def tiny_loops(kind, turns):
    found = gpu_constants.microseconds(kind, turns)
    return {_turn_of(n): value for n, value in found.items()}


def constants(table):
    kinds = {kind: table.rows[f"tiny loops, {kind}"] for kind in gpu_constants.KINDS}
    return gpu_constants.constants(
        {kind: {n: row[_turn_of(n)] for n in gpu_constants.KERNELS} for kind, row in kinds.items()}
    )


def _turn_of(kernels):
    return f"turn of {kernels} us"


def same_mean(name, arms, num_seeds, horizon):
    policy = jd.policies.make(name, num_arms=arms, horizon=horizon)
    problem = jd.problems.btl(jax.random.key(1), arms)
    settings = {"lanes": num_seeds, "skip_quiet": False, "progress": False}
    here, cpu = (
        jd.simulate(policy, problem, horizon, num_seeds, devices=[device], **settings)
        for device in (jax.devices()[0], jax.devices("cpu")[0])
    )
    errors = float((here.mean[-1] - cpu.mean[-1]) / np.hypot(here.sem[-1], cpu.sem[-1]))
    equal = int((here.plays == cpu.plays).all(axis=(1, 2)).sum())
    return {
        "mean regret": float(here.mean[-1]),
        "on the CPU": float(cpu.mean[-1]),
        "combined standard errors apart": errors,
        "seeds": num_seeds,
        "equal": equal,
        "holds": abs(errors) <= ERRORS,
    }


def _beside(model, rate):
    """The model's number for a rate in millions, if there is one."""
    return {"model": model, "times the model": rate / model} if model else {}


def _begun(name, arms, lanes, sizes, skips=False):
    """A policy's lanes after the first steps, as many as time allows; and how many steps a timing
    takes."""
    policy = jd.policies.make(name, num_arms=arms, horizon=HORIZON)
    stepper = Stepper(policy, lanes, skips=skips)
    until = time.perf_counter() + sizes.warm_seconds
    while stepper.t < sizes.begun and time.perf_counter() < until:
        stepper.advance(32)
    return stepper, stepper.steps_in(sizes.seconds)


def step_rate(name, arms, lanes, sizes, model):
    stepper, number = _begun(name, arms, lanes, sizes)
    begun = stepper.t
    spent = min(stepper.timed(number) for _ in range(3))
    stepper.check()
    rate = stepper.rate(spent, number)
    return {
        "million a second": rate,
        **_beside(model, rate),
        "step us": spent / number * 1e6,
        "from t": begun,
        "compile seconds": stepper.compile_seconds,
    }


def turn_rate(name, arms, lanes, sizes, model):
    stepper, number = _begun(name, arms, lanes, sizes, skips=True)
    step = min(stepper.timed(number) for _ in range(3)) / number
    turner = Turner(stepper)
    began = time.perf_counter()
    turner.timed(8)
    compiling = time.perf_counter() - began
    turn = min(turner.timed(number) for _ in range(3)) / number
    rate = lanes / turn / 1e6
    return {
        "million a second": rate,
        **_beside(model, rate),
        "turn us": turn * 1e6,
        "in steps": turn / step,
        "compile seconds": compiling,
    }


def round_rate(name, arms, lanes, sizes, model):
    policy = jd.policies.make(name, num_arms=arms, horizon=HORIZON, num_batches=BATCHES)
    batches = Batches(policy, lanes)
    batches.timed()
    spent, number = min(batches.timed() for _ in range(3))
    rate = lanes * number / spent / 1e6
    return {
        "million a second": rate,
        **_beside(model, rate),
        "round us": spent / number * 1e6,
        "rounds": number,
    }


def _cold_and_warm(policy, seeds, **settings):
    problem, found = jd.problems.btl(jax.random.key(1), policy.num_arms), {}
    settings |= {"devices": jax.devices()[:1], "progress": False}
    for when in ("cold", "warm"):
        if found.get("seconds cold", 0.0) > LONG:
            break
        began = time.perf_counter()
        result = jd.simulate(policy, problem, num_seeds=seeds, **settings)
        found[f"seconds {when}"] = time.perf_counter() - began
    return result, found


def long_run(name, arms, seeds, horizon):
    policy = jd.policies.make(name, num_arms=arms, horizon=horizon)
    result, found = _cold_and_warm(policy, seeds, horizon=horizon, lanes=seeds)
    rate = seeds * horizon / min(found.values()) / 1e6
    return {**found, "million a second": rate, "mean regret": float(result.mean[-1])}


def batched_run(name, arms, seeds, horizon):
    policy = jd.policies.make(name, num_arms=arms, horizon=horizon, num_batches=BATCHES)
    result, found = _cold_and_warm(policy, seeds)
    rate = seeds / min(found.values())
    return {**found, "runs a second": rate, "mean regret": float(result.mean[-1])}


def grid(sizes, until):
    asked = Grid(
        policies=PolicyEntry(name="pcomp"),
        problems=ProblemEntry(generator="btl", parameters={"num_arms": sizes.grid_arms}),
        horizons=sizes.grid_horizons,
        batches=sizes.grid_batches,
        num_seeds=sizes.grid_seeds,
    )
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run_sweep(
            asked,
            folder,
            devices=jax.devices()[:1],
            until=datetime.fromtimestamp(until - GRID_MARGIN),
            progress=False,
        )
    spent = time.perf_counter() - began
    cells = len(sizes.grid_arms) * len(sizes.grid_batches) * len(sizes.grid_horizons)
    parts = {f"{part} s": round(seconds, 2) for part, seconds in outcome.seconds.items()}
    blocks = {"blocks": outcome.blocks, "finished": outcome.finished}
    return {"cells": cells, **blocks, "all s": round(spent, 2), **parts}
