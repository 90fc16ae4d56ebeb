"""The page in a browser: no error, no sideways scroll, curves that are drawn, claims to filter."""

from dataclasses import replace

import pytest

from jaxduel.studies import papers
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.report.page import Page
from tests.browsing import DESKTOP, PHONE, browser
from tests.cli.command_line import outcome
from tests.studies.papers.smaller import machine, smaller
from tests.studies.report.test_papers import FULL, USUAL, section

NAME = "batched-dueling"

pytestmark = pytest.mark.thorough


@pytest.fixture
def page(tmp_path, monkeypatch, capsys):
    """The address of a page of one paper with one panel."""
    cut = smaller(papers.load(NAME), {"2a": ["scomp2", "scomp2[num_batches=8]"]})
    monkeypatch.setattr(papers, "names", lambda: (NAME,))
    monkeypatch.setattr(papers, "load", lambda name: cut)
    with machine():
        assert outcome(capsys, "reproduce", "all", "--runs", "3", "--out", tmp_path)[0] == 0
    return (tmp_path / "index.html").as_uri()


@pytest.mark.usefixtures("quick_compilation")
@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
def test_it_is_sound_and_answers(page):
    with browser() as reader:
        for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
            reader.open(page, size, scheme)
            assert reader.faults() == []
            assert reader.run("return document.querySelectorAll('.js-plotly-plot').length") == 1
            fetched = "return performance.getEntriesByType('resource').map((r) => r.name)"
            assert [name for name in reader.run(fetched) if not name.startswith("data:")] == []
        _curves_hide(reader)
        _claims_are_sorted_and_filtered(reader)
        assert reader.faults() == []


def test_claims_that_differ_from_the_paper_are_found(tmp_path):
    differing = section(FULL, "confirmed", section(USUAL, "not confirmed"))
    made = [(differing, None), (replace(section(USUAL, "undecided"), name="other"), None)]
    page = Page("Two papers", "Claims.", made, {}).write(OutputFolder(tmp_path))
    with browser() as reader:
        reader.open(page.as_uri(), DESKTOP)
        reader.run(
            "const box = document.getElementById('filter-verdict'); box.value = 'differs';"
            "box.dispatchEvent(new Event('input', {bubbles: true}))"
        )
        shown = reader.run("return document.getElementById('shown').textContent")
        assert shown == "1 of 2 claims shown"
        assert reader.faults() == []


def _curves_hide(reader):
    shown = (
        "return document.querySelector('.chart').data"
        ".filter((t) => t.visible && t.name).map((t) => t.name)"
    )
    before = reader.run(shown)
    assert len(before) == 2
    reader.run("document.querySelector('.legend button').click()")
    assert reader.run(shown) == before[1:]
    reader.run("document.querySelector('.legend button').click()")
    assert reader.run(shown) == before


def _claims_are_sorted_and_filtered(reader):
    rows = (
        "return [...document.querySelectorAll('table.claims tbody tr')]"
        ".filter((row) => !row.hidden).map((row) => row.dataset.verdict)"
    )
    total = len(papers.load(NAME).claims)
    assert len(reader.run(rows)) == total
    order = ["confirmed", "undecided", "not confirmed", "not measured"]
    for sign in (1, -1):
        reader.run("document.querySelector('th[data-sort=verdict] button').click()")
        verdicts = reader.run(rows)
        assert verdicts == sorted(verdicts, key=lambda verdict: sign * order.index(verdict))
    reader.run(
        "const box = document.getElementById('filter-text'); box.value = arguments[0];"
        "box.dispatchEvent(new Event('input', {bubbles: true}))",
        "no such words",
    )
    assert reader.run(rows) == []
    assert reader.run("return document.getElementById('none').hidden") is False
