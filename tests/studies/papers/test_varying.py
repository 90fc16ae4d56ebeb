"""Claims over what a paper leaves open: files, the sentence, and what is refused."""

import csv
from dataclasses import replace

import pytest

import jaxduel as jd
from jaxduel.studies import papers
from jaxduel.studies.choices import parameter
from jaxduel.studies.papers import varying
from jaxduel.studies.papers.double_etc.figures import PAPER
from jaxduel.studies.swept import COLUMNS
from tests.studies.papers.smaller import machine, smaller

SCALE = parameter("c of UCB", "scale", (1.0, 2.0), 2.0, "ucb1", symbol="c")
INDEX = parameter("log of UCB", "index", ("anytime", "horizon"), "anytime", "ucb1")
SMALL = replace(
    smaller(PAPER, {"1": ("ucb1",)}),
    claims=(replace(PAPER.claims[0], open=()), replace(PAPER.claims[4], open=(SCALE, INDEX))),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("open")


@pytest.fixture(scope="module")
def report(folder, quick_compilation):
    with machine():
        return varying.measure_open(SMALL, "2", out=folder, runs=4, horizon=100)


def test_a_claim_has_files_and_a_sentence_for_each_choice(report, folder):
    assert [f.name for f in report.files] == [
        f"open-2.{kind}" for kind in ("png", "pdf", "csv", "txt")
    ]
    assert (folder / "open-2.txt").read_text().splitlines() == report.lines
    assert [one.choice.name for one in report.swept] == ["c of UCB", "log of UCB"]
    assert report.lines[-1].strip() == report.swept[-1].sentence
    assert not report.interrupted


def test_the_table_has_a_row_for_each_value(report, folder):
    header, *rows = csv.reader((folder / "open-2.csv").open())
    assert tuple(header) == COLUMNS
    assert [row[:3] for row in rows] == [
        ["c of UCB", "1.0", "False"],
        ["c of UCB", "2.0", "True"],
        ["log of UCB", "anytime", "True"],
        ["log of UCB", "horizon", "False"],
    ]
    stated = {tuple(row[4:]) for row in rows if row[2] == "True"}
    assert len(stated) == 1  # the same runs


def test_the_runs_are_taken_from_the_store(report, folder, monkeypatch):
    monkeypatch.setattr("jaxduel.studies.engine.executor.simulated", None)
    with machine():
        again = varying.measure_open(SMALL, "all", out=folder, runs=4, horizon=100)
    assert again.lines == report.lines


def test_an_interrupt_keeps_what_had_finished(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("jaxduel.studies.engine.machines.run_tasks", interrupted)
    with machine():
        report = varying.measure_open(SMALL, "2", out=tmp_path, runs=4, horizon=100)
    assert report.interrupted
    assert report.files == []


@pytest.mark.parametrize(
    ("paper", "claim", "says"),
    [
        ("many-arms", "1", "many-arms: no claim has an open choice"),
        ("double-etc", "3", "are 1, 2, 4, 5, 6, 7, all, not '3'"),
        ("double-etc", "x", "not 'x'"),
    ],
)
def test_other_claims_are_refused_in_a_sentence(paper, claim, says):
    with pytest.raises(jd.InputError, match=says):
        papers.open_choices(paper, claim)


@pytest.mark.parametrize("name", papers.names())
def test_choices_change_runs_of_their_claims_only(name):
    for claim in papers.load(name).claims:
        for choice in claim.open:
            assert choice.stated in choice.values
            assert 2 <= len(choice.values) <= 9
            assert choice.categorical or list(choice.values) == sorted(choice.values)
