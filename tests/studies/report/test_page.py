"""The page as HTML."""

from pathlib import Path
from urllib.parse import unquote

from jaxduel.studies.report.page import Page
from jaxduel.studies.report.records import Figure, Section
from tests.studies.report.pages import require_sound


def test_links_lead_to_files_whatever_their_names(tmp_path: Path):
    own = tmp_path / "50% of it" / "a&b"
    own.mkdir(parents=True)
    names = ["curves-t,policy=dts[alpha=0.6].pdf", 'a #1? "quoted" & <b>.csv', "ü:$%20.csv"]
    for name in names:
        (own / name).write_text("")
    figure = Figure("1", "title", picture="not there.png", files=(*names, "nor this.csv"))
    page = Page("t", "l", [(Section("s", "section", figures=(figure,)), own)], {})
    for folder in (tmp_path, own, tmp_path / "beside"):
        links = [
            attributes["href"]
            for attributes, text in require_sound(page.html(folder)).of("a")
            if text in ("PDF", "CSV")
        ]
        there = [(folder / unquote(link)).resolve() for link in links]
        assert there == [own / name for name in names]
        assert not any(set(link) & set(' #?"<>:[]') for link in links)
