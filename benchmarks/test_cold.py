"""From the prompt to the answer: processor seconds of whole processes, import included, with an
empty folder of compiled programs, and with the folder that an earlier process filled.

    taskset -c 1 python -m pytest -n 0 benchmarks/test_cold.py
"""

import os
import resource
import subprocess
import sys

import pytest

COMMAND = """
import sys
from jaxduel.cli import main
sys.exit(main(sys.argv[1:]))
"""
STUDY = """
import sys
import jaxduel as jd
jd.use_compilation_cache()
horizon, seeds, *names = sys.argv[1:]
problem = jd.problems.load("mslr5-condorcet")
for name in names:
    policy = jd.policies.make(name, num_arms=5, horizon=int(horizon))
    print(jd.simulate(policy, problem, int(horizon), num_seeds=int(seeds)).mean.tolist())
"""


def run(policy, seeds):
    """The arguments of a command, in its usual size and its smallest."""
    command = ["run", "--policy", policy, "--problem", "arxiv", "--seeds"]
    return [*command, seeds, "--horizon", "1e5"], [*command, "2", "--horizon", "1e2"]


def study(horizon, seeds, *policies):
    """The arguments of a script, in its usual size and its smallest."""
    return [str(horizon), str(seeds), *policies], ["100", "2", policies[-1]]


CASES = {
    "`run`, `rucb`, 100 runs to 1e5": (COMMAND, *run("rucb", "100")),
    "`run`, `dts`, 500 runs to 1e5": (COMMAND, *run("dts", "500")),
    "`simulate`, `dts`, 100 runs to 1e5": (STUDY, *study(100_000, 100, "dts")),
    "`simulate`, `dts`, `rucb` and `rmed1`, 500 runs to 1e6": (
        STUDY,
        *study(1_000_000, 500, "dts", "rucb", "rmed1"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cold_and_second_process(rounds, benchmark, size, tmp_path, case):
    program, usual, smallest = CASES[case]
    command = [sys.executable, "-c", program, *size(usual, smallest)]
    environment = {**os.environ, "JAXDUEL_CACHE": str(tmp_path), "JAX_COMPILATION_CACHE_DIR": ""}

    def process():
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout

    first, (cold,) = rounds(process, clock=of_children)
    kept = {path: path.stat().st_ino for path in tmp_path.rglob("*.program")}
    begun = of_children()
    second = process()
    seconds = of_children() - begun
    assert numbers(first) == numbers(second) != []
    assert kept
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*.program")} == kept
    benchmark.extra_info["processor seconds, cold"] = cold
    benchmark.extra_info["second process"] = seconds


def of_children():
    """Processor seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def numbers(text):
    """What a process printed, without lines that depend on the time."""
    return [line for line in text.splitlines() if line.strip()]
