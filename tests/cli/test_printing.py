"""Names of other people's files, arms and problems do not act on the terminal."""

import ast
import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import jaxduel
from jaxduel.cli import COMMANDS
from jaxduel.cli.lines import pipe
from jaxduel.errors import printable
from tests.cli.command_line import outcome
from tests.cli.test_bad_input import MATRIX

ACTING = "\x1b]0;title\x07\x9b31m\n\r\u202e\u2066\u2028\u200b"
NAME = f"a{ACTING}b"
ARM = "ann\u202e\u2066\u200b"
"""A name of an arm: those with control characters are refused."""
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]")
SMALL = ("--horizon", "60", "--seeds", "2")
PRINTS_NO_NAMES = {"list", "reproduce", "worst-case"}
"""Commands that print names of the catalogue and of the output alone."""
GRID = """
seeds = 2
horizons = [60]
[[policies]]
name = ["rucb", "dts"]
[[problems]]
file = {}
"""


class Terminal(io.TextIOWrapper):
    """Standard output that is a terminal."""

    def isatty(self):
        return True


def commands(matrix, log, grid, folder):
    """Commands that print names, in an order in which each finds what it reads."""
    sweep, run = folder / f"sweep{ACTING}", folder / f"run{ACTING}.nc"
    return [
        ("check", matrix),
        ("describe", matrix),
        ("bounds", "--problem", matrix),
        ("run", "--policy", "rucb", "--problem", matrix, *SMALL, "--out", run),
        ("show", run),
        ("plot", run),
        ("export", run),
        ("export", run, "--out", "-"),
        ("sweep", grid, "--dry-run"),
        ("sweep", grid, "--out", sweep),
        ("sweep", "--status", sweep),
        ("show", sweep, "--csv", folder / f"t{ACTING}.csv"),
        ("compare", sweep, "--policies", "rucb", "dts"),
        ("plot", sweep),
        ("export", sweep),
        ("report", sweep),
        ("fit", log, "--out", folder / f"f{ACTING}.csv", "--matrix", folder / f"m{ACTING}.csv"),
        ("plan", log, "--policies", "uniform", "--max-votes", "20", "--draws", "2", "--seeds", "2",
         "--out", folder / f"plan{ACTING}"),
        ("next", log, "--num", "2"),
        ("new", folder / f"study{ACTING}"),
    ]  # fmt: skip


def inputs(folder):
    """A matrix, a log and a grid whose names would act on a terminal."""
    matrix, log, grid = (folder / f"{NAME}.{kind}" for kind in ("csv", "log", "toml"))
    np.savetxt(matrix, MATRIX, delimiter=",")
    log.write_text(f"winner,loser\n{ARM},bob\nbob,cyd\ncyd,{ARM}\n{ARM},bob\n")
    quoted = "".join(f"\\u{ord(letter):04x}" for letter in matrix.name)
    grid.write_text(GRID.format(f'"{quoted}"'))
    return matrix, log, grid


def require_safe(text):
    assert UNSAFE.findall(text.replace("\t", "")) == []


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
def test_no_command_prints_what_acts(capsys, monkeypatch, tmp_path):
    every = commands(*inputs(tmp_path), tmp_path)
    assert {name for name, *_ in every} | PRINTS_NO_NAMES == {*COMMANDS}
    for command in every:
        with monkeypatch.context() as patch:
            terminal = Terminal(io.BytesIO(), "utf-8", write_through=True)
            if command[0] in ("next", "export"):  # written raw to what is no terminal
                patch.setattr(sys, "stdout", terminal)
            code, printed, errors = outcome(capsys, *command)
        assert (code, command, errors if code else "") == (0, command, "")
        printed += terminal.buffer.getvalue().decode()
        require_safe(printed + errors)
        if command[0] not in ("plan", "plot", "compare"):
            assert printable(ARM if command[0] == "next" else ACTING) in printed
        assert "\n\\r" not in printed  # what follows the end of a line in the names


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_error_prints_what_acts(name, capsys):
    options = {"run": ["--policy", NAME, "--problem", NAME, *SMALL], "list": [NAME]}
    options["worst-case"] = ["--policy", NAME, "--family", "btl", "--num-arms", "3", *SMALL[:2]]
    options["bounds"], options["compare"] = ["--problem", NAME], [NAME, "--policies", "a", NAME]
    options["new"] = [f"{__file__}/{NAME}"]  # a file is no folder
    code, printed, errors = outcome(capsys, name, *options.get(name, [NAME]))
    assert (code, printed) == (2, "")
    require_safe(errors)
    assert errors.startswith("jaxduel: error: ")
    assert errors.count("\n") == 1
    assert r"a\x1b]0;title\x07\x9b31m" in errors


def test_data_for_other_programs_are_printed_as_they_are_but_on_a_terminal(monkeypatch):
    content = b'left,right\n"a\n\x1b[1m",b\n'
    for kind, shown in ((Terminal, b'left,right\n"a\\n\\x1b[1m",b\n'), (io.TextIOWrapper, content)):
        output = kind(io.BytesIO(), "utf-8", write_through=True)
        monkeypatch.setattr(sys, "stdout", output)
        pipe(content)
        assert output.buffer.getvalue() == shown
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    pipe(content)
    assert sys.stdout.getvalue().encode() == content


def test_no_parquet_is_written_to_a_terminal(capsys, monkeypatch, tmp_path):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(sys, "stdout", Terminal(io.BytesIO()))
    code, _, errors = outcome(capsys, "export", tmp_path, "--to", "parquet", "--out", "-")
    assert code == 2
    assert "Parquet is not for terminals" in errors


def test_all_that_is_printed_goes_through_one_function():
    """Nothing in the package writes to the terminal but the modules that make lines safe; examples
    are not of the package."""
    found = set()
    for path in Path(jaxduel.__file__).parent.rglob("*.py"):
        if "examples" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in ("print", "os.write") or re.search(r"std(out|err).*\.write", called):
                    found.add(path.name)
    assert found == {"lines.py", "screen.py", "interrupts.py"}
