"""All papers one after another: the page, what is missing, interrupts, going on."""

from collections import Counter
from dataclasses import replace

import pytest

import jaxduel as jd
from jaxduel.studies import papers
from jaxduel.studies.engine import machines
from jaxduel.studies.engine.progress import StudyProgress
from jaxduel.studies.papers.everything import reproduce_all
from jaxduel.studies.papers.pages import read_page, sections_in
from jaxduel.studies.papers.paper import Order, Size, Sizes
from jaxduel.studies.report.records import FILE, read_section
from tests.studies.papers.smaller import machine, smaller
from tests.studies.report.pages import require_sound

pytestmark = [
    pytest.mark.usefixtures("quick_compilation"),
    pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning"),
]
NAMES = ("batched-dueling", "double-etc")


@pytest.fixture(autouse=True)
def two_small_papers(monkeypatch):
    """Two papers of a few panels and policies, to T = 1,000."""
    first, second = (papers.load(name) for name in NAMES)
    cut = (
        smaller(first, {"2a": ["scomp2", "rmed1"], "2b": ["rmed1"]}),
        smaller(second, {"1": None}),
    )
    small = {paper.name: replace(paper, panels=tuple(map(_short, paper.panels))) for paper in cut}
    monkeypatch.setattr(papers, "names", lambda: NAMES)
    monkeypatch.setattr(papers, "load", small.__getitem__)
    with machine("sushi"):
        yield small


def _short(panel):
    return replace(panel, sizes=Sizes(Size(1_000, 2), Size(1_000, 2)))


def made(folder, **chosen):
    with pytest.warns(UserWarning, match="panel 2b is missing: sushi"):
        return reproduce_all(folder, runs=2, progress=False, **chosen)


@pytest.mark.thorough
def test_the_page_has_everything(tmp_path, two_small_papers, monkeypatch):
    notes = []
    monkeypatch.setattr(StudyProgress, "note", lambda self, text: notes.append(text))
    outcome = made(tmp_path)
    assert outcome.page == tmp_path / "index.html"
    assert not outcome.interrupted
    text = outcome.page.read_text()
    page = require_sound(text)
    for paper in two_small_papers.values():
        assert page.of("h2", id=paper.name)[0][1] == paper.TITLE
    rows = page.of("tr", role="row")[1:]
    claims = [claim for paper in two_small_papers.values() for claim in paper.claims]
    assert len(rows) == len(claims)
    for claim, (attributes, said) in zip(claims, rows, strict=True):
        assert " ".join(claim.quote.split()) in said
        assert " ".join(claim.criterion.split()) in said
        assert attributes["data-verdict"] in said
    verdicts = Counter(row["data-verdict"] for row, _ in rows)
    measured = [claim for section in outcome.sections for claim in section.claims]
    assert verdicts == Counter(claim.verdict for claim in measured)
    assert set(verdicts) > {"not measured"}
    decided = verdicts["confirmed"] + verdicts["not confirmed"]
    assert notes[-1].endswith(f"done; claims decided: {decided} of {len(claims)}")
    assert len(notes) == len(NAMES)
    holes = [said for attributes, said in page.of("p") if "hole" in attributes.get("class", "")]
    assert len(holes) == 1
    assert "sushi is not on this machine" in holes[0]
    commands = [said for _, said in page.of("code")]
    assert "jaxduel reproduce batched-dueling --figure 2a --runs 2" in commands
    assert f"jaxduel reproduce all --runs 2 --out {tmp_path}" in commands
    assert text.count('id="plotly"') == 1
    pictures = page.of("img")
    assert len(pictures) == 2
    assert "the lowest is" in pictures[0][0]["alt"]
    for link, _ in page.of("a"):
        if not link["href"].startswith("#"):
            assert (tmp_path / link["href"]).is_file()


@pytest.mark.thorough
def test_it_goes_on_and_keeps_the_run_time(tmp_path, monkeypatch):
    first = made(tmp_path)
    seconds = [section.seconds for section in first.sections]
    assert min(seconds) > 0
    monkeypatch.setattr(machines, "run_tasks", lambda *_, **__: iter(()))  # nothing is left
    again = made(tmp_path)
    assert [section.seconds for section in again.sections] == seconds
    assert all(section.seconds_known for section in again.sections)
    (tmp_path / NAMES[0] / FILE).write_text("{")  # as if it had been killed before it wrote that
    third = made(tmp_path)
    assert [section.seconds_known for section in third.sections] == [False, True]


@pytest.mark.thorough
def test_an_interrupt_leaves_a_page_of_what_is_done(tmp_path, monkeypatch):
    real = machines.run_tasks

    def interrupted(store, tasks, *arguments, **options):
        yield from real(store, tasks[:-1], *arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(machines, "run_tasks", interrupted)
    outcome = made(tmp_path)
    assert outcome.interrupted
    assert outcome.blocks.wanted - outcome.blocks.stored == 1
    page = require_sound(outcome.page.read_text())
    assert len(page.of("img")) == 1
    missing = [figure.missing for one in outcome.sections for figure in one.figures]
    assert missing.count("not all that it shows is simulated yet") == 1
    assert any("Not complete:" in said for _, said in page.of("p"))
    monkeypatch.setattr(machines, "run_tasks", real)
    again = made(tmp_path)
    assert (again.interrupted, again.blocks.before) == (False, outcome.blocks.stored)
    assert len(require_sound(outcome.page.read_text()).of("img")) == 2


@pytest.mark.thorough
def test_shares_of_all_papers_make_what_one_process_makes(tmp_path):
    first = made(tmp_path / "parts", shard=(1, 2))
    assert 0 < first.blocks.stored < first.blocks.wanted
    assert not first.interrupted
    second = made(tmp_path / "parts", shard=(2, 2))
    assert second.blocks.stored == second.blocks.wanted == first.blocks.wanted
    whole = made(tmp_path / "whole")
    for name in NAMES:
        texts = [(tmp_path / part / name / "claims.csv").read_text() for part in ("parts", "whole")]
        assert texts[0] == texts[1]
    assert whole.blocks.before == 0


def test_a_page_is_there_before_the_first_paper(tmp_path, monkeypatch):
    class Killed(BaseException):
        pass

    def load(name):
        raise Killed

    monkeypatch.setattr(papers, "load", load)
    with pytest.raises(Killed):
        reproduce_all(tmp_path, progress=False)
    page = require_sound((tmp_path / "index.html").read_text())
    assert sum("not reproduced yet" in said for _, said in page.of("p")) == 2


@pytest.mark.thorough
def test_runs_of_another_order_are_not_shown_but_leave_their_verdicts(tmp_path):
    usual = made(tmp_path).sections
    order = Order(runs=3)
    assert [s.missing for s, _ in sections_in(tmp_path, order, {})] == ["not reproduced yet"] * 2
    whole = made(tmp_path, full=True)
    for before, after in zip(usual, whole.sections, strict=True):
        assert [[one.verdict for one in row.earlier] for row in after.claims] == [
            [row.verdict] if row.measured else [] for row in before.claims
        ]
    text = whole.page.read_text()
    assert "by <code>jaxduel reproduce batched-dueling --runs 2</code>" in text


def test_a_paper_without_data_leaves_a_note(tmp_path, monkeypatch, two_small_papers):
    alone = replace(two_small_papers[NAMES[0]], panels=two_small_papers[NAMES[0]].panels[1:])
    load = papers.load
    monkeypatch.setattr(papers, "load", lambda name: alone if name == NAMES[0] else load(name))
    with pytest.warns(UserWarning, match="batched-dueling is missing: sushi"):
        outcome = reproduce_all(tmp_path, runs=2, progress=False)
    assert outcome.sections[0].missing == "sushi is not on this machine"
    require_sound(outcome.page.read_text())
    monkeypatch.setattr(papers, "names", lambda: NAMES[:1])
    with (
        pytest.warns(UserWarning, match="is missing"),
        pytest.raises(jd.InputError, match="sushi is not on this machine"),
    ):
        reproduce_all(tmp_path, runs=2, progress=False)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [({"runs": 0}, "runs must be at least 1"), ({"seed": -1}, "seed must be"),
     ({"out": __file__}, "cannot be created"),
     ({"decide": 1.0, "shard": (1, 2)}, "decide needs the runs of all shares"),
     ({"shard": (3, 2)}, "shard must be")],
)  # fmt: skip
def test_requests_that_cannot_be_met(chosen, message, tmp_path):
    with pytest.raises(jd.InputError, match=message):
        reproduce_all(**{"out": tmp_path, **chosen})


@pytest.mark.thorough
def test_pages_are_read_back(tmp_path):
    assert read_page(tmp_path) is None
    made(tmp_path)
    assert len(read_page(tmp_path).sections) == 2
    (one,) = read_page(tmp_path / NAMES[1]).sections
    assert one[0] == read_section(tmp_path / NAMES[1])
    (tmp_path / NAMES[0] / FILE).write_text("{}")
    with pytest.raises(jd.InputError, match="is damaged, or of another version"):
        read_page(tmp_path)
