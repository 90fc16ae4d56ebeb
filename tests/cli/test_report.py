"""`jaxduel report` and `jaxduel reproduce all`: pages, codes, bad input, an interrupt."""

import json
from dataclasses import replace

import pytest

from jaxduel.studies import papers
from jaxduel.studies.papers.paper import Size, Sizes
from jaxduel.studies.report.sweeps import _overview
from jaxduel.studies.sweep.reading.cells import choose
from tests.cli.command_line import outcome
from tests.studies.papers.smaller import machine, smaller
from tests.studies.report.pages import require_sound
from tests.studies.sweep.made_up import cell, sweep

NAME = "batched-dueling"


@pytest.fixture
def one_small_paper(monkeypatch):
    """All papers are one, with one panel of three policies that play in batches."""
    cut = smaller(papers.load(NAME), {"2a": ["scomp2", "scomp2[num_batches=8]"]})
    size = Sizes(Size(300, 2), Size(400, 3))
    small = replace(cut, panels=tuple(replace(panel, sizes=size) for panel in cut.panels))
    monkeypatch.setattr(papers, "names", lambda: (NAME,))
    monkeypatch.setattr(papers, "load", lambda name: small)
    with machine():
        yield


@pytest.mark.usefixtures("one_small_paper", "quick_compilation")
@pytest.mark.filterwarnings("ignore::jaxduel.AssumptionWarning")
@pytest.mark.thorough
def test_all_papers_and_their_page_again(capsys, tmp_path):
    code, text, _ = outcome(capsys, "reproduce", "all", "--full", "--out", tmp_path)
    assert code == 0
    assert text.endswith(f"the page: {tmp_path / 'index.html'}\n")
    assert f"{NAME}  " in text
    assert "not measured" in text
    content = (tmp_path / "index.html").read_text()
    page = require_sound(content)
    assert f"jaxduel reproduce all --full --out {tmp_path}" in {said for _, said in page.of("code")}
    assert "mean of 3 runs" in page.of("figcaption")[0][1]
    for folder in (tmp_path, tmp_path / NAME):
        assert outcome(capsys, "report", folder) == (0, f"{folder / 'index.html'}\n", "")
        again = require_sound((folder / "index.html").read_text())
        assert again.of("figcaption") == page.of("figcaption")
        assert len(again.of("tr", role="row")) == len(page.of("tr", role="row"))


@pytest.mark.usefixtures("one_small_paper")
def test_an_interrupt_is_code_130_and_leaves_the_page(capsys, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("jaxduel.studies.engine.machines.run_tasks", interrupted)
    code, text, errors = outcome(capsys, "reproduce", "all", "--out", tmp_path)
    assert code == 130
    assert "what had finished is kept, and is in the page" in errors
    assert "batched-dueling  not reproduced yet" in text
    page = require_sound((tmp_path / "index.html").read_text())
    assert any("Not complete" in said for _, said in page.of("p"))


@pytest.mark.thorough
def test_a_sweep_that_is_not_finished(capsys, tmp_path):
    cells = [
        cell(policy, problem, arms, horizon, alpha=alpha)
        for policy in ("rucb", "<b>odd</b>")
        for problem, arms in (("arxiv", 6), ("cyclic", 4))
        for horizon in (100, 10_000)
        for alpha in (0.5, 1.0)
    ]
    sweep(
        tmp_path / "s",
        cells,
        definitions=lambda policy: ("copeland", "weak"),
        blocks=lambda policy, number: policy == "rucb" or number == 0,
    )
    code, text, _ = outcome(capsys, "report", tmp_path / "s")
    path = tmp_path / "s" / "report" / "index.html"
    assert (code, text) == (0, f"{path}\n")
    page = require_sound(path.read_text())
    assert page.of("b") == []
    said = {tag: [words for _, words in page.of(tag)] for tag in ("h2", "h3", "caption", "tr")}
    assert said["h2"] == ["Contents", "Overview", "arxiv, K = 6", "cyclic, K = 4"]
    assert len(said["h3"]) == 8
    assert "Copeland regret, T = 1e4" in said["h3"]
    assert said["caption"][:2] == ["Lowest regret at the horizon", "What is left"]
    assert "<b>odd</b>8 of 880 of 160" in said["tr"]
    rows = [words for words in said["tr"] if words.startswith("rucb[alpha=0.5]20")]
    assert len(rows) == 8
    assert len(page.of("img")) == len(page.of("figcaption")) == 8
    commands = [words for _, words in page.of("code")]
    assert f"jaxduel plot {tmp_path / 's'} --problem arxiv --horizon 100 --regret weak" in commands


def test_figures_of_many_policies_have_the_best(capsys, tmp_path):
    cells = [cell("rucb", "arxiv", 6, 100)]
    cells += [cell("rucb", "arxiv", 6, 100, alpha=1 + n / 4) for n in range(21)]
    sweep(tmp_path / "s", cells)
    code, _, errors = outcome(capsys, "report", tmp_path / "s")
    assert code == 0, errors
    page = require_sound((tmp_path / "s" / "report" / "index.html").read_text())
    ((_, caption),) = page.of("figcaption")
    assert caption.endswith("The 20 best of 22 policies.")
    (command,) = (words for _, words in page.of("code") if "jaxduel plot" in words)
    assert len(command.partition(" --policy ")[2].split()) == 20
    assert "'rucb[]'" in command


def test_a_sweep_of_which_nothing_has_run(capsys, tmp_path):
    cells = [cell("rucb", "arxiv", 6, 100)]
    data = sweep(tmp_path / "s", cells, blocks=lambda policy, number: False)
    of_no_grid = _overview(data.assign_attrs(grid="{}"), choose(data), "s")
    assert "root seed" not in dict(of_no_grid.facts)
    assert outcome(capsys, "report", tmp_path / "s", "--out", tmp_path / "p")[0] == 0
    page = require_sound((tmp_path / "p" / "index.html").read_text())
    assert any("nothing of it has run yet" in said for _, said in page.of("p"))
    assert not any("jaxduel plot" in said for _, said in page.of("code"))
    assert page.of("img") == page.of("script", id="plotly") == []


def test_time_of_arms_is_in_pulls(capsys, tmp_path):
    cells = [cell("base", "gaussian", 3, 100)]
    sweep(tmp_path / "s", cells, definitions=lambda policy: ("pulls",))
    assert outcome(capsys, "report", tmp_path / "s")[0] == 0
    page = require_sound((tmp_path / "s" / "report" / "index.html").read_text())
    (_, caption), (_, chart) = *page.of("figcaption"), *page.of("script", type="application/json")
    assert caption.startswith("Regret R(t), against pulls t: mean of 20 seeds")
    assert json.loads(chart)["across"] == "pulls t"


def test_a_page_that_cannot_be_written(capsys, tmp_path):
    sweep(tmp_path / "s", [cell("rucb", "arxiv", 6, 100)])
    code, _, errors = outcome(capsys, "report", tmp_path / "s", "--out", __file__)
    assert code == 2
    assert "cannot be created" in errors
