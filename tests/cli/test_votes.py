"""`jaxduel fit`: its table, its files, and bad input."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import jaxduel as jd
from tests.cli.command_line import outcome

TOURNAMENT = Path(__file__).parents[2] / "notebooks" / "guide" / "tournament.csv"


@pytest.mark.parametrize("model", jd.votes.MODELS)
def test_fit_prints_and_writes_what_python_gives(model, capsys, tmp_path):
    table, matrix = tmp_path / "fitted.csv", tmp_path / "matrix.csv"
    code, text, errors = outcome(
        capsys, "fit", TOURNAMENT, "--model", model, "--out", table, "--matrix", matrix
    )
    assert (code, errors) == (0, "")
    fit = jd.votes.fit(jd.votes.read(TOURNAMENT), model)
    pd.testing.assert_frame_equal(pd.read_csv(table), fit.table())
    np.testing.assert_array_equal(
        jd.problems.load(str(matrix)).preferences, fit.problem.preferences
    )
    title, heading, *rows = text.splitlines()
    assert title == f"tournament.csv: 6 arms, 400 votes, 58 of them ties; model {model}"
    assert ("strength" in heading) == (model != "free")
    assert [row.split()[0] for row in rows[:6]] == fit.table()["arm"].tolist()
    assert [row.split()[-1] for row in rows[:6]] == [f"{p:.3f}" for p in fit.table()["best"]]
    assert [line.strip() for line in rows[7:-2]] == [line.strip() for line in fit.misfit.lines()]
    assert max(map(len, rows[:6])) <= 80


def test_the_log_and_other_outputs_are_not_overwritten(capsys, tmp_path):
    log, other = tmp_path / "log.csv", tmp_path / "other.csv"
    log.write_bytes(TOURNAMENT.read_bytes())
    for command in (
        ("fit", log, "--out", log),
        ("fit", log, "--matrix", log),
        ("fit", log, "--out", other, "--matrix", other),
        ("next", log, "--out", log),
    ):
        code, _, error = outcome(capsys, *command)
        assert code == 2
        assert "is read or written for something else: give another name" in error
    assert log.read_bytes() == TOURNAMENT.read_bytes()
    assert not other.exists()


def test_long_names_can_be_told_apart(capsys, tmp_path):
    names = [60 * "x" + end for end in "ab"]
    log, matrix = tmp_path / "log.csv", tmp_path / "matrix.csv"
    log.write_text("winner,loser\n" + 3 * f"{names[0]},{names[1]}\n")
    code, text, _ = outcome(capsys, "fit", log, "--matrix", matrix)
    assert code == 0
    assert all(name in text for name in names)
    assert matrix.read_text().startswith(f"# {names[0]} | {names[1]}\n")


def test_columns_stand_below_each_other_whatever_the_names(capsys, tmp_path):
    log = tmp_path / "one.csv"
    log.write_text("winner,loser\n犬😀,e\u0301\n", encoding="utf-8")
    code, text, errors = outcome(capsys, "fit", log)
    assert (code, errors) == (0, "")
    title, header, *rows = text.splitlines()[:4]
    assert title == "one.csv: 2 arms, 1 vote, 0 of them ties; model btl"
    assert header.startswith(f"  arm   {'votes':>9}")
    assert rows[0].startswith(f"  犬😀  {1:9}")  # four columns, and the accent none
    assert rows[1].startswith(f"  e\u0301     {1:9}")


def test_the_guide_shows_what_fit_prints(capsys):
    _, text, _ = outcome(capsys, "fit", TOURNAMENT)
    assert f"```text\n{text}```" in TOURNAMENT.with_name("votes.md").read_text()


def test_a_core_and_columns(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("i,j,vote\n" + 9 * "ada,bob,left\nbob,ada,left\n" + "cyd,ada,left\n")
    columns = ("--column", "left=i", "--column", "right=j", "--column", "winner=vote")
    code, text, _ = outcome(capsys, "fit", log, *columns, "--core", 5)
    assert code == 0
    assert text.startswith("log.csv: 2 arms, 18 votes")


@pytest.mark.usefixtures("small_arena")
def test_the_word_arena_in_place_of_a_file(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, text, errors = outcome(capsys, "fit", "arena", "--core", 100)
    assert (code, errors) == (0, "")
    assert text.startswith("arena: 3 arms, 333 votes, 13 of them ties; model btl")
    code, text, errors = outcome(capsys, "fit", "arena", "--column", "winner=vote")
    assert (code, text) == (2, "")
    assert errors == (
        "jaxduel: error: --column names a column of a file, and there is no file arena.\n"
    )
    (tmp_path / "arena").write_text("winner,loser\nada,bob\n")
    assert outcome(capsys, "fit", "arena")[1].startswith("arena: 2 arms, 1 vote,")


def test_a_warning_is_one_line(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\nada,bob\ncyd,dan\n")
    code, text, errors = outcome(capsys, "fit", log)
    assert code == 0
    assert "pairs never compared: 4 of 6" in text
    assert errors.count("\n") == 1
    assert errors.startswith("jaxduel: warning: the arms of log.csv are in 2 groups")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "cannot be read: No such file"),
        ([], "FILE must be given"),
        ([TOURNAMENT, "--model", "elo"], "--model must be one of btl, davidson, free, thurstone"),
        ([TOURNAMENT, "--core", "0"], "--core takes a whole number of at least 1"),
        ([TOURNAMENT, "--core", "1000"], "no two arms of tournament.csv have 1,000 decisive"),
        ([TOURNAMENT, "--column", "winner"], "NAME=VALUE is needed"),
        ([TOURNAMENT, "--column", "winer=vote"], "did you mean 'winner'?"),
        ([TOURNAMENT, "--column", "winner=vote"], "has no column 'vote'"),
        ([TOURNAMENT, *2 * ["--column", "left=left"]], "left is set twice"),
        ([TOURNAMENT, "--out", "none/fitted.csv"], "there is no folder for it"),
        ([TOURNAMENT, "--matrix", "matrix"], "takes a name that ends with .csv"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, message, capsys):
    code, text, errors = outcome(capsys, "fit", *arguments)
    assert (code, text) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1


def test_a_bad_line_gets_a_sentence(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("left,right,winner\nada,bob,cyd\n")
    code, text, errors = outcome(capsys, "fit", log)
    assert (code, text) == (2, "")
    assert "log.csv', line 2: the winner, 'cyd', is neither 'ada' nor 'bob'" in errors
