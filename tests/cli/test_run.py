"""`jaxduel run`: what it prints, writes and keeps."""

import os
import subprocess
import sys

import numpy as np
import pytest
import xarray

import jaxduel as jd
from tests.choice import some
from tests.cli.command_line import RUN, SCOMP2, outcome

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.mark.parametrize("regret", some(["average", "binary weak"], ["binary weak"]))
def test_run_prints_and_writes_what_simulate_returns(capsys, tmp_path, regret):
    file = tmp_path / "r.nc"
    code, text, errors = outcome(
        capsys, *RUN, "--seed", 3, "--regret", regret, "--set", "scale=0.4", "--lanes", 2,
        "--checkpoints", 5, "--no-shuffle", "--out", file,
    )  # fmt: skip
    assert code == 0
    assert "Traceback" not in errors
    policy = jd.policies.make("rmed1", num_arms=6, scale=0.4)
    with xarray.open_dataset(file, engine="h5netcdf") as data:
        result = jd.simulate(
            policy, jd.problems.load("arxiv"), 100, 2, 3, data.checkpoint.values, regret,
            shuffle_arms=False, lanes=2,
        )  # fmt: skip
        np.testing.assert_array_equal(data.regret.values, result.regret)
        np.testing.assert_array_equal(data.plays.values, result.plays)
    assert f"{regret} regret {result.mean[-1]:.6g}, 95 % interval [" in text
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("law", ["gaussian", "bernoulli"])
def test_run_takes_arms_with_rewards(capsys, law):
    code, text, _ = outcome(
        capsys, "run", "--policy", "base", "--problem", f"{law}[0.6,0.5,0.4]", "--horizon", "1e4",
        "--seeds", 3, "--set", "num_batches=3", "--set", "grid=geometric", "--lanes", 3,
    )  # fmt: skip
    assert code == 0
    policy = jd.policies.make("base", num_arms=3, horizon=10_000, num_batches=3, grid="geometric")
    result = jd.simulate(policy, getattr(jd.problems, law)([0.6, 0.5, 0.4]), num_seeds=3, lanes=3)
    variant = "base[num_batches=3,grid=geometric]"
    assert f"{variant} on {law}[0.6,0.5,0.4]: 3 runs of T = 10,000 pulls\n" in text
    assert f"pulls regret {result.mean[-1]:.6g}, 95 % interval [" in text


@pytest.mark.thorough
def test_changes_are_among_the_checkpoints(capsys, tmp_path):
    file = tmp_path / "r.nc"
    code, _, _ = outcome(
        capsys, "run", "--policy", "rucb", "--problem", "piecewise[gap,47,strong-borda]",
        "--horizon", 100, "--seeds", 2, "--checkpoints", 5, "--out", file,
    )  # fmt: skip
    assert code == 0
    with xarray.open_dataset(file, engine="h5netcdf") as data:
        assert {47, 100} <= set(data.checkpoint.values.tolist())


def test_a_broken_assumption_is_one_line(capsys):
    code, text, errors = outcome(
        capsys, *SCOMP2, "--seeds", 2, "--lanes", 2, "--set", "num_batches=4"
    )
    assert code == 0
    assert "batches:" in text
    warnings = [line for line in errors.splitlines() if "warning" in line]
    assert len(warnings) == len(set(warnings)) == 2
    assert all(line.startswith("jaxduel: warning: scomp2: 'arxiv' lacks") for line in warnings)
    assert "simulate.py" not in errors


def test_an_interrupted_run_is_code_130(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(jd, "simulate", interrupted)
    code, _, errors = outcome(capsys, *RUN)
    assert code == 130
    assert "Traceback" not in errors


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [(), ("--no-cache",)])
def test_a_run_keeps_its_programs_unless_it_is_told_not_to(arguments, tmp_path, monkeypatch):
    folder = tmp_path / "programs"
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    done = subprocess.run(
        [sys.executable, "-m", "jaxduel", *SCOMP2, "--set", "num_batches=3", *arguments],
        env={**os.environ, "JAXDUEL_CACHE": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "compiled programs" not in done.stderr
    assert any(folder.rglob("*.program")) == (not arguments)
