"""`jaxduel fit --elo --between --ranks`: answers as Python gives them, and bad input."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import jaxduel as jd
from tests.cli.command_line import outcome

TOURNAMENT = Path(__file__).parents[2] / "notebooks" / "guide" / "tournament.csv"


def answered(capsys, *arguments):
    """Lines after those of `jaxduel fit` without questions."""
    _, plain, _ = outcome(capsys, "fit", TOURNAMENT)
    code, text, errors = outcome(capsys, "fit", TOURNAMENT, *arguments)
    assert (code, errors) == (0, "")
    assert text.startswith(plain)
    return text.removeprefix(plain).splitlines()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("given", "called", "arguments"),
    [
        ([], "the mean at 1000", ()),
        (["--anchor", "bea"], "bea at 1000", ("bea",)),
        (["--anchor", "bea=123456.5"], "bea at 123456.5", ("bea", 123_456.5)),
    ],
)
def test_ratings_are_printed_and_written(given, called, arguments, capsys, tmp_path):
    out = tmp_path / "fitted.csv"
    title, *rows, written = answered(capsys, "--elo", *given, "--out", out)
    assert title == f"Elo ratings with 95 % intervals, relative to {called}:"
    assert written == f"written: {out}"
    fit = jd.votes.fit(jd.votes.read(TOURNAMENT))
    table = fit.elo(*arguments)
    assert rows == [
        f"  {arm}  {elo:7.0f}  [{low:.0f}, {high:.0f}]"
        for arm, elo, low, high in table.itertuples(index=False)
    ]
    pd.testing.assert_frame_equal(pd.read_csv(out), fit.table().merge(table, on="arm"))


def test_an_anchor_may_have_an_equals_sign(capsys, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\na=1,b\nb,a=1\n")
    for anchor in ("a=1", "a=1=1000"):
        code, text, _ = outcome(capsys, "fit", log, "--elo", "--anchor", anchor)
        assert code == 0
        assert "relative to a=1 at 1000:" in text


@pytest.mark.parametrize("model", ["btl", "davidson"])
def test_pairs_are_printed_and_the_matrix_is_written(model, capsys, tmp_path):
    out, named = tmp_path / "fitted.csv", ("dan", "ada", "eve")
    asked = ["--model", model, "--between", *named, "--out", out]
    code, text, errors = outcome(capsys, "fit", TOURNAMENT, *asked)
    assert (code, errors) == (0, "")
    title, heading, *rows, _ = text[text.index("pairs (") :].splitlines()
    ties = ", half of ties" if model == "davidson" else ""
    assert title == f"pairs (wins: the first wins a vote{ties}):"
    assert heading.split()[:3] == ["first", "second", "P(stronger)"]
    fit = jd.votes.fit(jd.votes.read(TOURNAMENT), model)
    for row, each in zip(rows, fit.between(*named).to_dict("records"), strict=True):
        gap = f"{each['gap']:.2f} [{each['gap_low']:.2f}, {each['gap_high']:.2f}]"
        p = f"[{each['preference_low']:.3f}, {each['preference_high']:.3f}]"
        said = f"{each['first']} {each['second']} {each['gap_above']:.3f} {gap}"
        assert " ".join(row.split()) == f"{said} {each['preference']:.3f} {p}"
    matrix = pd.read_csv(out).set_index("arm").loc[list(fit.votes.arms)]
    columns = [f"above_{arm}" for arm in fit.votes.arms]
    np.testing.assert_allclose(matrix[columns], fit.stronger, atol=1e-12)


def test_all_pairs_if_no_arm_is_named(capsys):
    assert len(answered(capsys, "--between")) == 2 + 15


@pytest.mark.thorough
@pytest.mark.parametrize(("given", "top"), [([], 3), (["2"], 2), (["9"], 9)])
def test_ranks_are_printed_and_written(given, top, capsys, tmp_path):
    out = tmp_path / "fitted.csv"
    title, heading, *rows, _ = answered(capsys, "--ranks", *given, "--out", out)
    assert title == "ranks, with ranges that hold for all arms at once with probability 0.95:"
    assert heading.split() == ["arm", "rank", "range", "P(top", f"{top})"]
    fit = jd.votes.fit(jd.votes.read(TOURNAMENT))
    for row, (arm, rank, low, high, chance) in zip(
        rows, fit.ranks(top).itertuples(index=False), strict=True
    ):
        between = f"{low} to {high}" if low < high else f"{low}"
        assert " ".join(row.split()) == f"{arm} {rank} {between} {chance:.3f}"
    expected = fit.table().merge(fit.ranks(top), on="arm")
    pd.testing.assert_frame_equal(pd.read_csv(out), expected)


def test_all_questions_at_once(capsys):
    elo, between, ranks = (answered(capsys, each) for each in ("--elo", "--between", "--ranks"))
    assert answered(capsys, "--ranks", "--between", "--elo") == [*elo, *between, *ranks]


def test_sides(capsys, tmp_path):
    """The guide shows what is said of them; a file without sides has none."""
    code, text, errors = outcome(capsys, "fit", TOURNAMENT, "--side")
    assert (code, errors) == (0, "")
    first = text.splitlines()[:2]
    assert "\n".join(["```text", *first, "```"]) in TOURNAMENT.with_name("votes.md").read_text()
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\nada,bob\nbob,ada\n")
    code, text, errors = outcome(capsys, "fit", log, "--side")
    assert (code, text) == (2, "")
    assert "log.csv has no sides: an effect of sides needs a file with a left" in errors


def test_the_guide_shows_pairs_and_ranks(capsys):
    guide = TOURNAMENT.with_name("votes.md").read_text()
    lines = answered(capsys, "--between", "dan", "cyd", "--ranks", "3")
    assert "\n".join(["```text", *lines, "```"]) in guide


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--anchor", "ada"], "--anchor is of ratings: give --elo too."),
        (["--elo", "--anchor", "adda"], "unknown arm 'adda'"),
        (["--elo", "--anchor", "adda=1000"], "unknown arm 'adda'"),
        (["--elo", "--anchor", "ada=high"], "--anchor ada=high: NAME or NAME=RATING is needed."),
        (["--elo", "--anchor", "ada=nan"], "rating must be a number from -1e6 to 1e6, not nan."),
        (["--between", "ada"], "two arms or more can be compared, not 1."),
        (["--between", "ada", "bea", "ada"], "the arm 'ada' is compared with itself."),
        (["--between", "ada", "adda"], "unknown arm 'adda'"),
        (["--between", "ada", "bea", "--model", "free"], "the free model has no strengths"),
        (["--ranks", "0"], "--ranks takes a whole number of at least 1, or nothing, not '0'"),
        (
            ["--ranks", "1", "2"],
            "--ranks takes a whole number of at least 1, or nothing, not '1 2'",
        ),
        (["--ranks", "--model", "free"], "the free model has no strengths to compare"),
        (["--elo", "--model", "free"], "the free model has no strengths to compare"),
    ],
)
def test_bad_questions_get_a_sentence(arguments, message, capsys):
    code, text, errors = outcome(capsys, "fit", TOURNAMENT, *arguments)
    assert (code, text) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1
