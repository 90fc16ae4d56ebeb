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
from notebooks.manual.pages import GENERATED, SOURCE, table

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
    return claims != [(row.place, row.quote, row.criterion) for row in section.claims]


def claims(section: Section) -> Iterator[str]:
    """The claims of a paper and their verdicts, and in a second table what was measured."""
    rows = [
        (str(number), f"“{row.quote}”, {row.place}", row.criterion, f"**{row.verdict}**. {row.why}")
        for number, row in enumerate(section.claims, start=1)
    ]
    yield table(("", "claim", "confirmed by", "verdict"), rows)
    measured = table(("", "on", "what", "value", "verdict"), _measured(section.claims))
    yield f"``````{{dropdown}} What was measured\n{measured}\n``````"


def _measured(rows: tuple[ClaimRow, ...]) -> Iterator[tuple[str, ...]]:
    for number, row in enumerate(rows, start=1):
        for each in row.measured:
            yield (str(number), each.where, each.what, each.value, each.verdict)


def figures(section: Section, place: str) -> Iterator[str]:
    """The figures of a paper, and a link to its part of the report; without a report the figure
    that is kept, if any.

    Args:
      section: what is known of it.
      place: its page in Sphinx.
    """
    shown = [figure for figure in section.figures if _source(section, figure).is_file()]
    if not shown:
        return
    yield "## Figures"
    if FOLDER is None:
        yield f"One of the figures that `{section.order}` makes."
    else:
        up = "../" * place.count("/")
        link = f"{up}{_COPY}/{page.NAME}#{section.name}"
        yield (
            f'<a href="{link}">With curves that show their values, final regrets and run '
            f"times</a>. Made by `{section.order}`."
        )
    for figure in shown:
        target = SOURCE / GENERATED / "papers" / f"{section.name}-{figure.picture}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_source(section, figure), target)
        alt = figure.alt.replace("\n", " ")
        yield f"```{{figure}} {target.name}\n:alt: {alt}\n\n{figure.title}. {figure.caption}\n```"


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
