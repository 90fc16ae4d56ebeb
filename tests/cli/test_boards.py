"""`jaxduel fit --out FOLDER`: the page, its command, bad folders, an interrupt."""

import json
import shlex
from pathlib import Path

import pandas as pd
import pytest

import jaxduel as jd
from tests.cli.command_line import outcome
from tests.studies.report.pages import require_sound

TOURNAMENT = Path(__file__).parents[2] / "notebooks" / "guide" / "tournament.csv"


def command_in(folder):
    page = require_sound((folder / "index.html").read_text())
    (command,) = (text for _, text in page.of("code"))
    return shlex.split(command)


def test_the_page_is_written_and_its_files_are_said(capsys, tmp_path):
    board = tmp_path / "new" / "board"
    code, text, errors = outcome(capsys, "fit", TOURNAMENT, "--out", board)
    assert (code, errors) == (0, "")
    _, plain, _ = outcome(capsys, "fit", TOURNAMENT)
    assert text.startswith(plain)
    written = text.removeprefix(plain).splitlines()
    assert sorted(written) == sorted(f"written: {path}" for path in board.iterdir())
    assert written[-1] == f"written: {board / 'index.html'}"
    fit = jd.votes.fit(jd.votes.read(TOURNAMENT))
    content = json.loads((board / "fit.json").read_text())
    assert [arm["elo"] for arm in content["arms"]] == fit.elo()["elo"].tolist()
    assert shlex.split(content["command"]) == command_in(board)


@pytest.mark.thorough
def test_options_are_the_pages_and_its_command_makes_it_again(capsys, tmp_path):
    log, board = tmp_path / "my log.csv", tmp_path / "board"
    log.write_text(TOURNAMENT.read_text().replace("winner", "vote"))
    asked = ["--elo", "--anchor", "bea=1500", "--between", "dan", "cyd", "--ranks", "2"]
    reading = ["--column", "winner=vote", "--core", "3"]
    command = ["fit", log, "--model", "davidson", *asked, *reading, "--out", board]
    assert outcome(capsys, *command)[0] == 0
    first = json.loads((board / "fit.json").read_text())
    assert [first[name] for name in ("elo_anchor", "elo_rating", "top")] == ["bea", 1500, 2]
    assert [(pair["first"], pair["second"]) for pair in first["pairs"]] == [("dan", "cyd")]
    assert {*map(str, command)} <= set(command_in(board))
    page = (board / "index.html").read_bytes()
    (board / "index.html").unlink()
    assert outcome(capsys, *shlex.split(first["command"])[1:])[0] == 0
    assert (board / "index.html").read_bytes() == page


@pytest.mark.parametrize("name", ["fitted.csv", "FITTED.CSV"])
def test_a_name_that_ends_with_csv_is_the_table(name, capsys, tmp_path):
    out = tmp_path / name
    assert outcome(capsys, "fit", TOURNAMENT, "--out", out)[0] == 0
    fit = jd.votes.fit(jd.votes.read(TOURNAMENT))
    pd.testing.assert_frame_equal(pd.read_csv(out), fit.table())
    assert list(tmp_path.iterdir()) == [out]


def test_bad_folders_are_refused_before_anything_is_computed(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(jd.votes, "read", None)
    file = tmp_path / "file"
    file.write_text("kept")
    for out in (file, file / "board"):
        code, text, errors = outcome(capsys, "fit", TOURNAMENT, "--out", out)
        assert (code, text, errors.count("\n")) == (2, "", 1)
        assert f"the output folder '{out}' cannot be created" in errors
    assert file.read_text() == "kept"


def test_neither_the_log_nor_the_matrix_is_one_of_the_pages_files(capsys, tmp_path):
    log = tmp_path / "fit.csv"
    log.write_bytes(TOURNAMENT.read_bytes())
    for command in (
        ("fit", log, "--out", tmp_path),
        ("fit", TOURNAMENT, "--out", tmp_path, "--matrix", tmp_path / "preferences.csv"),
    ):
        code, _, errors = outcome(capsys, *command)
        assert code == 2
        assert "is read or written for something else: give another name" in errors
    assert log.read_bytes() == TOURNAMENT.read_bytes()
    assert list(tmp_path.iterdir()) == [log]


def test_an_interrupt_is_code_130_and_leaves_no_page(capsys, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("jaxduel.studies.report.votes.intervals_figure", interrupted)
    code, _, errors = outcome(capsys, "fit", TOURNAMENT, "--out", tmp_path)
    assert code == 130
    assert "interrupted" in errors
    assert not (tmp_path / "index.html").exists()
    assert all(path.stat().st_size for path in tmp_path.iterdir())  # none is half written
