"""The page of a fit of votes: its numbers, its files, names of any kind, and a browser."""

import io
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import jaxduel as jd
from jaxduel.studies.report.votes import MOST_ARMS, write_fit
from jaxduel.votes.facts import facts
from tests.browsing import DESKTOP, PHONE, browser
from tests.studies.report.boards import HOSTILE, blank, hostile, small
from tests.studies.report.pages import require_sound

ACTING = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f]"
"""Characters that act on a terminal or turn the direction of writing."""


@pytest.fixture
def no_pictures(monkeypatch):
    monkeypatch.setattr("jaxduel.plotting.png", blank)
    monkeypatch.setattr("jaxduel.plotting.pdf", blank)


def page_of(fit, folder, **asked):
    return require_sound(write_fit(fit, folder, **asked).read_text())


def said(page, tag):
    return [text for _, text in page.of(tag)]


def rows(page, caption):
    """Entries of the table with this caption, by row; the first row is its head."""
    found, last = [], None
    for tag, _, text in page.all:
        words = " ".join("".join(text).split())
        last = words if tag == "caption" else last
        if last == caption and tag == "tr":
            found.append([])
        elif last == caption and tag in ("th", "td"):
            found[-1].append(words)
    return found


@pytest.mark.parametrize("model", ["btl", "davidson"])
def test_numbers_of_the_page_are_those_of_the_fit(model, tmp_path):
    fit = small(model)
    page = page_of(fit, tmp_path, command="jaxduel fit small.csv --out x")
    table = fit.table().merge(fit.elo(), on="arm").merge(fit.ranks(), on="arm")
    head, *arms = rows(page, "Arms, the best first")
    assert head == [
        *("arm", "rating [95 %]", "rank", "ranks", "P(best)", "P(top 3)", "strength [95 %]"),
        *("votes", "wins", "ties", "beats", "Borda"),
    ]
    for row, one in zip(arms, table.to_dict("records"), strict=True):
        between = [one["rank_low"], one["rank_high"]]
        assert row == [
            one["arm"],
            f"{one['elo']:.0f} [{one['elo_low']:.0f}, {one['elo_high']:.0f}]",
            str(one["rank"]),
            " to ".join(map(str, dict.fromkeys(between))),
            f"{one['best']:.3f}",
            f"{one['top_3']:.3f}",
            f"{one['strength']:.2f} [{one['low']:.2f}, {one['high']:.2f}]",
            *(str(one[name]) for name in ("votes", "wins", "ties", "copeland")),
            f"{one['borda']:.3f}",
        ]
    _, *pairs = rows(page, "Each arm and the next")
    for row, two in zip(pairs, pairwise(table["arm"]), strict=True):
        (one,) = fit.between(*two).to_dict("records")
        assert row[:3] == [*two, f"{one['gap_above']:.3f}"]
        assert row[3] == f"{one['gap']:.2f} [{one['gap_low']:.2f}, {one['gap_high']:.2f}]"
    assert said(page, "h1") == ["small.csv"]
    best = fit.best.max()
    assert said(page, "p")[0].startswith(f"dan is the best with probability {best:.3f}, ada with ")
    for line in (*facts(fit), *fit.misfit.lines()):
        assert line.strip() in said(page, "li")
    assert "jaxduel fit small.csv --out x" in said(page, "code")
    assert len(page.of("img")) == 2
    assert page.of("script", id="plotly") == []  # no curves: a small page


def test_files_stand_beside_with_all_numbers(tmp_path):
    fit = small()
    write_fit(fit, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        *("index.html", "fit.csv", "fit.json", "pairs.csv"),
        *(
            f"{stem}.{kind}"
            for stem in ("ratings", "preferences")
            for kind in ("png", "pdf", "csv")
        ),
    }
    table = fit.table().merge(fit.elo(), on="arm").merge(fit.ranks(), on="arm")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "fit.csv"), table)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "ratings.csv"), fit.elo())
    pairs = pd.concat([fit.between(*two) for two in pairwise(table["arm"])], ignore_index=True)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "pairs.csv"), pairs)
    problem = jd.problems.load(tmp_path / "preferences.csv")
    assert problem.arms == tuple(table["arm"])
    order = [fit.votes.arms.index(arm) for arm in problem.arms]
    expected = fit.problem.preferences[np.ix_(order, order)]
    np.testing.assert_array_equal(problem.preferences, expected)
    for name in ("ratings", "preferences"):
        assert Image.open(io.BytesIO((tmp_path / f"{name}.png").read_bytes())).width > 500
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.usefixtures("no_pictures")
def test_anchor_pairs_and_top_are_those_asked_for(tmp_path):
    fit = small()
    page = page_of(fit, tmp_path, anchor=2, rating=1500, between=["bea", "ada"], top=2)
    head, *arms = rows(page, "Arms, the best first")
    assert head[5] == "P(top 2)"
    assert {row[0]: row[1] for row in arms}["cyd"] == "1500 [1500, 1500]"
    assert [row[:2] for row in rows(page, "The pairs asked for")[1:]] == [["bea", "ada"]]
    assert "relative to cyd, at 1500" in " ".join(said(page, "li"))
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "pairs.csv"), fit.between("bea", "ada"))
    page = page_of(fit, tmp_path, between=[])
    assert len(rows(page, "The pairs asked for")) == 1 + 6


def test_the_free_model_has_scores(tmp_path):
    fit = small("free")
    page = page_of(fit, tmp_path)
    head, *arms = rows(page, "Arms, the best first")
    assert head == ["arm", "beats", "Borda", "P(best)", "votes", "wins", "ties"]
    table = fit.table()
    for row, one in zip(arms, table.to_dict("records"), strict=True):
        expected = [one["arm"], str(one["copeland"]), f"{one['borda']:.3f}", f"{one['best']:.3f}"]
        assert row[:4] == expected
    assert said(page, "h2")[1:4] == ["Scores", "Numbers", "Preferences"]
    assert any(line.startswith("btl against free") for line in said(page, "li"))
    assert len(page.of("img")) == 2
    for asked in ({"anchor": "ada"}, {"between": []}):
        with pytest.raises(jd.InputError, match="the free model has no strengths"):
            write_fit(fit, tmp_path, **asked)


@pytest.mark.usefixtures("no_pictures")
def test_a_model_that_the_votes_contradict_is_said_to_be_one(tmp_path):
    votes = jd.votes.from_counts([[0, 70, 30], [30, 0, 70], [70, 30, 0]])
    page = page_of(jd.votes.fit(votes), tmp_path)
    assert any(line.startswith("The votes contradict btl") for line in said(page, "li"))
    page = page_of(small(), tmp_path)
    assert "Nothing in the votes speaks against btl." in said(page, "li")


@pytest.mark.usefixtures("no_pictures")
def test_fractions_of_votes_are_shown_and_not_tested(tmp_path):
    page = page_of(jd.votes.fit(jd.votes.from_counts([[0, 2.25], [1, 0]])), tmp_path)
    assert rows(page, "Arms, the best first")[1][7:9] == ["3.25", "2.25"]
    assert "There is no test of btl." in said(page, "li")


@pytest.mark.usefixtures("no_pictures")
def test_a_plan_in_the_folder_is_shown(tmp_path):
    line = "small.csv: 4 arms, 611 votes; model btl, arms named by btl"
    (tmp_path / "plan.txt").write_text(f"{line}\nnow: <b>dan</b>\x1b[1m\u202e\n")
    Image.fromarray(np.full((20, 30, 3), 200, np.uint8)).save(tmp_path / "plan.png")
    (tmp_path / "plan-curves.csv").write_text("policy\n")
    page = page_of(small(), tmp_path)
    assert "Plan" in said(page, "h2")
    assert {line, r"now: <b>dan</b>\x1b[1m\u202e"} <= set(said(page, "li"))
    assert page.of("b") == []
    assert len(page.of("img")) == 3
    assert {"plan.png", "plan-curves.csv"} <= {link["href"] for link, _ in page.of("a")}
    assert (tmp_path / "plan.txt").read_text().startswith(line)  # and is left alone


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["btl", "free"])
def test_names_of_any_kind_are_texts(model, tmp_path):
    fit = hostile(model)
    page = page_of(fit, tmp_path)
    text = (tmp_path / "index.html").read_text()
    assert not re.search(ACTING, text)
    assert not any(key.startswith("on") for _, attributes, _ in page.all for key in attributes)
    assert [attributes for attributes, _ in page.of("script")] == [{}]
    assert len(page.of("style")) == 1
    assert len(page.of("img")) == 2
    names = [row[0] for row in rows(page, "Arms, the best first")[1:]]
    assert len(set(names)) == len(HOSTILE)
    assert max(map(len, names)) <= 40
    assert any(name.startswith("<script>window.ran") for name in names)
    assert any(name.startswith(r"a\x1b[31mred\x07\r\nline") for name in names)
    assert any("{{ 7 * 7 }}" in name for name in names)
    assert sum(name.startswith("xxxxx") for name in names) == 2
    assert "'=HYPERLINK(1)" in (tmp_path / "fit.csv").read_text()


@pytest.mark.thorough
@pytest.mark.usefixtures("no_pictures")
def test_a_thousand_arms_are_cut_and_said_to_be(tmp_path):
    fit = hostile("free", 1_000)
    vars(fit)["best"] = np.linspace(0.002, 0, 1_000)  # which takes minutes of so many pairs
    page = page_of(fit, tmp_path)
    shown = rows(page, "Arms, the best first")[1:]
    assert len(shown) == MOST_ARMS
    assert len({row[0] for row in shown}) == MOST_ARMS
    assert f"The first {MOST_ARMS} of 1,000 arms: fit.csv has all." in said(page, "li")
    assert len(pd.read_csv(tmp_path / "fit.csv")) == 1_000
    assert len(page.of("img")) == 6 + 1
    assert said(page, "h3")[:2] == ["Places 1 to 34", "Places 35 to 68"]
    assert (tmp_path / "index.html").stat().st_size < 2**22


@pytest.mark.thorough
@pytest.mark.parametrize("count", [len(HOSTILE), 129])
def test_it_is_sound_in_a_browser(count, tmp_path):
    page = write_fit(hostile("btl", count), tmp_path).as_uri()
    with browser() as reader:
        for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
            reader.open(page, size, scheme)
            assert reader.faults() == []
            assert reader.run("return window.ran ?? null") is None
            assert reader.run("return getComputedStyle(document.body).display") == "block"
