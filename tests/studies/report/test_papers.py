"""Sections of papers: verdicts of earlier calls with other orders."""

from dataclasses import replace

from jaxduel.studies import papers
from jaxduel.studies.choices import parameter
from jaxduel.studies.claims import Claim, Measurement
from jaxduel.studies.estimates import exact
from jaxduel.studies.papers.pages import sections_in
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.report.page import Page
from jaxduel.studies.report.papers import paper_section, with_open
from jaxduel.studies.report.records import FILE, Earlier, encoded, read_section
from jaxduel.studies.reproduction import Report
from jaxduel.studies.swept import Swept
from tests.studies.report.pages import require_sound

CLAIM = Claim("It wins.", "section 5", "below 1", lambda found: found, None)
USUAL, FULL, SEED = Order(), Order(full=True), Order(seed=3)
COMMAND = "jaxduel reproduce double-etc"


def section(order, verdict, earlier=None, claim=CLAIM, figure=""):
    """A section with one claim; without a verdict the claim was not measured."""
    numbers = [Measurement("toy", "a / b", exact(1.0), verdict)] if verdict else []
    report = Report([], claims=[claim.measured(numbers)])
    paper = papers.load("double-etc")
    return paper_section(paper, [], order, report, {}, earlier=earlier, figure=figure)


def known(made):
    return made.claims[0].earlier


def test_a_claim_keeps_the_verdict_of_each_other_order(tmp_path):
    usual = section(USUAL, "confirmed")
    assert known(usual) == known(section(USUAL, "undecided", usual)) == ()
    whole = section(FULL, "not confirmed", usual)
    assert known(whole) == (Earlier(COMMAND, "confirmed"),)
    assert known(section(FULL, "undecided", whole)) == known(whole)
    assert known(section(USUAL, "confirmed", whole)) == (
        Earlier(f"{COMMAND} --full", "not confirmed"),
    )
    third = section(SEED, "confirmed", whole)
    assert known(third) == (Earlier(f"{COMMAND} --full", "not confirmed"), *known(whole))
    (tmp_path / FILE).write_bytes(encoded(third))
    assert read_section(tmp_path) == third


def test_a_figure_is_an_order_of_its_own(tmp_path):
    """And no part of the page of all papers, which names all figures."""
    usual = section(USUAL, "confirmed")
    part = section(USUAL, "undecided", usual, figure="s1")
    assert part.order == dict(part.facts)["command"] == f"{COMMAND} --figure s1"
    assert known(part) == (Earlier(COMMAND, "confirmed"),)
    (tmp_path / "double-etc").mkdir()
    (tmp_path / "double-etc" / FILE).write_bytes(encoded(part))
    there = {one.name: one for one, _ in sections_in(tmp_path, USUAL, {})}
    assert there["double-etc"].missing == "not reproduced yet"


def test_the_verdicts_are_few_and_on_the_same_claim():
    usual = section(USUAL, "confirmed")
    for changed in ({"quote": "No."}, {"source": "section 6"}, {"criterion": "below 2"}):
        assert known(section(FULL, "confirmed", usual, replace(CLAIM, **changed))) == ()
    assert known(section(FULL, "confirmed", section(USUAL, None))) == ()
    made = usual
    for seed in range(1, 9):
        made = section(Order(seed=seed), "confirmed", made)
    assert [one.command[-1] for one in known(made)] == ["7", "6", "5", "4"]


def test_the_page_names_them_and_finds_what_differs(tmp_path):
    usual = section(USUAL, "not confirmed")
    for made, differing in (
        (section(FULL, "confirmed", usual), 1),
        (section(FULL, "confirmed"), 0),
    ):
        page = require_sound(Page("t", "l", [(made, None)], {}).html(tmp_path))
        also = [said for attributes, said in page.of("p") if attributes.get("class") == "also"]
        assert also == [f"also: not confirmed by {COMMAND}"] * differing
        chosen = [said for _, said in page.of("option", value="differs")]
        assert chosen == ["differs from the paper (1)"] * differing
        assert sum("data-differs" in attributes for attributes, _ in page.of("tr")) == differing


def test_open_choices_stay_with_the_sizes_that_they_were_measured_at(tmp_path):
    choice = parameter("T_1", "commit_pulls", (100, 200), 100, "detc")
    usual = section(USUAL, "undecided")
    points = (CLAIM.measured([Measurement("toy", "a / b", exact(1.0), "undecided")]),) * 2
    made = with_open(usual, [Swept(1, choice, points)])
    (row,), (figure,) = made.claims, made.figures
    assert row.open == figure.lines
    assert row.open[0].startswith("T_1 (stated: 100)")
    assert figure.command == f"{COMMAND} --open 1"
    assert section(USUAL, "undecided", made).claims[0].open == row.open
    assert section(USUAL, "undecided", made).figures == (figure,)
    assert section(FULL, "undecided", made).figures == ()
    assert section(FULL, "undecided", made).claims[0].open == ()
    page = require_sound(Page("t", "l", [(made, None)], {}).html(tmp_path))
    assert row.open[0] in [said for _, said in page.of("p")]
    assert with_open(made, [Swept(1, choice, points)]) == made
