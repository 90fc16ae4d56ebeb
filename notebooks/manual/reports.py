"""Measurements of the papers: their claims, a figure of some, and with the folder of a report
all figures."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from jaxduel.studies.papers.paper import Paper
from jaxduel.studies.report import page
from jaxduel.studies.report.records import ClaimRow, Figure, Section, read_section
from jaxduel.studies.report.words import capital
from notebooks.manual.full import Kept, draw
from notebooks.manual.pages import table, write_picture

VERDICTS = Path(__file__).with_name("verdicts.json")
"""Claims with their verdicts at default sizes, by `python -m notebooks.manual.measure`."""
FOLDER = Path(given) if (given := os.environ.get("JAXDUEL_REPORT")) else None
"""A folder that `jaxduel reproduce all` made: pages have its figures, and link to its report."""
KEPT = Path(__file__).with_name("kept")
"""Pictures of `SHOWN`, kept for builds without a report."""
SHOWN = {
    "batched-dueling": "1a",
    "double-thompson": "1a",
    "copeland-rmed": "1e",
    "batched-mab": "1a",
}
"""A panel of each paper whose picture is kept."""
NOT_MEASURED = "not measured at full size"
_USUAL, _FULL = "by default", "at full size"
_WIDE = 1.5
"""Width divided by height from which a picture has the width of the page."""
_COPY = "report"
_SECTIONS = TypeAdapter(dict[str, Section])


def keep(folder: Path, names: Sequence[str]) -> None:
    """Keeps the verdicts of some papers, and the pictures of `SHOWN`, from the folder of a report.

    Raises:
      ValueError: if a paper is missing.
    """
    found = {name: read_section(folder / name) for name in names}
    if missing := [name for name, section in found.items() if section is None or section.missing]:
        raise ValueError(f"{', '.join(missing)}: not all was reproduced")
    kept = _SECTIONS.validate_json(VERDICTS.read_bytes()) if VERDICTS.exists() else {}
    for name, section in found.items():
        if section:
            own = [
                each for each in section.figures if each.picture and each.name == SHOWN.get(name)
            ]
            shown = tuple(_keep(folder / name, section, each) for each in own)
            kept[name] = Section(
                name, section.title, section.order, claims=section.claims, figures=shown
            )
    VERDICTS.write_bytes(_SECTIONS.dump_json(kept, indent=1) + b"\n")


def _keep(folder: Path, section: Section, figure: Figure) -> Figure:
    """Copies a picture; returns the words about it, without its numbers."""
    KEPT.mkdir(exist_ok=True)
    shutil.copyfile(folder / figure.picture, KEPT / f"{section.name}-{figure.picture}")
    return Figure(figure.name, figure.title, figure.caption, figure.alt, picture=figure.picture)


def sections() -> dict[str, Section]:
    """What is known of each paper, by its name."""
    kept = _SECTIONS.validate_json(VERDICTS.read_bytes())
    if FOLDER is None:
        return kept
    return {name: read_section(FOLDER / name) or section for name, section in kept.items()}


def stale(paper: Paper, section: Section) -> bool:
    """Whether the verdicts are on other claims than the paper's."""
    claims = [(claim.source, claim.quote, claim.criterion) for claim in paper.claims]
    return claims != [row.claim for row in section.claims]


def claims(section: Section, whole: Section | None) -> Iterator[str]:
    """The claims of a paper and their verdicts, and in a second table what was measured.

    Args:
      section: what was measured by default.
      whole: what was measured at full size, if anything.
    """
    found = {row.claim: row for row in whole.claims} if whole else {}
    pairs = [(row, found.get(row.claim)) for row in section.claims]
    rows = [
        (
            str(number),
            f"“{row.quote}”, {row.place}; confirmed by: {row.criterion}",
            _verdict(row),
            _verdict(full),
        )
        for number, (row, full) in enumerate(pairs, start=1)
    ]
    listed = table(("", "claim and criterion", _USUAL, _FULL), rows)
    yield f"````{{div}} manual-claims\n{listed}\n````"
    sizes = (_USUAL, _FULL) if whole else (_USUAL,)
    measured = table(("", "on", "what", *sizes), _measured(pairs, len(sizes)))
    yield f"``````{{dropdown}} What was measured\n{measured}\n``````"


def _verdict(row: ClaimRow | None) -> str:
    return f"**{row.verdict}**. {row.why}" if row else NOT_MEASURED


def _measured(
    pairs: Sequence[tuple[ClaimRow, ClaimRow | None]], sizes: int
) -> Iterator[tuple[str, ...]]:
    """A row for each quantity, with its values and verdicts at each size."""
    for number, pair in enumerate(pairs, start=1):
        values: dict[tuple[str, str], list[str]] = {}
        for place, row in enumerate(pair):
            for each in row.measured if row else ():
                cells = values.setdefault((each.where, each.what), ["–"] * sizes)
                cells[place] = f"{each.value}: {each.verdict}"
        for (where, what), cells in values.items():
            yield (str(number), where, what, *cells)


def figures(section: Section, whole: Kept | None, place: str) -> Iterator[str]:
    """The figures of a paper: by default, all with a report, to which there is a link, else the
    one that is kept, if any; at full size, those of curves, drawn from their numbers.

    Args:
      section: what is known of it by default.
      whole: what is kept of it at full size, if anything.
      place: its page in Sphinx.
    """
    usual = {each.name: each for each in section.figures if _source(section, each).is_file()}
    at_full = {each.name: each for each in whole.section.figures} if whole else {}
    if not usual and not at_full:
        return
    yield "## Figures"
    if usual and FOLDER is None:
        yield f"One of the figures that `{section.order}` makes."
    elif usual:
        up = "../" * place.count("/")
        link = f"{up}{_COPY}/{page.NAME}#{section.name}"
        yield (
            f'<a href="{link}">With curves that show their values, final regrets and run '
            f"times</a>. Made by `{section.order}`."
        )
    if whole and at_full:
        yield f"At full size, curves are drawn from numbers that `{whole.section.order}` made."
    shown = []
    for name in max(usual, at_full, key=len) | usual | at_full:
        if name in usual:
            content = _source(section, usual[name]).read_bytes()
            shown.append(_figure(section.name, usual[name], content, _USUAL if whole else ""))
        if whole and name in at_full:
            shown.append(_figure(section.name, at_full[name], draw(whole.curves[name]), _FULL))
    yield "\n".join(["``````{grid}\n:gutter: 2\n", *shown, "``````"])


def _figure(paper: str, figure: Figure, content: bytes, size: str) -> str:
    """An item of a grid with a figure; its picture is written beside the page."""
    name = f"{paper}-figure-{figure.name}{'-full' if size == _FULL else ''}.png"
    write_picture(name, content)
    alt = figure.alt.replace("\n", " ")
    words = f"{capital(size)}. {figure.title}" if size else figure.title
    width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))  # of a PNG file
    columns = "12" if width > _WIDE * height else "12 12 6 6"
    return (
        f"`````{{grid-item}}\n:columns: {columns}\n\n```{{figure}} {name}\n:alt: {alt}\n\n"
        f"{words}. {figure.caption}\n```\n`````"
    )


def _source(section: Section, figure: Figure) -> Path:
    """Where the picture of a figure is, if there is one."""
    if FOLDER is None:
        return KEPT / f"{section.name}-{figure.picture}"
    return FOLDER / section.name / figure.picture


def copy_report(site: Path) -> None:
    """Puts the report into the built manual."""
    if FOLDER is not None:
        ignored = shutil.ignore_patterns("runs", "*.json")
        shutil.copytree(FOLDER, site / _COPY, ignore=ignored, dirs_exist_ok=True)
