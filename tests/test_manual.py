"""The manual: docstrings become Markdown, and broken links are found. Its build tests the rest."""

import json
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import jaxduel as jd
from jaxduel.plotting import Bar, BarsPanel, Line, LinePanel, Reference
from jaxduel.studies import papers
from jaxduel.studies.report.records import ClaimRow, Figure, Measured, Section, encoded
from notebooks.manual import check, docstrings, front, full, open_choices, pages, reports, which
from notebooks.manual import papers as pages_of_papers

TEXT = """Beat the Mean, Algorithm 1.

While arms are left: line 3 takes b. Lines 4 to 6: b meets b'. Line 7: one of them leaves.

    c(n) = sqrt(log(1 / delta) / n)

Args:
  gamma: relaxation; 1.3
    in experiments.
  *scales: radii.

It draws two numbers.

Returns:
  The winner.

Example:
  >>> 1 + 1
  2
"""


def test_sections_keep_their_order():
    found = docstrings.sections(TEXT.rstrip())
    assert [each.head for each in found] == ["", "Arg", "", "Return", "Example"]
    assert found[1].text == "gamma: relaxation; 1.3\n  in experiments.\n*scales: radii."


def test_lines_of_pseudo_code_are_points_and_formulas_stay():
    text = docstrings.markdown(TEXT.rstrip())
    assert "**line 3** takes b.\n\n- **Lines 4 to 6**: b meets b'.\n- **Line 7**: one of" in text
    assert "\n\n    c(n) = sqrt(log(1 / delta) / n)\n\n" in text


def test_entries_are_points_and_examples_are_code():
    text = docstrings.markdown(TEXT.rstrip())
    assert "- `gamma`: relaxation; 1.3\n  in experiments.\n- `*scales`: radii." in text
    assert "**Returns**: The winner." in text
    assert "```pycon\n>>> 1 + 1\n2\n```" in text


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        *(("b.html#end", True), ("#top", True), ("https://nowhere.invalid/x", True)),
        *(("b.html#no", False), ("c.html", False), ("x.svg", False)),
    ],
)
def test_links_are_followed_on_this_disk(link, leads, tmp_path):
    (tmp_path / "a.html").write_text(f'<h1 id="top"></h1><a href="{link}"></a>')
    (tmp_path / "b.html").write_text('<p id="end"></p>')
    assert check.broken(tmp_path) == ([] if leads else [f"a.html: {link}"])


@pytest.fixture
def report(tmp_path):
    """The folder of a report with one paper, of one figure and one claim."""
    number = Measured("arxiv", "A / B", "0.9 [0.8, 1]", "undecided")
    claim = ClaimRow("section 5", "A wins", "below 1", "undecided", "Few runs.", (number,))
    figure = Figure(
        "1a", "Figure 1a: regret", "Mean of 3 runs.", "A falls", picture="figure-1a.png"
    )
    lost = Figure("1b", "Figure 1b", missing="interrupted")
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "figure-1a.png").write_bytes(b"picture")
    section = Section(
        "toy", "Toy", "jaxduel reproduce toy", claims=(claim,), figures=(figure, lost)
    )
    (folder / "report.json").write_bytes(encoded(section))
    (tmp_path / "index.html").write_text("")
    return tmp_path, section


def test_pages_of_papers_have_verdicts_and_a_report_adds_figures(report, monkeypatch):
    folder, section = report
    claims, measured = reports.claims(section, None)
    row = "| 1 | “A wins”, section 5; confirmed by: below 1 | **undecided**. Few runs. | {} |"
    assert row.format("not measured at full size") in claims
    assert "| 1 | arxiv | A / B | 0.9 [0.8, 1]: undecided |" in measured
    assert list(reports.figures(section, None, "reference/papers/toy")) == []
    monkeypatch.setattr(reports, "FOLDER", folder)
    monkeypatch.setattr(pages, "SOURCE", folder / "source")
    _, link, figure = reports.figures(section, None, "reference/papers/toy")
    assert 'href="../../report/index.html#toy"' in link
    assert "{figure} toy-figure-1a.png\n:alt: A falls" in figure
    assert (folder / "source/reference/papers/toy-figure-1a.png").read_bytes() == b"picture"
    reports.copy_report(folder / "site")
    copied = {path.relative_to(folder / "site/report").as_posix()
              for path in (folder / "site").rglob("*.*")}  # fmt: skip
    assert {"index.html", "toy/figure-1a.png"} <= copied
    assert "toy/report.json" not in copied


def test_a_picture_is_kept_for_builds_without_a_report(report, monkeypatch, tmp_path):
    folder, _ = report
    for name, value in (
        ("VERDICTS", tmp_path / "verdicts.json"),
        ("KEPT", tmp_path / "kept"),
        ("SHOWN", {"toy": "1a"}),
    ):
        monkeypatch.setattr(reports, name, value)
    monkeypatch.setattr(pages, "SOURCE", tmp_path / "source")
    reports.keep(folder, ("toy",))
    assert (tmp_path / "kept" / "toy-figure-1a.png").read_bytes() == b"picture"
    _, words, figure = reports.figures(reports.sections()["toy"], None, "reference/papers/toy")
    assert words == "One of the figures that `jaxduel reproduce toy` makes."
    assert "{figure} toy-figure-1a.png\n:alt: A falls\n\nFigure 1a: regret. Mean of" in figure
    copied = tmp_path / "source" / "reference" / "papers" / "toy-figure-1a.png"
    assert copied.read_bytes() == b"picture"


def test_the_pictures_that_are_kept_are_those_of_the_papers():
    known = reports.sections()
    for name, panel in reports.SHOWN.items():
        (figure,) = known[name].figures
        assert figure.name == panel
        assert (reports.KEPT / f"{name}-{figure.picture}").is_file()


def test_verdicts_are_kept_without_figures_and_of_whole_papers_alone(report, monkeypatch, tmp_path):
    folder, section = report
    monkeypatch.setattr(reports, "VERDICTS", tmp_path / "verdicts.json")
    reports.keep(folder, ("toy",))
    assert json.loads(reports.VERDICTS.read_text())["toy"]["figures"] == []
    assert reports.sections()["toy"].claims == section.claims
    with pytest.raises(ValueError, match="other: not all was reproduced"):
        reports.keep(folder, ("toy", "other"))


TIMES, WHOLE = np.array([10, 100]), np.array([1.234567, 20.0])
CURVES = LinePanel(
    lines=[
        Line(name="dts", label="D-TS", at=TIMES, mean=WHOLE, lower95=WHOLE - 1, upper95=WHOLE + 1),
        Line(name="rucb", label="$R$", at=TIMES, mean=WHOLE, lower95=WHOLE, upper95=WHOLE * np.nan),
        Line(name="detc", label="D", at=TIMES[1:], mean=WHOLE[1:], lower95=WHOLE[1:],
             upper95=WHOLE[1:], separate=True),
    ],
    references=[Reference("bound", 3.0), Reference("own", WHOLE, TIMES, "dts")],
    kind="time", title="toy", across="$t$", up="regret", across_scale="log", top=30.0,
)  # fmt: skip
BARS = BarsPanel([Bar("dts", "D-TS", WHOLE, WHOLE, WHOLE)], ["a", "b"], "spread")


@pytest.fixture
def whole(report, tmp_path, monkeypatch):
    """The folder of the same paper at full size, with a panel of curves and one of bars; the
    arguments with which it is reproduced again; its file."""
    folder, section = report
    folder = folder / "toy"
    other = Measured("sushi", "A / B", "0.5 [0.4, 0.6]", "confirmed")
    claim = replace(section.claims[0], verdict="confirmed",
                    measured=(*section.claims[0].measured, other))  # fmt: skip
    figures = tuple(Figure(name, f"Figure {name}", "Of 9 runs.", "A falls") for name in ("1a", "2"))
    order = "jaxduel reproduce toy --full --runs 9"
    facts = (("command", order), ("run time", "1:00"), ("platform", "a secret"))
    made = replace(section, order=order, facts=facts, claims=(claim,), figures=figures)
    (folder / "report.json").write_bytes(encoded(made))
    chosen = []

    def reproduced(name, **arguments):
        chosen.append((name, arguments))
        panels = {"1a": CURVES, "2": BARS}
        return SimpleNamespace(panels={k: SimpleNamespace(content=p) for k, p in panels.items()})

    monkeypatch.setattr(jd, "reproduce", reproduced)
    monkeypatch.setattr(full, "FILE", tmp_path / "verdicts-full.json")
    return folder, made, chosen


def test_a_paper_at_full_size_is_kept_with_the_numbers_of_its_curves(whole):
    folder, made, chosen = whole
    assert full.kept() == {}
    full.measure("toy", folder)
    ((name, arguments),) = chosen
    assert arguments.pop("until") <= datetime.now()  # nothing is simulated
    assert (name, arguments) == ("toy", {"out": folder, "full": True, "runs": 9})
    kept = full.kept()["toy"]
    assert kept.section.claims == made.claims
    assert kept.section.facts == (("run time", "1:00"),)
    assert list(kept.curves) == [figure.name for figure in kept.section.figures] == ["1a"]
    second = kept.curves["1a"].lines[1]
    assert (second.at, second.mean, second.upper) == ("", "1.2346 20", "nan nan")
    panel = full.panel_of(kept.curves["1a"])
    assert replace(panel, lines=(), references=()) == replace(CURVES, lines=(), references=())
    for found, given in zip(panel.lines, CURVES.lines, strict=True):
        for name in ("at", "mean", "lower95", "upper95"):
            np.testing.assert_allclose(getattr(found, name), getattr(given, name), rtol=5e-5)
        assert (found.name, found.label) == (given.name, given.label)
        assert found.separate == given.separate
    level, own = panel.references
    assert (level, own.name) == (CURVES.references[0], "dts")
    np.testing.assert_allclose(own.values, WHOLE, rtol=5e-5)


def test_what_cannot_be_kept_leaves_the_file_as_it_was(whole, monkeypatch):
    folder, made, _ = whole
    full.measure("toy", folder)
    before = full.FILE.read_bytes()
    for changed, message in (
        ({"missing": "panel 2 is missing"}, "toy: not all was reproduced"),
        ({"order": "jaxduel reproduce toy"}, "made without --full"),
    ):
        (folder / "report.json").write_bytes(encoded(replace(made, **changed)))
        with pytest.raises(ValueError, match=message):
            full.measure("toy", folder)
    (folder / "report.json").write_bytes(encoded(made))
    monkeypatch.setattr(full, "_MOST_BYTES", 99)
    with pytest.raises(ValueError, match=r"bytes with toy: at most 99$"):
        full.measure("toy", folder)
    assert full.FILE.read_bytes() == before


def test_pages_show_both_sizes(whole, report, monkeypatch, tmp_path):
    folder, _, _ = whole
    full.measure("toy", folder)
    kept, usual = full.kept()["toy"], report[1]
    claims, measured = reports.claims(usual, kept.section)
    assert "| **undecided**. Few runs. | **confirmed**. Few runs. |" in claims
    assert "| 1 | arxiv | A / B | 0.9 [0.8, 1]: undecided | 0.9 [0.8, 1]: undecided |" in measured
    assert "| 1 | sushi | A / B | – | 0.5 [0.4, 0.6]: confirmed |" in measured
    assert pages_of_papers._how(kept) == "`jaxduel reproduce toy --full --runs 9` (run time: 1:00)"
    monkeypatch.setattr(reports, "FOLDER", folder.parent)
    monkeypatch.setattr(pages, "SOURCE", tmp_path / "source")
    *_, words, grid = reports.figures(usual, kept, "reference/papers/toy")
    assert words.endswith("that `jaxduel reproduce toy --full --runs 9` made.")
    first, second = grid.split("{figure} ")[1:]
    assert first.startswith("toy-figure-1a.png\n:alt: A falls\n\nBy default. Figure 1a: regret.")
    assert second.startswith("toy-figure-1a-full.png\n:alt: A falls\n\nAt full size. Figure 1a.")
    picture = tmp_path / "source" / "reference" / "papers" / "toy-figure-1a-full.png"
    assert picture.read_bytes()[1:4] == b"PNG"


def test_the_index_counts_both_sizes():
    usual = reports.sections()
    name = papers.names()[0]
    at_full = {name: full.Kept(replace(usual[name], claims=usual[name].claims[:1]), {})}
    names = [f"papers/{name}" for name in papers.names()]
    *_, index, tree = pages_of_papers._index(names, usual, at_full, "papers/claims")
    assert tree.splitlines()[-2:] == ["/papers/claims", "```"]
    rows = index.splitlines()[2:]
    assert rows[0].endswith(f"| 1 {usual[name].claims[0].verdict} |")
    assert all(row.endswith("| not measured at full size |") for row in rows[1:-1])
    *_, every = pages_of_papers._all_claims(usual, at_full)
    assert len(every.splitlines()) == 2 + sum(len(section.claims) for section in usual.values())


def test_numbers_of_the_first_page_come_from_their_files(report, monkeypatch, tmp_path):
    policies, *others = front.numbers()
    assert (policies.value, len(others)) == (str(len(jd.policies.names())), 3)
    speed, regrets = tmp_path / "measured.json", tmp_path / "regret.csv"
    speed.write_text(json.dumps({"plain C": {"rows": [[front._CASE, 2.34, 1.0, 2.29]]}}))
    regrets.write_text("source,t\nWu,100\nWu,1000\necw_rmed.c paper,100\n")
    monkeypatch.setattr(front, "_SPEED", speed)
    monkeypatch.setattr(front, "_OTHERS", regrets)
    monkeypatch.setattr(reports, "sections", lambda: {"toy": report[1]})
    _, claims, seconds, agreeing = front.numbers()
    assert (claims.value, claims.words.partition(": ")[2]) == ("1", "1 undecided")
    assert (seconds.value, seconds.words[-17:]) == ("2.3 ms", "2.3 times plain C")
    assert agreeing.value == "2"


def test_verdicts_of_the_manual_are_on_the_claims_of_the_papers():
    known = reports.sections()
    for name in papers.names():
        assert not reports.stale(papers.load(name), known[name])
    for name, kept in full.kept().items():
        assert not reports.stale(papers.load(name), kept.section)
        assert set(kept.curves) == {figure.name for figure in kept.section.figures}
    for name, found in open_choices.kept().items():
        assert not open_choices.stale(papers.load(name), found)


def test_maps_of_open_choices_are_kept_and_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(open_choices, "FILE", tmp_path / "open.json")
    monkeypatch.setattr(pages, "SOURCE", tmp_path)
    swept = SimpleNamespace(number=5, sentence="Holds.", columns=[1], panel=lambda: CURVES)
    report = SimpleNamespace(swept=[swept], interrupted=False)
    monkeypatch.setattr(papers, "open_choices", lambda *_, **__: report)
    open_choices.measure("double-etc", tmp_path)
    found = open_choices.kept()["double-etc"]
    assert open_choices.stale(papers.load("double-etc"), found)  # others are open, too
    heading, sentences, figure = open_choices.section(found, "double-etc")
    assert heading == f"### Claim 5: “{papers.load('double-etc').claims[4].quote}”"
    assert sentences == "- Holds."
    assert "`jaxduel reproduce double-etc --open 5`" in figure
    picture = tmp_path / "reference" / "papers" / "double-etc-open-5.png"
    assert picture.read_bytes()[1:4] == b"PNG"
    report.interrupted = True
    with pytest.raises(ValueError, match="not all was simulated"):
        open_choices.measure("double-etc", tmp_path)


def test_the_tables_of_which_policy_when_are_those_of_its_numbers():
    rows, page = pd.read_csv(which.NUMBERS), which.PAGE.read_text()
    made = which.tables(rows)
    assert which.rewritten(page, made) == page
    assert all(f"<!-- which: {name} -->" in page for name in made)
    for name, grid in which.GRIDS.items():
        some = rows[rows["study"] == name]
        assert set(some["policy"]) == {entry.name for entry in grid.policies}
        assert set(some["problem"]) == {entry.name for entry in grid.problems}
        assert (some["num_seeds"] == grid.num_seeds).all()


def test_bold_is_what_lies_in_the_interval_of_the_least():
    rows = pd.DataFrame(
        [("toy", 3, "a", 20.0, 24.0), ("toy", 3, "b", 10.0, 12.0), ("toy", 3, "c", 11.5, 30.0)],
        columns=["problem", "num_arms", "policy", "mean", "upper95"],
    )
    *_, b, c, a = which._regrets(rows).splitlines()
    assert (b, c) == ("| `b` | **10** | 1 |", "| `c` | **11.5** | 1.1 |")
    assert a == "| `a` | 20 | 2 |"
