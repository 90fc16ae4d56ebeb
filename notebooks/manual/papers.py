"""A page for each paper, from its panels and claims, and their index."""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from jaxduel.studies import papers
from jaxduel.studies.papers import report
from jaxduel.studies.papers.paper import Panel, Paper
from jaxduel.studies.report.page import VERDICTS
from jaxduel.studies.report.records import Section
from notebooks.manual import docstrings, full, open_choices, reports
from notebooks.manual.full import Kept
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
    """The papers whose verdicts are missing, or are on other claims. At full size they may be
    missing."""
    usual, whole = reports.sections(), full.kept()
    found = [p.name for p in _loaded() if p.name not in usual or reports.stale(p, usual[p.name])]
    stale = [
        p.name for p in _loaded() if p.name in whole and reports.stale(p, whole[p.name].section)
    ]
    maps = open_choices.kept()
    other = [p.name for p in _loaded() if p.name in maps and open_choices.stale(p, maps[p.name])]
    return [
        *found,
        *(f"{name} at full size" for name in stale),
        *(f"open choices of {name}" for name in other),
    ]


def write_pages() -> list[str]:
    """Writes all pages; returns their names in Sphinx."""
    usual, whole = reports.sections(), full.kept()
    pages = [
        write(f"papers/{p.name}", *_page(p, usual[p.name], whole.get(p.name))) for p in _loaded()
    ]
    claims = write("papers/claims", *_all_claims(usual, whole))
    return [*pages, claims, write("papers/index", *_index(pages, usual, whole, claims))]


def _page(paper: Paper, section: Section, whole: Kept | None) -> Iterator[str]:
    title, source = _title(paper)
    yield f"# {title}"
    yield source
    yield "The figures, their numbers and the table of claims are made by"
    yield f"```sh\njaxduel reproduce {paper.name}\njaxduel reproduce {paper.name} --full\n```"
    yield f"`--figure {paper.panels[0].name}` makes one panel."
    yield "## Panels"
    yield table(report.HEADER, [row for p in paper.panels for row in report.panel_rows(p)])
    yield "## Who plays"
    yield table(("panels", "policies"), _players(paper))
    yield "\n".join(f"- {note}" for note in paper.notes)
    if paper.claims:
        yield "## Claims"
        yield (
            "What the paper claims about its figures, with the verdicts. A claim is undecided if "
            "the 95 % interval contains its limit, or if only a part of it was measured."
        )
        yield f"- By default: `{section.order}`\n- At full size: {_how(whole)}"
        yield from reports.claims(section, whole.section if whole else None)
    yield from reports.figures(section, whole, paper_page(paper.name))
    yield "## What the text leaves open"
    name = f"jaxduel.studies.papers.{paper.name.replace('-', '_')}.figures"
    yield docstrings.prose(inspect.getdoc(sys.modules[name]) or "")
    yield from open_choices.section(open_choices.kept().get(paper.name, {}), paper.name)


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


def _how(whole: Kept | None) -> str:
    """The command that measured a paper at full size, with its run time, versions and machine."""
    if whole is None:
        return "not measured yet"
    facts = "; ".join(f"{name}: {text}" for name, text in whole.section.facts if name != "command")
    return f"`{whole.section.order}` ({facts})"


def _verdicts(sections: Iterable[Section]) -> str:
    """How many claims have each verdict, in words."""
    found = Counter(row.verdict for section in sections for row in section.claims)
    return ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS if found[verdict]) or "–"


def _all_claims(usual: Mapping[str, Section], whole: Mapping[str, Kept]) -> Iterator[str]:
    """The page of all claims."""
    yield "# All claims"
    yield (
        "Each claim of a paper with its verdict by default and at full size, and where it holds "
        "over what the paper leaves open. The papers' pages have the criteria and the numbers."
    )
    rows, maps = [], open_choices.kept()
    for paper in _loaded():
        known = whole[paper.name].section.claims if paper.name in whole else ()
        at_full = {row.claim: row.verdict for row in known}
        for number, row in enumerate(usual[paper.name].claims, start=1):
            there = maps.get(paper.name, {}).get(number)
            holds = " ".join(there.sentences) if there else ""
            link = f"[{paper.name}](/{paper_page(paper.name)}.md) {number}"
            rows.append((link, f"“{row.quote}”", row.verdict, at_full.get(row.claim, "–"), holds))
    yield table(("", "claim", "by default", "at full size", "over what is open"), rows)


def _index(
    pages: list[str], usual: Mapping[str, Section], whole: Mapping[str, Kept], listed: str
) -> Iterator[str]:
    yield "# Papers"
    yield (
        "What `jaxduel reproduce` makes: each paper's figures and tables, and the measured verdict "
        "on each claim that its text makes of them, by default and, with `--full`, at the paper's "
        f"own size. One table has [all claims](/{listed}.md)."
    )
    rows = []
    for page, paper in zip(pages, _loaded(), strict=True):
        (title, source), section = _title(paper), usual[paper.name]
        link = f"[{title}](/{page}.md)"
        at_full = [whole[paper.name].section] if paper.name in whole else []
        rows.append(
            (
                f"{link}, {source}" if source else link,
                *(str(len(paper.panels)), str(len(section.claims)), _verdicts([section])),
                _verdicts(at_full) if at_full else reports.NOT_MEASURED,
            )
        )
    panels = sum(len(paper.panels) for paper in _loaded())
    claims = sum(len(section.claims) for section in usual.values())
    total = (_verdicts(usual.values()), _verdicts(kept.section for kept in whole.values()))
    header = ("paper", "panels", "claims", "by default", "at full size")
    yield table(header, [*rows, ("all", str(panels), str(claims), *total)])
    yield toctree([*pages, listed])
