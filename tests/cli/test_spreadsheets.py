"""Names that begin as formulas, in files that spreadsheets open and in those that jaxduel reads."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

import jaxduel as jd
from jaxduel.studies.tables import encoded
from tests.cli.command_line import outcome
from tests.cli.test_bad_input import MATRIX

FORMULA = "=1+1"
BEGINNINGS = ("=", "+", "@", "-")
SMALL = ("--policy", "rucb", "--horizon", "20", "--seeds", "2")
GRID = """
seeds = 2
horizons = [20]
[[policies]]
name = ["rucb", "rmed1"]
[[problems]]
file = "=1+1.csv"
"""


def formulas_in(text):
    """The cells of a table that a spreadsheet would compute."""
    found = []
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            try:
                float(cell)
            except ValueError:
                found += [cell] if cell.startswith(BEGINNINGS) else []
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a matrix, a grid and a log whose names begin as formulas."""
    monkeypatch.chdir(tmp_path)
    np.savetxt(f"{FORMULA}.csv", MATRIX, delimiter=",")
    (tmp_path / "grid.toml").write_text(GRID)
    (tmp_path / "log.csv").write_text(f"winner,loser\n{FORMULA},-b\n-b,@c\n@c,{FORMULA}\n")
    return tmp_path


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
def test_exports_hold_no_formula(capsys, folder):
    log = folder / "log.csv"
    for command in (
        ("run", *SMALL, "--problem", f"{FORMULA}.csv", "--out", "=r.nc"),
        ("export", "=r.nc", "--out", "run.csv"),
        ("plot", "=r.nc"),
        ("sweep", "grid.toml", "--out", "=sweep"),
        ("show", "=sweep", "--csv", "show.csv"),
        ("compare", "=sweep", "--policies", "rucb", "rmed1", "--csv", "compare.csv"),
        ("plot", "=sweep"),
        ("export", "=sweep"),
        ("fit", log, "--out", "fit.csv"),
        ("plan", log, "--policies", "uniform", "--max-votes", "20", "--draws", "2", "--seeds", "2",
         "--out", "plan"),
    ):  # fmt: skip
        assert outcome(capsys, *command)[0] == 0
    tables = {path: path.read_text() for path in folder.rglob("*.csv")}
    made = {path: text for path, text in tables.items() if path.name not in ("log.csv", "=1+1.csv")}
    assert len(made) == 9
    assert {path.name for path, text in made.items() if formulas_in(text)} == set()
    assert sum(f"'{FORMULA}" in text for text in made.values()) >= 6


def test_what_is_read_back_keeps_its_names(capsys, folder):
    votes = jd.votes.read("log.csv")
    assert outcome(capsys, "fit", "log.csv", "--matrix", "m.csv")[0] == 0
    fitted = jd.votes.fit(votes).problem.preferences
    np.testing.assert_array_equal(jd.problems.load("m.csv").preferences, fitted)
    assert jd.problems.load("m.csv").arms == votes.arms == ("-b", FORMULA, "@c")
    code, text, _ = outcome(capsys, "next", "log.csv", "--policy", "uniform", "--num", 5)
    assert code == 0
    assert {name for row in csv.DictReader(io.StringIO(text)) for name in row.values()} <= {
        *votes.arms
    }


def test_names_in_a_matrix_are_quoted_and_no_formulas(capsys, folder):
    (folder / "odd.csv").write_text('winner,loser\n"a,=1+1","=b, -c"\n"=b, -c","a,=1+1"\n')
    assert outcome(capsys, "fit", "odd.csv", "--matrix", "m.csv")[0] == 0
    header, *rows = (folder / "m.csv").read_text().splitlines()
    assert header == ""","'=b, -c","a,=1+1\""""
    assert rows == ['"\'=b, -c",0.5,0.5', '"a,=1+1",0.5,0.5']


def test_tables_change_nothing_but_formulas():
    frame = pd.DataFrame(
        {
            "@name": pd.Categorical(["=a", "b", "=a"]),
            "text": ["-1.5", None, "+x"],
            "value": [-1.5, np.nan, 0.1],
            "flag": [True, False, True],
        }
    )
    assert encoded(frame, "csv").decode().splitlines() == [
        "'@name,text,value,flag", "'=a,-1.5,-1.5,True", "b,,,False", "'=a,'+x,0.1,True"
    ]  # fmt: skip
    assert frame["text"][2] == "+x"
