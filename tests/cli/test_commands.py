"""The command line: help, completion, options of all commands, bad input in one line."""

import errno
import importlib.metadata
import io
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import jaxduel as jd
from jaxduel.cli import COMMANDS, commands, main
from tests.cli.command_line import RUN, SCOMP2, outcome


def test_version(capsys):
    assert outcome(capsys, "--version") == (0, f"jaxduel {jd.__version__}\n", "")


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_fits_a_screen_of_forty_lines(capsys, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, text, errors = outcome(capsys, *([command] if command else []), "--help")
    assert (code or 0, errors) == (0, "")
    lines = text.splitlines()
    assert len(lines) <= (40 if command else 24)
    assert max(map(len, lines)) <= 80
    assert "default: None" not in text
    assert "default: )" not in text
    assert command or all(f"\n  {name} " in text for name in COMMANDS)


@pytest.mark.parametrize("columns", ["1", "2", "5", "39"])
def test_help_is_laid_out_for_forty_columns_at_least(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", "40")
    expected = outcome(capsys, "run", "--help")[1]
    monkeypatch.setenv("COLUMNS", columns)
    assert outcome(capsys, "run", "--help")[1] == expected


def test_no_arguments_are_a_question_for_help(capsys):
    assert outcome(capsys) == outcome(capsys, "--help") == outcome(capsys, "-h")


def test_entries_of_the_help_are_not_broken_where_the_docstring_is(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    text = outcome(capsys, "sweep", "--help")[1]
    assert "for N processes on one folder of a file system that has none." in text
    assert "what is left is said, and the exit code is 0." in text


def test_names_that_the_output_cannot_encode_are_escaped(monkeypatch, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\nzoë,bob\nbob,zoë\n", encoding="utf-8")
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, "ascii"))
    assert main(["fit", str(log)]) == 0
    assert b"zo\\xeb" in printed.getvalue()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["--version"], [], ["list"]])
def test_output_that_cannot_be_written_gets_a_sentence(arguments, monkeypatch, capsys):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(arguments) == 2
    error = "jaxduel: error: the output cannot be written: No space left on device.\n"
    assert capsys.readouterr().err == error


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_file_that_the_system_refuses_gets_a_sentence(monkeypatch, capsys):
    def refused(_):
        raise PermissionError(13, "Permission denied", "/some/file")

    monkeypatch.setattr(commands, "_carry_out", refused)
    assert main(["list"]) == 2
    error = "jaxduel: error: '/some/file' cannot be read or written: Permission denied.\n"
    assert capsys.readouterr().err == error

    def failed(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(commands, "_carry_out", failed)
    assert main(["list"]) == 2
    error = "jaxduel: error: a file cannot be read or written: Input/output error.\n"
    assert capsys.readouterr().err == error


def test_shells_complete_commands_and_options(capsys, tmp_path):
    code, script, _ = outcome(capsys, "--tyro-print-completion", "bash")
    assert not code
    (tmp_path / "jaxduel").write_text(script)
    ask = "COMP_WORDS=({}); COMP_CWORD={}; _tyro_jaxduel; echo ${{COMPREPLY[*]}}"
    questions = [ask.format("jaxduel repr", 1), ask.format("jaxduel run --po", 2)]
    program = "; ".join([f"source {tmp_path / 'jaxduel'}", *questions])
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["reproduce", "--policy"]


def test_the_entry_point_is_installed():
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="jaxduel")
    assert entry.value == "jaxduel.__main__:main"
    entry.load()


def test_the_option_that_keeps_no_programs_is_one_of_all_commands(capsys):
    assert outcome(capsys, "--no-cache", "--version") == (0, f"jaxduel {jd.__version__}\n", "")
    assert outcome(capsys, "list", "papers", "--no-cache")[0] == 0
    code, _, error = outcome(capsys, "run", "--no-cahce")
    assert code == 2
    assert "did you mean '--no-cache'?" in error


CYCLE = ("run", "--policy", "rucb", "--problem", "noncondorcet-cyclic", "--horizon", "1e2")
BASE = ("run", "--policy", "base", "--horizon", "1e2", "--set", "num_batches=3")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--policy", "rucbb", "--problem", "arxiv", "--horizon", 9), "mean 'rucb'"),
        (("run", "--policy", "rucb", "--problem", "arxv", "--horizon", 9), "mean 'arxiv'"),
        ((*RUN, "--policy=dts"), "--policy is given twice, and the first would be ignored"),
        ((*RUN[:5], "--horizon", 0), "--horizon takes a whole number of at least 1"),
        ((*RUN[:5], "--horizon", "3e9"), "horizon must be a whole number from 1"),
        ((*RUN[:7], "--seeds", 0), "--seeds takes a whole number of at least 1"),
        ((*RUN, "--seed", -1), "seed must be from 0"),
        ((*RUN, "--checkpoints", 0), "--checkpoints takes a whole number of at least 1"),
        ((*RUN, "--out", ""), "--out is empty: give a value"),
        ((*RUN, "--out="), "--out is empty: give a value"),
        (("fit", ""), "an argument is empty"),
        ((*RUN, "--set", "alpha"), "NAME=VALUE"),
        ((*RUN, "--set", "scale=much"), "takes a number"),
        ((*RUN, "--set", "scael=1"), "mean 'scale'"),
        ((*RUN, "--out", "missing/r.nc"), "no folder"),
        (SCOMP2, "needs the parameter 'num_batches'"),
        ((*SCOMP2, "--set", "num_batches=101"), "at most the horizon"),
        ((*BASE, "--problem", "gaussian[.6,.5]", "--set", "commit=maybe"), "takes true or false"),
        ((*BASE, "--problem", "arxiv"), "base pulls arms that have rewards, and 'arxiv'"),
        ((*BASE, "--problem", "gaussian[0.6]"), "a list of at least two"),
        ((*BASE, "--problem", "gaussian[0.6,high]"), "does not give means"),
        ((*BASE, "--problem", "bernoulli[0.6,1.1]"), "means must be in [0, 1]"),
        ((*BASE, "--problem", "gaussian[1,0]", "--set", "grid=minmax"), "mean 'minimax'"),
        ((*BASE, "--problem", "gaussian[1,0]", "--set", "gamma=0"), "gamma must be positive"),
        ((*BASE, "--problem", "gaussian[1,0]", "--regret", "weak"), "regret of arms with rewards"),
        ((*CYCLE, "--regret", "binary weak"), "no Condorcet winner, which 'binary weak' gaps need"),
        (("check", "missing.csv"), "does not exist"),
        (("bounds", "--problem", "arxv"), "mean 'arxiv'"),
        (("bounds", "--problem", "gap", "--horizon", "1e5"), "the number of batches"),
        (("bounds", "--problem", "gap", "--horizon", 9, "--batches", 10), "2 <= B <= T"),
        (("reproduce", "batched-duel"), "mean 'batched-dueling'"),
        (("reproduce", "batched-dueling", "--figure", "7"), "unknown figure"),
        (("reproduce", "double-thompson", "--figure", "2a"), "mean '2'"),
        (("reproduce", "batched-dueling", "--runs", 0), "--runs takes a whole number"),
        (("reproduce", "batched-dueling", "--decide", "-1"), "--decide takes a number of hours"),
        (("reproduce", "batched-dueling", "--decide", "nan"), "--decide takes"),
        (("reproduce", "all", "--figure", "1"), "--figure is of one paper"),
        (("reproduce", "all", "--out", __file__), "cannot be created"),
        (("report", "missing"), "holds neither a sweep"),
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


@pytest.mark.parametrize(
    "arguments",
    [
        ("nothing",),
        ("run",),
        (*RUN[:5], "--horizon", "1.5"),
        (*RUN, "--regret", "none"),
        ("list", "x"),
    ],
)
def test_wrong_usage_is_code_2(capsys, arguments):
    code, _, errors = outcome(capsys, *arguments)
    assert code == 2
    assert "Traceback" not in errors


def test_a_terminal_that_closes_before_its_signal_comes_is_no_error(monkeypatch):
    def closed(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(commands, "say", closed)
    monkeypatch.setattr(commands.screen, "say", closed)
    assert commands.main([]) == commands.CLOSED == 128 + signal.SIGHUP
