"""`jaxduel new`: the study that it writes, the commands of the study, and refusals."""

import re
import runpy
import shlex
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import jaxduel as jd
from jaxduel.studies.sweep import read_grid
from jaxduel.studies.sweep.reading.compare import compare
from tests.cli.command_line import outcome

FILES = ["Makefile", "analyse.py", "grid.toml", "preferences.csv"]


@pytest.fixture
def study(capsys, tmp_path):
    """The folder of a new study."""
    folder = tmp_path / "my study"
    code, text, errors = outcome(capsys, "new", folder)
    assert (code, errors) == (0, "")
    assert text.splitlines() == [
        f"written to {folder}: {', '.join(FILES)}",
        f"to run the study: make -C '{folder}'",
    ]
    return folder


def test_a_new_study_has_a_grid_that_can_be_read_and_a_matrix_with_names(study):
    assert sorted(path.name for path in study.iterdir()) == FILES
    grid = read_grid(study / "grid.toml")
    assert (grid.num_seeds, grid.horizons) == (100, (100_000,))
    assert [entry.name for entry in grid.policies] == ["dts", "rmed1", "rucb"]
    assert [entry.generator for entry in grid.problems] == [None, "btl"]
    problem = jd.problems.load(study / "preferences.csv")
    assert problem.arms == ("ada", "bea", "cyd", "dan", "eve")
    assert problem.condorcet_winner == 0


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.usefixtures("quick_compilation")
def test_all_commands_of_a_new_study_run(capsys, study, monkeypatch):
    """In a small size; the analysis prints the numbers of `show` and of `compare`."""
    grid = study / "grid.toml"
    small = grid.read_text().replace("seeds = 100 ", "seeds = 3 ").replace("[1e5]", "[200]")
    grid.write_text(small)
    monkeypatch.chdir(study)
    listed = subprocess.run(["make", "-n"], capture_output=True, text=True, check=True).stdout
    said = {}
    for program, *words in map(shlex.split, listed.splitlines()):
        if program == "python":
            runpy.run_path(*words)
            said["analyse"] = capsys.readouterr().out
        else:
            assert program == "jaxduel"
            code, said[words[0]], _ = outcome(capsys, *words)
            assert code == 0
    assert list(said) == ["check", "sweep", "show", "compare", "analyse", "report"]
    assert "finished: 16 cells of 3 seeds each" in said["show"]

    data = jd.open_sweep("results")
    means = re.findall(r"^ *(\S+csv) +rmed1 +3 +(\S+)", said["analyse"], re.MULTILINE)
    mean = float(data.final_regret.sel(policy="rmed1", problem="preferences.csv").mean())
    assert means == [("preferences.csv", f"{mean:.1f}")]
    found = compare(data, "dts", "rmed1").differences
    assert [
        f"dts minus rmed1 on {one.problem}: {one.difference:.1f} "
        f"[{one.lower95:.1f}, {one.upper95:.1f}], {one.verdict}"
        for one in found.itertuples()
    ] == [line for line in said["analyse"].splitlines() if " minus " in line]
    written = pd.read_csv("figures/regret.csv")
    np.testing.assert_allclose(written["mean"], data.to_frame()["mean"], rtol=1e-12)
    assert (study / "figures" / "regret.png").read_bytes()[:4] == b"\x89PNG"
    assert (study / "results" / "report" / "index.html").is_file()


def test_a_folder_with_files_is_refused_and_left_as_it_is(capsys, tmp_path):
    (tmp_path / "grid.toml").write_text("mine")
    code, text, errors = outcome(capsys, "new", tmp_path)
    assert (code, text) == (2, "")
    assert errors == (
        f"jaxduel: error: the folder '{tmp_path}' is not empty: a study takes a new or an empty "
        "folder.\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["grid.toml"]
    assert (tmp_path / "grid.toml").read_text() == "mine"


def test_an_empty_folder_takes_a_study_and_a_file_does_not(capsys, tmp_path):
    (tmp_path / "empty").mkdir()
    assert outcome(capsys, "new", tmp_path / "empty")[0] == 0
    file = tmp_path / "empty" / "Makefile"
    code, text, errors = outcome(capsys, "new", file)
    assert (code, text) == (2, "")
    assert f"the output folder '{file}' cannot be created: File exists." in errors
