"""Names that are not ASCII, or not UTF-8: they work, or are refused before anything is computed."""

import os
import subprocess
import sys

import pytest

import jaxduel as jd
from tests.cli.command_line import RUN, outcome

NO_UTF8 = os.fsdecode(b"x\xff")
"""A name of bytes that are not UTF-8, as Python has it."""
MATRIX = "0.5,0.7\n0.3,0.5\n"

pytestmark = pytest.mark.usefixtures("quick_compilation")


def on_problem(name):
    return [str(name) if word == "arxiv" else word for word in RUN]


PROGRAM = """
import sys
import jax
from jaxduel.cli import main
jax.config.update("jax_disable_most_optimizations", True)
sys.exit(any(main(command.split(",")) for command in sys.argv[1:]))
"""
COMMANDS = (
    "run,--policy,uniform,--problem,ué.csv,--horizon,9,--seeds,2,--lanes,2,--out,é.nc",
    "show,é.nc",
    "plot,é.nc",
)


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        pytest.param({"LC_ALL": "POSIX"}, marks=pytest.mark.thorough),
        pytest.param({"PYTHONIOENCODING": "ascii"}, marks=pytest.mark.thorough),
    ],
    ids=["ascii alone", "posix", "ascii output"],
)
def test_names_that_are_not_ascii_work_in_any_locale(tmp_path, environment):
    """A matrix and a result in files of such names: run, shown and drawn."""
    (tmp_path / "ué.csv").write_text(MATRIX)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *COMMANDS], cwd=tmp_path, env={**os.environ, **environment},
        capture_output=True, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    printed = done.stdout.decode()
    assert printed.count("2 runs of T = 9 comparisons") == 2
    assert jd.load_result(tmp_path / "é.nc").problem == "ué.csv"
    files = [tmp_path / line for line in printed.splitlines()[-3:]]
    assert sorted(file.suffix for file in files if file.is_file()) == [".csv", ".pdf", ".png"]


def test_a_problem_whose_name_is_not_utf8_is_refused_before_it_is_simulated(
    capsys, tmp_path, monkeypatch
):
    path = tmp_path / f"{NO_UTF8}.csv"
    path.write_text(MATRIX)
    monkeypatch.setattr(jd, "simulate", None)
    for command in (on_problem(path), ["check", path], on_problem(f"{path}[2,1]")):
        code, text, error = outcome(capsys, *command)
        assert (code, text) == (2, "")
        assert error.endswith(".csv' is not UTF-8: rename the file.\n")
        assert error.count("\n") == 1


def test_outputs_whose_names_are_not_utf8_are_written_shown_and_drawn(capsys, tmp_path):
    file, other = tmp_path / f"{NO_UTF8}.nc", tmp_path / f"{NO_UTF8}y.nc"
    for one in (file, other):
        assert outcome(capsys, *RUN, "--lanes", 2, "--out", one)[0] == 0
    assert outcome(capsys, "show", file)[0] == 0
    assert outcome(capsys, "plot", file, other, "--out", tmp_path / NO_UTF8)[0] == 0
    table = next((tmp_path / NO_UTF8).glob("*.csv")).read_text(encoding="utf-8")
    assert "x\\udcff.nc" in table


@pytest.mark.thorough
def test_a_sweep_into_a_folder_whose_name_is_not_utf8(capsys, tmp_path):
    grid, folder = tmp_path / f"{NO_UTF8}.toml", tmp_path / NO_UTF8
    grid.write_text(
        'seeds = 2\nhorizons = [9]\n[[policies]]\nname = "uniform"\n[[problems]]\nname = "gap"\n'
    )
    for command in ("sweep", "show", "plot", "report", "export"):
        words = (command, grid, "--out", folder) if command == "sweep" else (command, folder)
        code, text, errors = outcome(capsys, *words)
        assert (code, errors) == (0, ""), command
        assert text
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "Sweep x\\udcff" in page


@pytest.mark.parametrize("word", [NO_UTF8, "\udcff", "é"])
@pytest.mark.parametrize(
    "command",
    [
        ["describe", "NAME"], ["reproduce", "NAME"], ["show", "NAME"], ["plot", "NAME"],
        ["run", "--policy", "NAME", "--problem", "gap", "--horizon", "9"],
        [*RUN, "--set", "NAME=1"], ["fit", "NAME"], ["sweep", "NAME"], ["NAME"],
    ],
    ids=lambda command: command[0],
)  # fmt: skip
def test_unknown_names_are_one_sentence(capsys, command, word):
    code, text, error = outcome(capsys, *(token.replace("NAME", word) for token in command))
    assert (code, text, error.count("\n")) == (2, "", 1)
