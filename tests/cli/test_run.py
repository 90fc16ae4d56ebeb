"""`jaxduel run`: what it prints, writes and keeps."""

import csv
import os
import subprocess
import sys

import numpy as np
import pytest
import xarray

import jaxduel as jd
from jaxduel.studies.output import named_after
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


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ("piecewise[cyclic,101,gap[1,2,3,4]]", "changes after 101, beyond the horizon 100"),
        ("piecewise[gaussian[1,0],101,gaussian[0,1]]", "changes after 101, beyond the horizon"),
        ("piecewise[gaussian[1,0],50,bernoulli[0,1]]", "its instances must be of one kind"),
        ("piecewise[gaussian[1,0],50,cyclic[1,2]]", "'cyclic[1,2]' compares arms."),
        ("piecewise[gaussian[1,0],50,gaussian[0,1,2]]", "of as many arms, not of 2, 3"),
    ],
)
def test_changes_that_make_no_sense_are_one_line_and_code_2(capsys, problem, message):
    policy = "rucb" if "101,gap" in problem else "ucb1"
    code, text, errors = outcome(
        capsys, "run", "--policy", policy, "--problem", problem, "--horizon", 100
    )
    assert (code, text, errors.count("\n")) == (2, "", 1)
    assert message in errors


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


@pytest.mark.thorough
def test_a_file_of_a_run_is_shown_and_drawn_and_not_lost(capsys, tmp_path, monkeypatch):
    file, other = tmp_path / "r.nc", tmp_path / "s.nc"
    arguments = (*RUN, "--lanes", 2, "--out")
    code, printed, _ = outcome(capsys, *arguments, file)
    assert code == 0
    assert outcome(capsys, *arguments, file)[0] == 0
    code, text, _ = outcome(capsys, "show", file)
    assert code == 0
    assert text.startswith(printed.partition("written")[0])
    assert "made by: jaxduel run --policy rmed1 --problem arxiv --horizon 100 --seeds 2" in text
    code, changed, _ = outcome(capsys, *arguments, other, "--set", "scale=0.4", "--no-shuffle")
    assert code == 0
    assert "rmed1[scale=0.4] on arxiv: 2 runs of T = 100 comparisons, shuffle_arms=false" in changed
    assert jd.load_result(other).made_by["command"].count("--no-shuffle") == 1

    code, text, _ = outcome(capsys, "plot", file, other)
    assert code == 0
    names = [f"curves-r,s.{suffix}" for suffix in ("png", "pdf", "csv")]
    assert text.splitlines() == [str(tmp_path / name) for name in names]
    with (tmp_path / names[-1]).open() as table:
        rows = list(csv.DictReader(table))
    told = {tuple(row[name] for name in ("file", "label", "policy")) for row in rows}
    assert told == {
        (str(file), "RMED1", "rmed1"),
        (
            str(other),
            "RMED1, scale = 0.4, shuffle_arms = false",
            "rmed1[scale=0.4,shuffle_arms=false]",
        ),
    }
    assert {(row["problem"], row["definition"], row["horizon"]) for row in rows} == {
        ("arxiv", "copeland", "100")
    }
    code, text, _ = outcome(capsys, "plot", file, "--out", tmp_path / "figures")
    assert (tmp_path / "figures" / "curves-r.png").stat().st_size > 0

    toy = tmp_path / "toy.nc"
    cyclic = ("cyclic" if word == "arxiv" else word for word in arguments)
    assert outcome(capsys, *cyclic, toy)[0] == 0
    assert outcome(capsys, "plot", file, toy)[0] == 0
    with (tmp_path / "curves-r,toy.csv").open() as table:
        labels = {row["label"] for row in csv.DictReader(table)}
    assert labels == {"RMED1"}  # as in the legend: each problem has axes of its own

    before = file.read_bytes()
    with monkeypatch.context() as context:
        context.setattr(jd, "simulate", None)  # refused before anything is simulated
        code, _, error = outcome(capsys, *arguments, file, "--set", "scale=0.4")
        assert code == 2
        assert "another request" in error
        code, _, error = outcome(capsys, *arguments, tmp_path / "r.txt")
        assert code == 2
        assert "must end in .nc" in error
    assert file.read_bytes() == before
    assert outcome(capsys, *arguments, file, "--set", "scale=0.4", "--force")[0] == 0
    assert jd.load_result(file).variant == "rmed1[scale=0.4]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "FILE", "--problem", "arxiv"), "--problem is for sweeps"),
        (("show", "FILE", "--columns", "all"), "--columns is for sweeps"),
        (("show", "FILE"), "cannot be read as NetCDF"),
        (("plot", "FILE", "--kind", "heatmap"), "--kind is for sweeps"),
        (("plot", "FILE", "missing.nc"), "files of `jaxduel run --out` alone"),
    ],
)
def test_what_files_of_runs_cannot_do_is_said(capsys, tmp_path, arguments, message):
    file = tmp_path / "r.nc"
    file.write_text("notes")
    code, _, error = outcome(capsys, *(file if word == "FILE" else word for word in arguments))
    assert code == 2
    assert message in error


def test_names_of_files_tell_choices_apart():
    assert named_after("curves-t", problem=["arxiv"], policy=()) == "curves-t-problem=arxiv"
    odd = [named_after("curves-t", problem=[name]) for name in ("a/b", "a b", "c" * 200, "c" * 201)]
    assert len(set(odd)) == 4
    assert all("/" not in name and len(name) < 120 for name in odd)


def test_a_folder_is_no_result(tmp_path):
    with pytest.raises(jd.InputError, match=r"is a folder; .* by jaxduel\.open_sweep"):
        jd.load_result(tmp_path)


@pytest.mark.filterwarnings("ignore:.*has no digest")
def test_a_file_whose_provenance_is_empty_is_shown(capsys, tmp_path):
    policy, problem = jd.policies.make("rmed1", num_arms=6), jd.problems.load("arxiv")
    data = jd.simulate(policy, problem, 100, 2).to_xarray()
    data.assign_attrs(made_by="{}").to_netcdf(tmp_path / "r.nc", engine="h5netcdf")
    code, text, _ = outcome(capsys, "show", tmp_path / "r.nc")
    assert code == 0
    assert text.endswith(
        "made by: a script\nwith unknown versions; code unknown, seed 0, unknown lanes\n"
    )


@pytest.mark.usefixtures("quick_compilation")
def test_a_run_on_an_instance_that_changes_replaces_its_own_file(capsys, tmp_path):
    arguments = ["run", "--policy", "rucb", "--problem", "piecewise[cyclic,50,cyclic]"]
    arguments += ["--horizon", "100", "--seeds", "2", "--out", tmp_path / "r.nc"]
    for more in ([], [], ["--checkpoints", "3", "--force"], ["--checkpoints", "3"]):
        assert outcome(capsys, *arguments, *more)[0] == 0
    assert jd.load_result(tmp_path / "r.nc").checkpoints.tolist() == [1, 10, 50, 100]
