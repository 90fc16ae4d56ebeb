"""`list`, `describe`, `check` and `bounds` as a new user reads them: 24 lines of 80 letters."""

import shutil
import subprocess

import pytest

import jaxduel as jd
from jaxduel.cli import COMMANDS
from jaxduel.cli.lines import in_one_line, wrapped
from jaxduel.experiments.papers import TITLES
from tests.test_cli import outcome

SHIPPED = [entry.name for entry in jd.problems.entries() if not entry.downloaded]
FETCHED = [entry.name for entry in jd.problems.entries() if entry.downloaded]
ARMS = ["gaussian[0.6,0.5]", "bernoulli[0.6,0.5,0.4]"]


def screen(capsys, *arguments):
    """What a command prints, which fits a screen."""
    code, text, errors = outcome(capsys, *arguments)
    assert (code, errors) == (0, "")
    lines = text.splitlines()
    assert len(lines) <= 24, text
    assert max(map(len, lines)) <= 80, text
    return lines


@pytest.mark.parametrize("name", jd.policies.names())
def test_every_policy_fits_a_screen(capsys, name):
    lines = screen(capsys, "describe", name)
    assert lines[0].startswith(f"{name}: ")
    assert any("jaxduel bounds" in line for line in lines) == bool(jd.theory.proved(name))


def described(capsys, name):
    entry = {entry.name: entry for entry in jd.problems.entries()}.get(name)
    lines = screen(capsys, "describe", name)
    assert lines[0].startswith(f"{name}: ")
    assert entry is None or any(entry.source in line for line in lines)
    screen(capsys, "check", name)


@pytest.mark.parametrize("name", [*SHIPPED, *ARMS, "arxiv[1,3,5]"])
def test_every_problem_fits_a_screen(capsys, name):
    described(capsys, name)


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", FETCHED)
def test_every_downloaded_problem_fits_a_screen(capsys, name):
    described(capsys, name)


@pytest.mark.parametrize("name", ["gap", "arxiv", "arithmetic", *ARMS])
@pytest.mark.parametrize("at", [(), ("--horizon", "1e5", "--batches", "16")])
def test_bounds_fit_a_screen_and_say_what_to_ask_for(capsys, name, at):
    lines = screen(capsys, "bounds", "--problem", name, *at)
    assert any("add --horizon T --batches B" in line for line in lines) == (not at)


@pytest.mark.parametrize("name", TITLES)
def test_papers_are_described_by_their_figures(capsys, name):
    from jaxduel.experiments import papers

    code, text, _ = outcome(capsys, "describe", name)
    assert code == 0
    figures = [line.split()[0] for line in text.splitlines() if line.startswith("    ")]
    assert set(papers.load(name).FIGURES) <= set(figures)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dst", "unknown policy, problem or paper 'dst': did you mean 'dts'? All are in"),
        ("arxv", "did you mean 'arxiv'"),
        ("qqqqqq", "unknown policy, problem or paper 'qqqqqq': they are in jaxduel list."),
        ("missing.csv", "does not exist"),
        ("arxiv[9]", "arxiv"),
    ],
)
def test_unknown_names_are_one_line_and_code_2(capsys, name, message):
    code, text, errors = outcome(capsys, "describe", name)
    assert (code, text, errors.count("\n")) == (2, "", 1)
    assert message in errors


def test_long_lines_go_on_under_their_last_column():
    assert wrapped("  label  " + "word " * 20) == [
        "  label  " + " ".join(["word"] * 14),
        "         " + " ".join(["word"] * 6),
    ]
    assert wrapped("title " + "word " * 17)[1] == "    word word"
    assert wrapped("") == [""]
    row = "  ".join(["number"] * 20)
    assert wrapped(row) == [row]
    assert in_one_line("word, " * 20) == "word, " * 11 + "word ..."


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


def test_no_arguments_are_a_question_for_help(capsys):
    assert outcome(capsys) == outcome(capsys, "--help") == outcome(capsys, "-h")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_shells_complete_commands_and_options(capsys, tmp_path):
    code, script, _ = outcome(capsys, "--tyro-print-completion", "bash")
    assert not code
    (tmp_path / "jaxduel").write_text(script)
    ask = "COMP_WORDS=({}); COMP_CWORD={}; _tyro_jaxduel; echo ${{COMPREPLY[*]}}"
    questions = [ask.format("jaxduel re", 1), ask.format("jaxduel run --po", 2)]
    program = "; ".join([f"source {tmp_path / 'jaxduel'}", *questions])
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["reproduce", "--policy"]
