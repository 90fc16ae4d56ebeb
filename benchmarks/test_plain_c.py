"""Milliseconds a run beside plain C doing the same work, by turns on one core.

    RULERS=FOLDER taskset -c 1 python -m pytest -n 0 benchmarks/test_plain_c.py

FOLDER has programs `scomp2 MATRIX RUNS T B`, `rucb MATRIX RUNS T SKIP` and `dts MATRIX RUNS T`,
which print `cpu=SECONDS`; MATRIX is a file of K and K rows. Ours is `simulate` as a user calls it,
once compiled. The programs measured for README have 50 lines each, take the same exact shortcuts,
and are no part of this repository. Without RULERS ours is measured alone.
"""

import os
import subprocess
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxduel as jd
from benchmarks.clocks import work_seconds

pytestmark = pytest.mark.filterwarnings("ignore::jaxduel.errors.AssumptionWarning")

CASES = {  # policy, K, T, runs, runs of the ruler, its further arguments
    "scomp2, K=64, T=1e9": ("scomp2", 64, 10**9, 512, 1000, (16,)),
    "scomp2, K=16, T=1e9": ("scomp2", 16, 10**9, 2000, 5000, (16,)),
    "rucb, K=16, T=1e5": ("rucb", 16, 10**5, 256, 100, (0,)),
    "rucb, K=5, T=1e5, quiet runs": ("rucb", 5, 10**5, 256, 500, (1,)),
    "dts, K=16, T=1e5": ("dts", 16, 10**5, 128, 30, ()),
    "dts, K=64, T=2e4": ("dts", 64, 20_000, 64, 20, ()),
}
PAIRS = 5


def instance(num_arms):
    if num_arms == 5:
        return jd.problems.load("mslr5-condorcet")
    return jd.problems.btl(jax.random.key(1), num_arms)


def ruler_seconds(program, problem, runs, horizon, more, folder):
    """Seconds of processor time a run of the plain C program."""
    matrix = folder / f"{problem.num_arms}.txt"
    rows = [" ".join(f"{p:.9g}" for p in row) for row in np.asarray(problem.preferences, float)]
    matrix.write_text("\n".join([str(problem.num_arms), *rows, ""]))
    command = [program, matrix, runs, horizon, *more]
    line = subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout
    return float(line.split("cpu=")[1].split()[0]) / runs


@pytest.mark.smallest("scomp2, K=16, T=1e9")
@pytest.mark.parametrize("case", CASES)
def test_runs(benchmark, rounds, size, case, tmp_path):
    name, num_arms, horizon, seeds, ruler_runs, more = CASES[case]
    seeds, horizon = size(seeds, 4), size(horizon, 1000)
    problem, rulers = instance(num_arms), os.environ.get("RULERS")
    batches = {"num_batches": 16} if name == "scomp2" else {}
    policy = jd.policies.make(name, num_arms=num_arms, horizon=horizon, **batches)
    program, theirs = Path(rulers or "", name), []

    def pair():
        if rulers:
            theirs.append(ruler_seconds(program, problem, ruler_runs, horizon, more, tmp_path))
        return jd.simulate(policy, problem, horizon, seeds, devices=jax.devices()[:1])

    result, seconds = rounds(pair, PAIRS + 2, work_seconds)  # which leaves out other processes
    np.testing.assert_array_equal(result.plays[:, -1].sum(axis=1), 2 * horizon)
    ours, c = 1e3 * min(seconds) / seeds, 1e3 * min(theirs, default=float("nan"))
    benchmark.extra_info |= {"ms a run": ours, "plain C": c, "ratio": ours / c}
