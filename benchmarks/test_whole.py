"""Whole programs, each in a process of its own: peak memory of a large study, a paper from cold.

python -m pytest -n 0 benchmarks/test_whole.py
"""

import subprocess
import sys

import pytest

STUDY = """
import resource, sys
import jaxduel as jd
name, seeds = sys.argv[1], int(sys.argv[2])
extra = {"num_batches": 16} if name == "pcomp" else {}
policy = jd.policies.make(name, num_arms=16, horizon=1000, **extra)
result = jd.simulate(policy, jd.problems.arithmetic(16, step=0.03), 1000, num_seeds=seeds)
assert (result.plays[:, -1].sum(axis=1) == 2000).all()
assert result.num_seeds == seeds
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize("name", ["rucb", "pcomp"])
def test_memory_of_100_000_seeds(benchmark, size, name):
    command = [sys.executable, "-c", STUDY, name, size("100000", "10")]

    def study():
        return subprocess.run(command, check=True, capture_output=True, text=True)

    peak = int(benchmark.pedantic(study, rounds=1, iterations=1).stdout)
    assert peak > 0
    benchmark.extra_info["peak GiB"] = peak / 2**20


@pytest.mark.parametrize("full", [False, True])
def test_batched_dueling_from_cold(rounds, benchmark, size, tmp_path, full):
    program = "import sys; from jaxduel.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "reproduce", "batched-dueling"]
    command += ["--out", str(tmp_path)] + (["--full"] if full else [])
    command += size([], ["--figure", "2a", "--runs", "1"])
    done, seconds = rounds(lambda: subprocess.run(command, capture_output=True, text=True))
    assert done.returncode == 0, done.stderr
    assert {".png", ".csv", ".txt"} <= {path.suffix for path in tmp_path.iterdir()}
    benchmark.extra_info["minutes"] = seconds[0] / 60
