import importlib.metadata
import os
import re
import subprocess
import sys

import jax
import numpy as np
import pytest
import xarray

import jaxduel as jd
from jaxduel.cli import main
from jaxduel.experiments import papers, stored_curves
from jaxduel.experiments.papers.batched_dueling.figures import PAPER

RUN = ("run", "--policy", "rmed1", "--problem", "arxiv", "--horizon", "1e2", "--seeds", "2")
SCOMP2 = ("run", "--policy", "scomp2", "--problem", "arxiv", "--horizon", "1e2")
BASE = ("run", "--policy", "base", "--horizon", "1e2", "--set", "num_batches=3")


def outcome(capsys, *arguments: object) -> tuple[int, str, str]:
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as leaving:  # tyro's
        code = leaving.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_list(capsys):
    code, text, _ = outcome(capsys, "list")
    assert code == 0
    for name in (*jd.policies.names(), *jd.problems.names(), *papers.names()):
        assert re.search(rf"^  (.*, )?{re.escape(name)}[, ]", text, re.MULTILINE), name
    assert max(map(len, text.splitlines())) <= 80
    assert "jaxduel describe NAME" in text
    code, text, _ = outcome(capsys, "list", "papers")
    assert code == 0
    assert "rucb" not in text


def test_version(capsys):
    assert outcome(capsys, "--version") == (0, f"jaxduel {jd.__version__}\n", "")


def test_check(capsys, tmp_path):
    code, text, _ = outcome(capsys, "check", "cyclic")
    assert code == 0
    assert "Condorcet winner" in text
    file = tmp_path / "mine.csv"
    file.write_text("0.5,0.7\n0.3,0.5\n")
    code, text, _ = outcome(capsys, "check", file)
    assert code == 0
    assert "mine.csv: a valid preference matrix, K = 2" in text


def test_bounds(capsys, tmp_path):
    code, text, _ = outcome(capsys, "bounds", "--problem", "gap")
    assert code == 0
    assert text.split() == "\n".join(jd.theory.bounds(jd.problems.load("gap")).lines()).split()
    code, text, _ = outcome(
        capsys, "bounds", "--problem", "cyclic[1,2,4]", "--horizon", "1e5", "--batches", 16
    )
    assert code == 0
    assert "cyclic[1,2,4]: K = 3" in text
    assert "average regret, at T = 100,000, B = 16:\n    PCOMP " in text
    file = tmp_path / "mine.csv"
    file.write_text("0.5,0.7\n0.3,0.5\n")
    code, text, _ = outcome(capsys, "bounds", "--problem", file)
    assert code == 0
    assert "mine.csv: K = 2" in text
    code, text, _ = outcome(
        capsys, "bounds", "--problem", "gaussian[0.6,0.5]", "--horizon", "5e4", "--batches", 3
    )
    assert code == 0
    problem = jd.problems.gaussian([0.6, 0.5], name="gaussian[0.6,0.5]")
    assert text.split() == "\n".join(jd.theory.bounds(problem, 50_000, 3).lines()).split()


def test_a_bound_that_cannot_be_computed_is_one_line_and_code_2(capsys, monkeypatch):
    def unsolved(*_):
        raise jd.SolverError("the lower bound's linear program was not solved: time limit.")

    monkeypatch.setattr(jd.theory, "bounds", unsolved)
    code, text, errors = outcome(capsys, "bounds", "--problem", "gap")
    assert (code, text) == (2, "")
    assert errors == (
        "jaxduel: error: the lower bound's linear program was not solved: time limit.\n"
    )


def test_run_prints_and_writes_what_simulate_returns(capsys, tmp_path):
    file = tmp_path / "r.nc"
    code, text, errors = outcome(
        capsys, *RUN, "--seed", 3, "--regret", "average", "--set", "scale=0.4", "--lanes", 2,
        "--checkpoints", 5, "--no-shuffle", "--out", file,
    )  # fmt: skip
    assert code == 0
    assert "Traceback" not in errors
    policy = jd.policies.make("rmed1", num_arms=6, scale=0.4)
    with xarray.open_dataset(file, engine="h5netcdf") as data:
        result = jd.simulate(
            policy, jd.problems.load("arxiv"), 100, 2, 3, data.checkpoint.values, "average",
            shuffle_arms=False, lanes=2,
        )  # fmt: skip
        np.testing.assert_array_equal(data.regret.values, result.regret)
        np.testing.assert_array_equal(data.plays.values, result.plays)
    assert f"average regret {result.mean[-1]:.6g}, 95 % interval [" in text
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--policy", "rucbb", "--problem", "arxiv", "--horizon", 9), "mean 'rucb'"),
        (("run", "--policy", "rucb", "--problem", "arxv", "--horizon", 9), "mean 'arxiv'"),
        ((*RUN, "--horizon", 0), "--horizon takes a whole number of at least 1"),
        ((*RUN, "--horizon", "3e9"), "horizon must be a whole number from 1"),
        ((*RUN, "--seeds", 0), "--seeds takes a whole number of at least 1"),
        ((*RUN, "--seed", -1), "seed must be from 0"),
        ((*RUN, "--checkpoints", 0), "--checkpoints takes a whole number of at least 1"),
        ((*RUN, "--set", "alpha"), "NAME=VALUE"),
        ((*RUN, "--set", "scale=much"), "takes a number"),
        ((*RUN, "--set", "scael=1"), "mean 'scale'"),
        ((*RUN, "--out", "missing/r.nc"), "no folder"),
        (SCOMP2, "needs the parameter 'num_batches'"),
        ((*SCOMP2, "--set", "num_batches=101"), "at most the horizon"),
        ((*BASE, "--problem", "arxiv"), "base pulls arms that have rewards, and 'arxiv'"),
        ((*BASE, "--problem", "gaussian[0.6]"), "a list of at least two"),
        ((*BASE, "--problem", "gaussian[0.6,high]"), "does not give means"),
        ((*BASE, "--problem", "bernoulli[0.6,1.1]"), "means must be in [0, 1]"),
        ((*BASE, "--problem", "gaussian[1,0]", "--set", "grid=minmax"), "mean 'minimax'"),
        ((*BASE, "--problem", "gaussian[1,0]", "--set", "gamma=0"), "gamma must be positive"),
        ((*BASE, "--problem", "gaussian[1,0]", "--regret", "weak"), "unknown kind of gap"),
        (("check", "missing.csv"), "does not exist"),
        (("bounds", "--problem", "arxv"), "mean 'arxiv'"),
        (("bounds", "--problem", "gap", "--horizon", "1e5"), "the number of batches"),
        (("bounds", "--problem", "gap", "--horizon", 9, "--batches", 10), "2 <= B <= T"),
        (("reproduce", "batched-duel"), "mean 'batched-dueling'"),
        (("reproduce", "batched-dueling", "--figure", "7"), "unknown figure"),
        (("reproduce", "double-thompson", "--figure", "2a"), "mean '2'"),
        (("reproduce", "batched-dueling", "--runs", 0), "--runs takes a whole number"),
        (("reproduce", "batched-dueling", "--out", __file__), "cannot be created"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_code_2(capsys, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, text, errors = outcome(capsys, *arguments)
    assert code == 2
    assert text == ""
    assert errors.startswith("jaxduel: error: ")
    assert errors.count("\n") == 1
    assert message in errors


def test_a_bad_matrix_is_one_line_and_code_2(capsys, tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text("0.5,0.7\n0.4,0.5\n")
    code, _, errors = outcome(capsys, "check", file)
    assert code == 2
    assert "p[0, 1] + p[1, 0]" in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [("nothing",), ("run",), (*RUN, "--horizon", "1.5"), (*RUN, "--regret", "none"), ("list", "x")],
)
def test_wrong_usage_is_code_2(capsys, arguments):
    code, _, errors = outcome(capsys, *arguments)
    assert code == 2
    assert "Traceback" not in errors


@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
def test_reproduce_prints_claims_and_files(capsys, tmp_path, monkeypatch):
    class Small:
        @staticmethod
        def reproduce(**arguments):
            return PAPER.reproduce(horizon=300, **arguments)

    monkeypatch.setattr(papers, "load", lambda name: Small)
    monkeypatch.setattr(stored_curves, "_devices", lambda: jax.local_devices()[:1])
    code, text, errors = outcome(
        capsys, "reproduce", "batched-dueling", "--figure", "2a", "--runs", 3, "--out", tmp_path
    )
    assert code == 0
    assert "six rankers: RMED1" in text
    assert "as we increase the number of batches" in text
    assert f"written to {tmp_path}: figure-2a.png, figure-2a.pdf, " in " ".join(text.split())
    assert "Not measured here: 6 of 8 claims (2, 3, 4, 5, 7, 8)" in text
    assert len(text.partition("written to")[0].splitlines()) <= 22  # a path may take some lines
    assert max(map(len, text.splitlines())) <= 80
    assert "figure 2a" not in errors  # no terminal, and less than a minute


def test_an_interrupted_reproduction_is_code_130(capsys, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("jaxduel.experiments.stored_curves.run_tasks", interrupted)
    code, text, errors = outcome(
        capsys, "reproduce", "batched-dueling", "--figure", "1a", "--out", tmp_path
    )
    assert code == 130
    assert "what had finished is kept" in errors
    assert f"written to {tmp_path}: final-regret.csv, claims.csv, claims.txt" in " ".join(
        text.split()
    )


def test_an_interrupted_run_is_code_130(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(jd, "simulate", interrupted)
    code, _, errors = outcome(capsys, *RUN)
    assert code == 130
    assert "Traceback" not in errors


def test_the_entry_point_is_installed():
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="jaxduel")
    assert entry.value == "jaxduel.__main__:main"
    entry.load()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
     ({"JAX_NUM_CPU_DEVICES": "3"}, 3),
     ({"XLA_FLAGS": "--xla_force_host_platform_device_count=3"}, 3)],
)  # fmt: skip
def test_all_cores_unless_the_user_chose(environment, expected):
    code = (
        "import jax; from jaxduel.simulation.devices import use_all_cores; use_all_cores();"
        "print(len(jax.local_devices(backend='cpu'))); use_all_cores()"
    )
    kept = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "JAX_NUM_CPU_DEVICES")}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**kept, **environment}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert int(done.stdout) == expected


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


def test_the_option_that_keeps_no_programs_is_one_of_all_commands(capsys):
    assert outcome(capsys, "--no-cache", "--version") == (0, f"jaxduel {jd.__version__}\n", "")
    assert outcome(capsys, "list", "papers", "--no-cache")[0] == 0
    code, _, error = outcome(capsys, "run", "--no-cahce")
    assert code == 2
    assert "did you mean '--no-cache'?" in error
