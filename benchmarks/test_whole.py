"""Whole programs, each in a process of its own: peak memory of a large study, a paper from cold.

python -m pytest -n 0 benchmarks/test_whole.py
"""

import subprocess
import sys

import pytest

STUDY = """
import resource, sys
import jaxduel as jd
name = sys.argv[1]
extra = {"num_batches": 16} if name == "pcomp" else {}
policy = jd.policies.make(name, num_arms=16, horizon=1000, **extra)
result = jd.simulate(policy, jd.problems.arithmetic(16, step=0.03), 1000, num_seeds=100_000)
assert result.num_seeds == 100_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize("name", ["rucb", "pcomp"])
def test_memory_of_100_000_seeds(benchmark, name):
    peaks = []

    def study():
        done = subprocess.run(
            [sys.executable, "-c", STUDY, name], check=True, capture_output=True, text=True
        )
        peaks.append(int(done.stdout))

    benchmark.pedantic(study, rounds=1, iterations=1)
    benchmark.extra_info["peak GiB"] = max(peaks) / 2**20


@pytest.mark.parametrize("full", [False, True])
def test_batched_dueling_from_cold(benchmark, tmp_path, full):
    program = "import sys; from jaxduel.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "reproduce", "batched-dueling"]
    command += ["--out", str(tmp_path)] + (["--full"] if full else [])

    def reproduce():
        subprocess.run(command, check=True, capture_output=True)

    benchmark.pedantic(reproduce, rounds=1, iterations=1)
    benchmark.extra_info["minutes"] = benchmark.stats.stats.min / 60
