"""A report that somebody else made cannot act: no script, no file from outside, no command."""

import os
import re
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

import jaxduel as jd
from jaxduel.studies.report import records
from jaxduel.studies.report.folders import write_report
from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, run_sweep
from tests.browsing import DESKTOP, browser
from tests.studies.report.hostile import (
    ACT,
    FIGURE,
    LINE,
    LINK,
    MARKUP,
    REFUSED,
    SOUND,
    changed,
    with_clobbered_names,
    with_texts,
    write,
)
from tests.studies.report.pages import Elements, require_sound

INERT = {
    "markup in every text": with_texts(MARKUP),
    "links in every text": with_texts(LINK),
    "names of the page's own elements": with_clobbered_names(),
    "text that turns round": with_texts("a\u202eb\u2066c\x1b[1m"),
}
"""Records that are read, and whose texts are shown as text."""


def picture(path):
    Image.fromarray(np.full((20, 30, 3), 200, np.uint8)).save(path)
    return path


def images(folder):
    page = require_sound(write_report(folder).read_text())
    return [attributes["src"] for attributes, _ in page.of("img")]


def test_a_sound_record_is_shown(tmp_path):
    picture(write(tmp_path, SOUND) / "figure-1a.png")
    page = require_sound(write_report(tmp_path).read_text())
    assert len(page.of("img")) == 1
    assert page.of("pre") == [({"tabindex": "0"}, "a line another")]


@pytest.mark.parametrize("name", REFUSED)
def test_records_that_would_act_are_refused(name, tmp_path):
    write(tmp_path, changed(*REFUSED[name]))
    with pytest.raises(jd.InputError, match=r"^'.*report.json' is damaged, or of another version"):
        write_report(tmp_path)
    assert not (tmp_path / "index.html").exists()


@pytest.mark.parametrize("name", INERT)
def test_texts_are_texts(name, tmp_path):
    write(tmp_path, INERT[name])
    text = write_report(tmp_path).read_text()
    page = Elements(text)
    kinds = [attributes.get("type", "") for attributes, _ in page.of("script")]
    assert kinds == ["application/json", "text/plain", ""]
    links = [attributes["href"] for attributes, _ in page.of("a")]
    assert [link for link in links if not link.startswith("#")] == []
    assert not any(key.startswith("on") for _, attributes, _ in page.all for key in attributes)
    assert not re.search("[\u202e\u2066\x1b]", text)


def test_browsers_are_told_to_run_no_scripts_but_the_pages_own(tmp_path):
    import base64
    import hashlib

    text = write_report(write(tmp_path, SOUND)).read_text()
    page = require_sound(text)
    ((meta, _),) = page.of("meta", **{"http-equiv": "Content-Security-Policy"})
    rules = dict(rule.split(" ", 1) for rule in meta["content"].split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    scripts = re.findall('<script(?: type="text/plain".*?)?>(.*?)</script>', text, re.DOTALL)
    assert len(scripts) == 2
    assert set(rules["script-src"].split()) == {
        f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'"
        for one in scripts
    }


def test_no_picture_comes_from_outside(tmp_path):
    folder, outside = tmp_path / "report", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    picture(outside / "x.png")
    own = write(folder, SOUND) / "figure-1a.png"
    own.symlink_to(outside / "x.png")
    assert images(folder) == []
    own.unlink()
    own.symlink_to(picture(folder / "other.png"))
    (one,) = images(folder)
    assert one.startswith("data:image/png;base64,")


def bomb():
    """A PNG file of 10,000 by 10,000 pixels, in a few bytes."""

    def chunk(kind, content):
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    header = struct.pack(">IIBBBBB", 10_000, 10_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99))


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"%!PS-Adobe-3.0 EPSF-3.0\n", bomb(), b"\x89PNG\r\n\x1a\n" + b"a" * 99],
)
def test_what_is_no_picture_of_ours_is_left_out(content, tmp_path):
    (write(tmp_path, SOUND) / "figure-1a.png").write_bytes(content)
    assert images(tmp_path) == []


def test_a_pipe_in_place_of_a_picture_is_left_out(tmp_path):
    os.mkfifo(write(tmp_path, SOUND) / "figure-1a.png")
    assert images(tmp_path) == []


@pytest.mark.usefixtures("quick_compilation")
def test_names_in_sweeps_are_texts(tmp_path):
    name = f'..<img src=x onerror="{ACT}">\'--out\u202e'
    matrix, folder = tmp_path / f"a{name}.csv", tmp_path / f"sweep{name}"
    np.savetxt(matrix, [[0.5, 0.9], [0.1, 0.5]], delimiter=",")
    rucb = PolicyEntry("rucb")
    run_sweep(Grid(policies=rucb, problems=ProblemEntry(file=matrix), horizons=20), folder)
    text = write_report(folder).read_text()
    page = require_sound(text)
    assert not any(key.startswith("on") for _, attributes, _ in page.all for key in attributes)
    assert len(page.of("img")) == 1
    assert "\u202e" not in text
    assert f"a{name}".replace("\u202e", r"\u202e") in page.of("main")[0][1]


@pytest.mark.thorough
def test_nothing_acts_in_a_browser(tmp_path, monkeypatch):
    """Ten hostile files; those that are refused are read here as if they were not."""
    monkeypatch.setattr(records, "_require", lambda *_: None)
    monkeypatch.setattr(records, "_require_command", lambda *_: None)
    names = ("colour", "colour of a style", "dash", "anchor", "file that is a script", "command")
    hostile = INERT | {name: changed(*REFUSED[name]) for name in names}
    assert len(hostile) == 10
    with browser() as reader:
        for number, (name, record) in enumerate(hostile.items()):
            folder = tmp_path / str(number)
            folder.mkdir()
            page = write_report(write(folder, record))
            reader.open(page.as_uri(), DESKTOP)
            faults = [fault for fault in reader.faults() if "px wide" not in fault]
            if name not in INERT:  # what is refused is stopped a second time
                faults = [fault for fault in faults if "has been blocked" not in fault]
            assert (name, faults) == (name, [])
            _read_all(reader)
            assert reader.run("return window.ran ?? null") is None, name
            made = "return document.querySelectorAll('img, .chart a, .legend a, iframe').length"
            assert reader.run(made) == 0, name
            assert reader.run("return document.querySelectorAll('.js-plotly-plot').length") == 1
            assert reader.run("return location.href") == page.as_uri()


def _read_all(reader):
    """Opens what is folded, points at the curves, and presses what can be pressed."""
    reader.run("for (const one of document.querySelectorAll('details')) one.open = true")
    reader.run(
        "Plotly.Fx.hover(document.querySelector('.chart'), [{curveNumber: 1, pointNumber: 1}])"
    )
    assert reader.run("return document.querySelectorAll('.hoverlayer text').length") > 0
    reader.run(
        "for (const one of document.querySelectorAll('button')) { one.focus(); one.click(); }"
    )


@pytest.mark.thorough
@pytest.mark.parametrize("found", [f"<script>{ACT}</script>", f"<img onerror='{ACT}' src=x>"])
def test_a_browser_runs_no_script_that_the_page_does_not_name(found, tmp_path):
    page = write_report(write(tmp_path, SOUND))
    page.write_text(page.read_text().replace("<main", f"{found}<main"))
    with browser() as reader:
        reader.open(page.as_uri(), DESKTOP)
        assert any("Content Security Policy" in fault for fault in reader.faults())
        assert reader.run("return window.ran ?? null") is None
        reader.run("document.body.append(document.createElement('script'))")
        reader.run(f"document.body.lastChild.textContent = '{ACT}'")
        assert reader.run("return window.ran ?? null") is None


def test_what_jaxduel_writes_is_accepted():
    for look in ("solid", "dot", "14px,4px", "6.5px,3px"):
        records.Line("a", "#aaBB00", look, (1.0,), (None,))
    for command in (
        "",
        "jaxduel report 'a b'",
        "jaxduel plot =x --problem 'arxiv[1,2]' --horizon 100 --policy 'dts[alpha=0.6]'",
        "jaxduel.reproduce('double-etc', figure='1a', full=True, seed=3, horizon=1000)",
    ):
        records.Figure("1a", "t", command=command)
    assert changed((*LINE, "color"), "#000000") != SOUND == changed((*FIGURE, "missing"), "")
