"""`jaxduel fit`: its table, its files, and bad input."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import jaxduel as jd
from tests.cli.command_line import outcome

pytestmark = pytest.mark.usefixtures("quick_compilation")

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
    assert jd.problems.load(matrix).arms == fit.problem.arms == fit.votes.arms
    title, heading, *rows = text.splitlines()
    assert title == f"tournament.csv: 6 arms, 400 votes, 58 of them ties; model {model}"
    assert ("strength" in heading) == (model != "free")
    assert [row.split()[0] for row in rows[:6]] == fit.table()["arm"].tolist()
    assert [row.split()[-1] for row in rows[:6]] == [f"{p:.3f}" for p in fit.table()["best"]]
    what = rows.index("what does not fit:")
    lines = [line.strip() for line in rows[what + 1 : -2]]
    assert lines == [line.strip() for line in fit.misfit.lines()]
    if model == "free":
        assert what == 6
    else:
        assert rows[6] == "ada above the next, with 95 % intervals:"
        for row, arm in zip(rows[7:what], fit.table()["arm"][1:4], strict=True):
            one = fit.difference("ada", arm)
            said = (
                f"  {arm}  by {one.value:.2f}, [{one.low:.2f}, {one.high:.2f}], with probability "
            )
            assert row == f"{said}{one.above:.3f}"
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
    assert jd.problems.load(matrix).arms == tuple(names)
    _, text, _ = outcome(capsys, "check", matrix)
    assert all(name in text for name in names)


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


def test_the_guide_shows_what_fit_and_check_print(capsys, tmp_path):
    guide = TOURNAMENT.with_name("votes.md").read_text()
    _, text, _ = outcome(capsys, "fit", TOURNAMENT)
    assert f"```text\n{text}```" in guide
    outcome(capsys, "fit", TOURNAMENT, "--matrix", tmp_path / "matrix.csv")
    _, text, _ = outcome(capsys, "check", tmp_path / "matrix.csv")
    assert f"```text\n{text}```" in guide


def test_a_core_and_columns(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("i,j,vote\n" + 9 * "ada,bob,left\nbob,ada,left\n" + "cyd,ada,left\n")
    columns = ("--column", "left=i", "--column", "right=j", "--column", "winner=vote")
    code, text, _ = outcome(capsys, "fit", log, *columns, "--core", 5)
    assert code == 0
    assert text.startswith("log.csv: 2 arms, 18 votes")


@pytest.mark.parametrize("command", ["fit", "plan", "next"])
def test_the_first_line_says_how_a_log_was_read(command, capsys, tmp_path):
    log = tmp_path / "log.csv"
    rows = 'ada,bob,left,j,2,1\nbob,ada,tie,j,1,1\nada,bob,"",j,5,0\n'
    log.write_text(f"left,right,winner,judge,n,valid\n{rows}")
    small = {
        "fit": (),
        "plan": ("--policies", "uniform", "--max-votes", 20, "--draws", 2, "--seeds", 1),
        "next": ("--policy", "uniform", "--num", 1),
    }[command]
    code, text, errors = outcome(capsys, command, log, *small)
    assert (code, text) == (2, "")
    assert "has the column 'valid', which may change what a row means" in errors
    code, text, errors = outcome(capsys, command, log, *small, "--ignore", "valid")
    assert (code, text) == (2, "")
    assert "line 4: the winner, '', is undecided: --outcome unresolved=skip leaves" in errors
    options = ("--ignore", "VALID", "--outcome", "unresolved=skip")
    code, text, errors = outcome(capsys, command, log, *small, *options)
    assert code == 0
    first = (errors if command == "next" else text).splitlines()[0]
    assert first.startswith("log.csv: ")
    assert first.endswith(
        "counts by the column 'n'; columns not used: 'judge', 'valid'; 1 row left out: 1 of ''"
    )
    if command == "next":
        assert text.splitlines()[0] == "left,right"
        path = tmp_path / "next.csv"
        code, text, errors = outcome(capsys, command, log, *small, *options, "--out", path)
        assert (code, errors) == (0, "")
        assert text.splitlines() == [first, f"written: {path}"]


def test_columns_are_said_and_named_where_there_is_no_header(capsys, tmp_path):
    log = tmp_path / "games.csv"
    log.write_text("White,Black,Result,Round\nada,bob,1-0,1\nbob,ada,1/2-1/2,2\n")
    code, text, errors = outcome(capsys, "fit", log)
    assert (code, errors) == (0, "")
    assert text.splitlines()[0] == (
        "games.csv: 2 arms, 2 votes, 1 of them ties; model btl; columns read: 'White' as left, "
        "'Black' as right, 'Result' as winner; columns not used: 'Round'"
    )
    log.write_text("ada,bob,1-0,1\nbob,ada,1/2-1/2,2\n")
    code, text, errors = outcome(capsys, "fit", log)
    assert code == 2
    assert "without a header: --no-header left right winner" in errors
    code, text, errors = outcome(capsys, "fit", log, "--no-header", "left", "right", "winner", "x")
    assert (code, errors) == (0, "")
    assert text.startswith(
        "games.csv: 2 arms, 2 votes, 1 of them ties; model btl; columns not used: 'x'\n"
    )


def test_fractions_of_votes_stand_below_each_other(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("left,right,preference\nada,bob,1.3\nada,cyd,1\nbob,cyd,1.33333333333\n")
    code, text, errors = outcome(capsys, "fit", log)
    assert (code, errors) == (0, "")
    title, header, *rows = text.splitlines()[:5]
    assert title.startswith("log.csv: 3 arms, 3 votes, 0 of them ties; model btl; of the pref")
    assert rows[0][: header.index("beats")] == "  ada       2.00       1.70  "
    code, _, errors = outcome(capsys, "next", log)
    assert (code, "log.csv has fractions of votes" in errors) == (2, True)


def test_the_last_vote_of_a_voter_counts(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("voter,winner,loser\nv,ada,bob\nw,ada,bob\nv,bob,ada\n")
    code, text, errors = outcome(capsys, "fit", log, "--last-of", "voter,pair")
    assert (code, errors) == (0, "")
    assert text.splitlines()[0] == (
        "log.csv: 2 arms, 2 votes, 0 of them ties; model btl; 1 earlier row of the same 'voter' "
        "and 'pair' left out"
    )
    code, _, errors = outcome(capsys, "fit", log, "--last-of", "voter,item")
    assert (code, "has no column 'item'" in errors) == (2, True)


def test_the_column_of_voters(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("judge,winner,loser\nv,ada,bob\nw,ada,bob\nv,bob,ada\n")
    title = "log.csv: 2 arms, 3 votes, 0 of them ties; model btl; "
    for options in (("--voter", "judge"), ("--column", "voter=judge")):
        code, text, errors = outcome(capsys, "fit", log, *options)
        assert (code, errors) == (0, "")
        assert text.splitlines()[0] == f"{title}by 2 voters; columns read: 'judge' as voter"
    code, text, errors = outcome(capsys, "fit", log, "--voter", "judge", "--last-of", "judge,pair")
    assert (code, errors) == (0, "")
    assert "2 votes, 0 of them ties; model btl; by 2 voters; " in text
    for options, message in (
        (("--voter", "judge", "--column", "voter=judge"), "voter is set twice"),
        (("--voter", "who"), "has no column 'who'; it has 'judge', 'winner', 'loser'"),
    ):
        code, text, errors = outcome(capsys, "fit", log, *options)
        assert (code, text, message in errors) == (2, "", True)


def test_roles_of_counts_and_draws_by_name(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("winner,loser,how often,level\nada,bob,3,no\nada,bob,4,yes\n")
    code, _, errors = outcome(capsys, "fit", log)
    assert code == 0  # neither name says what it is of a row
    columns = ("--column", "count=how often", "--column", "draw=level")
    code, text, errors = outcome(capsys, "fit", log, *columns)
    assert (code, errors) == (0, "")
    assert text.splitlines()[0] == (
        "log.csv: 2 arms, 7 votes, 4 of them ties; model btl; counts by the column 'how often'; "
        "draws by the column 'level'"
    )


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
    for option, value, what in (
        *(("ignore", "a", "column"), ("voter", "a", "column")),
        ("outcome", "a=skip", "word"),
    ):
        code, text, errors = outcome(capsys, "fit", "arena", f"--{option}", value)
        assert (code, text) == (2, "")
        assert f"--{option} names a {what} of a file, and there is no file arena" in errors
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
        ([TOURNAMENT, "--ignore", "valid"], "has no column 'valid'"),
        ([TOURNAMENT, "--outcome", "unclear"], "--outcome unclear: WORD=MEANING is needed"),
        ([TOURNAMENT, "--outcome", "unclear=drop"], "a meaning of left, right, tie, skip"),
        ([TOURNAMENT, *2 * ["--outcome", "a=b=skip"]], "--outcome a=b=skip: 'a=b' is set twice"),
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
