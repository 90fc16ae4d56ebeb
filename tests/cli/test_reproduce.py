"""`jaxduel reproduce`: claims, files, an interrupt."""

from functools import partial

import jax
import pytest

from jaxduel.studies import papers
from jaxduel.studies.engine import machines
from jaxduel.studies.papers import reproducing
from jaxduel.studies.papers.varying import OpenReport
from tests.cli.command_line import outcome


@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
def test_reproduce_prints_claims_and_files(capsys, tmp_path, monkeypatch):
    small = partial(reproducing.reproduce, horizon=300)
    monkeypatch.setattr(reproducing, "reproduce", small)
    monkeypatch.setattr(machines, "cpu_devices", lambda: jax.local_devices()[:1])
    code, text, errors = outcome(
        capsys, "reproduce", "batched-dueling", "--figure", "2a", "--runs", 3, "--out", tmp_path
    )
    assert code == 0
    assert "six rankers: RMED1" in text
    assert "as we increase the number of batches" in text
    assert f"written to {tmp_path}: figure-2a.png, figure-2a.pdf, " in " ".join(text.split())
    assert "Not measured here: 7 of 9 claims (2, 3, 4, 5, 6, 8, 9)" in text
    assert len(text.partition("written to")[0].splitlines()) <= 27  # a path may take some lines
    assert max(map(len, text.splitlines())) <= 80
    assert "figure 2a" not in errors  # no terminal, and less than a minute


def test_reproduce_measures_a_claim_over_an_open_choice(capsys, tmp_path, monkeypatch):
    said = OpenReport([tmp_path / "open-5.png", tmp_path / "open-5.csv"], ["5. a claim"])
    asked = {}

    def measured(paper, claim, **order):
        asked.update(order, paper=paper, claim=claim)
        return said

    monkeypatch.setattr(papers, "open_choices", measured)
    arguments = ("reproduce", "double-etc", "--open", 5, "--runs", 3, "--out", tmp_path)
    code, text, _ = outcome(capsys, *arguments)
    assert (code, asked["paper"], asked["claim"], asked["runs"]) == (0, "double-etc", "5", 3)
    assert text.splitlines()[0] == "5. a claim"
    assert "written to" in text
    assert "open-5.png, open-5.csv" in " ".join(text.split())
    said.interrupted = True
    code, _, errors = outcome(capsys, *arguments)
    assert code == 130
    assert "what had finished is kept" in errors


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("double-etc", "--open", "3"), "claims with an open choice are 1, 2, 4, 5, 6, 7, all"),
        (("many-arms", "--open", "all"), "no claim has an open choice"),
        (("all", "--open", "1"), "--open is of one paper"),
        (("double-etc", "--open", "1", "--figure", "1"), "does not go with --figure"),
        (("double-etc", "--open", "1", "--decide", "1"), "does not go with --decide"),
    ],
)
def test_open_choices_that_are_not_there_are_refused(capsys, arguments, says):
    code, text, errors = outcome(capsys, "reproduce", *arguments)
    assert (code, text) == (2, "")
    assert says in " ".join(errors.split())


def test_an_interrupted_reproduction_is_code_130(capsys, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("jaxduel.studies.engine.machines.run_tasks", interrupted)
    code, text, errors = outcome(
        capsys, "reproduce", "batched-dueling", "--figure", "1a", "--out", tmp_path
    )
    assert code == 130
    assert "what had finished is kept" in errors
    assert f"written to {tmp_path}: final-regret.csv, claims.csv, claims.txt" in " ".join(
        text.split()
    )


def test_what_is_left_for_later_is_said(capsys, tmp_path):
    arguments = ("reproduce", "best-of-both", "--runs", 2, "--until", "2026-01-01T00:00")
    code, text, _ = outcome(capsys, *arguments, "--out", tmp_path)
    assert code == 0
    said = " ".join(text.split())
    assert "Not measured here: 4 of 4 claims" in said
    assert f"to go on: jaxduel reproduce best-of-both --runs 2 --seed 0 --out {tmp_path}" in said


def test_of_a_share_it_is_said_that_others_have_the_rest(capsys, tmp_path):
    arguments = ("reproduce", "best-of-both", "--runs", 2, "--until", "2026-01-01T00:00")
    code, text, _ = outcome(capsys, *arguments, "--shard", "1/2", "--out", tmp_path)
    assert code == 0
    said = " ".join(text.split())
    assert (
        "stored; unless other shares have the rest, to go on: jaxduel reproduce best-of-both"
        in said
    )


def test_an_order_of_which_nothing_is_finished_leaves_the_files_of_another(capsys, tmp_path):
    past = ("--until", "2026-01-01T00:00", "--out", tmp_path)
    first, *_ = outcome(capsys, "reproduce", "best-of-both", "--runs", 2, *past)
    files = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    code, text, _ = outcome(capsys, "reproduce", "best-of-both", "--figure", "1a", *past)
    assert first == code == 0
    assert " ".join(text.split()).startswith(
        f"Nothing of this order is finished: the files in {tmp_path} are left as they are. 0 of "
    )
    assert {path.name for path in files} >= {"claims.csv", "claims.txt", "report.json"}
    assert all(path.read_bytes() == content for path, content in files.items())
