"""`list`, `describe`, `check` and `bounds`, also as a new user reads them: 24 lines of 80."""

import re

import pytest

import jaxduel as jd
from jaxduel.studies import papers
from jaxduel.studies.papers import TITLES
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.pictures import figure_of
from tests.cli.command_line import outcome


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


def test_check(capsys, tmp_path):
    code, text, _ = outcome(capsys, "check", "cyclic")
    assert code == 0
    assert "Condorcet winner" in text
    file = tmp_path / "mine.csv"
    file.write_text("0.5,0.7\n0.3,0.5\n")
    code, text, _ = outcome(capsys, "check", file)
    assert code == 0
    assert "mine.csv: a valid preference matrix, K = 2" in text


def test_check_names_the_arms_of_a_table(capsys, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(";ada;bob\nada;;0,6\nbob;0,4;\n")
    code, text, errors = outcome(capsys, "check", file)
    assert code == 0
    assert text.startswith("table.csv: a valid preference matrix, K = 2\n")
    assert "  Condorcet winner  ada, by at least 0.1\n" in text
    assert errors == (
        f"jaxduel: warning: file '{file}' has blanks on its diagonal, which are read as 1/2.\n"
    )
    code, text, _ = outcome(capsys, "bounds", "--problem", file)
    assert code == 0
    assert text.startswith("table.csv: K = 2, C = 1 Copeland winner (ada), L_1 = 0")


def test_a_bad_matrix_is_one_line_and_code_2(capsys, tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text("0.5,0.7\n0.4,0.5\n")
    code, _, errors = outcome(capsys, "check", file)
    assert code == 2
    assert "p[0, 1] + p[1, 0]" in errors
    assert errors.count("\n") == 1


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


SHIPPED = [entry.name for entry in jd.problems.entries() if not entry.downloaded]
FETCHED = [entry.name for entry in jd.problems.entries() if entry.downloaded]
ARMS = ["gaussian[0.6,0.5]", "bernoulli[0.6,0.5,0.4]"]
PIECES = "piecewise[gap,1e4,strong-borda]"


def test_each_stretch_is_reported(capsys):
    for command in ("describe", "check"):
        code, text, errors = outcome(capsys, command, PIECES)
        assert (code, errors) == (0, "")
        assert f"{PIECES}, stretch 2: a valid preference matrix, K = 5" in text
    code, _, errors = outcome(capsys, "bounds", "--problem", PIECES)
    assert code == 2
    assert "changes with time, and an instance that does not is needed" in errors


def test_each_stretch_of_arms_with_rewards_is_reported(capsys):
    name = "piecewise[bernoulli[0.9,0.1],1e3,bernoulli[0.1,0.7]]"
    code, text, errors = outcome(capsys, "check", name)
    assert (code, errors) == (0, "")
    assert [line.split()[1:] for line in text.splitlines() if line.startswith("  best")] == [
        ["arm", "0,", "mean", "0.9"],
        ["arm", "1,", "mean", "0.7"],
    ]
    code, _, errors = outcome(capsys, "bounds", "--problem", name)
    assert code == 2
    assert "changes with time, and an instance that does not is needed" in errors


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
def test_papers_are_described_by_the_sizes_and_policies_of_their_panels(capsys, monkeypatch, name):
    monkeypatch.setattr(jd.problems, "load", lambda *_: pytest.fail("a problem was loaded"))
    code, text, _ = outcome(capsys, "describe", name)
    assert code == 0
    assert max(map(len, text.splitlines())) <= 80
    table, _, rest = text.partition("policies:\n")
    playing = dict(line.split(": ") for line in unwrapped(rest))
    for panel in papers.load(name).panels:
        (rows,) = re.findall(rf"^{panel.name} .*\n(?:  .*\n)*", table, re.MULTILINE)
        for lineup, competitor in ((one, c) for one in panel.lineups for c in one.competitors):
            own = competitor.name in panel.sizes_by_policy
            (row,) = [
                line for line in rows.splitlines()
                if (competitor.label if own else f" {lineup.instances.name} ") in line
            ]  # fmt: skip
            assert sizes(row) == [panel.size(lineup, competitor, Order(full=f)) for f in (0, 1)]
        if panel.sizes:
            assert all(sizes(row) == [*panel.sizes] for row in rows.splitlines())
        named = [who for names, who in playing.items()
                 if {panel.name, figure_of(panel.name)} & {*names.split(", ")}]  # fmt: skip
        assert named == (["; ".join(panel.labels)] if panel.labels else [])


def unwrapped(text):
    """The first lines, indented by two characters, with what was wrapped."""
    indented = re.match("(  .*\n)*", text)
    assert indented
    return re.sub("\n    +", " ", indented[0]).replace("  ", "").splitlines()


def sizes(row):
    """Horizon and runs by default and with --full, from a row of the table."""
    numbers = [int(float(n.replace(",", "").replace("-", "0"))) for n in row.split()[-4:]]
    return [(numbers[0], numbers[1]), (numbers[2], numbers[3])]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dst", "unknown policy, problem or paper 'dst': did you mean 'dts'? All are in"),
        ("arxv", "did you mean 'arxiv'"),
        ("qqqqqq", "unknown policy, problem or paper 'qqqqqq': they are in jaxduel list."),
        ("missing.csv", "does not exist"),
        ("gaussian", "'gaussian' does not give means"),
        ("bernoulli", "as in bernoulli[0.6,0.5]"),
        ("piecewise", "as in piecewise[gap,10000,strong-borda]"),
        ("arxiv[9]", "arxiv"),
    ],
)
def test_unknown_names_are_one_line_and_code_2(capsys, name, message):
    code, text, errors = outcome(capsys, "describe", name)
    assert (code, text, errors.count("\n")) == (2, "", 1)
    assert message in errors
