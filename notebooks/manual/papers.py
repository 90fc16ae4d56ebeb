"""A page for each paper, from its panels and claims, and their index."""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache

from jaxduel.studies import papers
from jaxduel.studies.papers import report
from jaxduel.studies.papers.paper import Panel, Paper
from jaxduel.studies.report.page import VERDICTS
from jaxduel.studies.report.records import Section
from notebooks.manual import docstrings, reports
from notebooks.manual.pages import GENERATED, policy_link, table, toctree, write


@cache
def _loaded() -> tuple[Paper, ...]:
    return tuple(papers.load(name) for name in papers.names())


def paper_page(name: str) -> str:
    """The page of a paper, in Sphinx."""
    return f"{GENERATED}/papers/{name}"


def panels_by_policy() -> dict[str, list[str]]:
    """By policy, a link for each paper in which it plays, with its panels."""
    found: dict[str, list[str]] = {}
    for paper in _loaded():
        where: dict[str, list[str]] = {}
        for panel in paper.panels:
            for policy in _policies(panel):
                where.setdefault(policy, []).append(panel.name)
        for policy, names in where.items():
            link = f"[{paper.name}](/{paper_page(paper.name)}.md) ({', '.join(names)})"
            found.setdefault(policy, []).append(link)
    return found


def lacking() -> list[str]:
    """The papers whose verdicts are missing, or are on other claims."""
    known = reports.sections()
    return [
        paper.name
        for paper in _loaded()
        if paper.name not in known or reports.stale(paper, known[paper.name])
    ]


def write_pages() -> list[str]:
    """Writes all pages; returns their names in Sphinx."""
    known = reports.sections()
    pages = [write(f"papers/{p.name}", *_page(p, known[p.name])) for p in _loaded()]
    return [*pages, write("papers/index", *_index(pages, known))]


def _page(paper: Paper, section: Section) -> Iterator[str]:
    title, source = _title(paper)
    yield f"# {title}"
    yield source
    yield "Figures, their numbers and the table of claims are made, and made again, by"
    yield f"```sh\njaxduel reproduce {paper.name}\njaxduel reproduce {paper.name} --full\n```"
    yield f"or one panel of them with `--figure {paper.panels[0].name}`."
    yield "## Panels"
    yield table(report.HEADER, [row for p in paper.panels for row in report.panel_rows(p)])
    yield "## Who plays"
    yield table(("panels", "policies"), _players(paper))
    yield "\n".join(f"- {note}" for note in paper.notes)
    if paper.claims:
        yield "## Claims"
        yield (
            f"What the paper says of its figures, and what `{section.order}` measured of it: "
            "undecided is a claim whose limit lies in the 95 % interval, or that was measured in "
            "part."
        )
        yield from reports.claims(section)
    yield from reports.figures(section, paper_page(paper.name))
    yield "## What the text leaves open"
    name = f"jaxduel.studies.papers.{paper.name.replace('-', '_')}.figures"
    yield docstrings.prose(inspect.getdoc(sys.modules[name]) or "")


def _title(paper: Paper) -> tuple[str, str]:
    """Its title; its authors, place and year, if it is one paper."""
    found = re.fullmatch(r"(.*?) \(([^()]*)\)", paper.TITLE)
    return (found[1], found[2]) if found else (paper.TITLE, "")


def _policies(panel: Panel) -> dict[str, list[str]]:
    """The labels in a panel by policy."""
    found: dict[str, list[str]] = {}
    for lineup in panel.lineups:
        for each in lineup.competitors:
            labels = found.setdefault(each.policy, [])
            if each.label not in labels:
                labels.append(each.label)
    return found


def _players(paper: Paper) -> Iterator[tuple[str, str]]:
    """Panels with the same policies, and these."""
    playing: dict[str, list[str]] = {}
    for panel in paper.panels:
        links = [policy_link(name, x) for name, labels in _policies(panel).items() for x in labels]
        playing.setdefault("; ".join(links or panel.labels), []).append(panel.name)
    return ((", ".join(names), who) for who, names in playing.items() if who)


def _verdicts(section: Section) -> list[int]:
    """The number of claims, and how many have each verdict."""
    found = Counter(row.verdict for row in section.claims)
    return [len(section.claims), *(found[verdict] for verdict in VERDICTS)]


def _index(pages: list[str], known: dict[str, Section]) -> Iterator[str]:
    yield "# Papers"
    yield (
        "What `jaxduel reproduce` makes: each paper's figures and tables, and the measured verdict "
        "on each claim that its text makes of them."
    )
    counted = {p.name: [len(p.panels), *_verdicts(known[p.name])] for p in _loaded()}
    rows = [
        (f"[{title}](/{page}.md)", source, *map(str, counted[paper.name]))
        for page, paper in zip(pages, _loaded(), strict=True)
        for title, source in (_title(paper),)
    ]
    total = [str(sum(numbers)) for numbers in zip(*counted.values(), strict=True)]
    yield table(("paper", "", "panels", "claims", *VERDICTS), [*rows, ("all", "", *total)])
    yield toctree(pages)
