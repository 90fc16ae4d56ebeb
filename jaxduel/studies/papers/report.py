"""Facts about a paper at a glance: the text of `jaxduel describe`."""

from __future__ import annotations

from collections.abc import Iterator

from jaxduel.studies.papers.paper import ABSENT, Panel, Paper, Size
from jaxduel.studies.pictures import figure_of
from jaxduel.studies.tables import aligned, short

HEADER = ("panel", "shows", "on", "T", "runs", "full T", "runs")
"""Heads of the columns of `panel_rows`."""


def lines(paper: Paper) -> list[str]:
    """The panels, with their policies, and horizons and runs by default and with `full`.

    Nothing is computed, loaded or downloaded.

    Example:
      >>> from jaxduel.studies import papers
      >>> from jaxduel.studies.papers import report
      >>> for line in report.lines(papers.load("copeland-dueling"))[1:3]:
      ...     print(line)
      panel  shows        on                     T  runs  full T  runs
      1      regret       mslr5-noncondorcet   1e7    10     1e8   100
    """
    rows = [row for panel in paper.panels for row in panel_rows(panel)]
    playing: dict[tuple[str, ...], list[str]] = {}
    for panel in paper.panels:
        playing.setdefault(panel.labels, []).append(panel.name)
    return [
        f"{paper.name}: {paper.TITLE}",
        *aligned(HEADER, rows, left=3),
        "policies:",
        *(
            f"  {', '.join(_figures(names, paper))}: {'; '.join(who)}"
            for who, names in playing.items()
            if who
        ),
        *(["notes:", *(f"  {note}" for note in paper.notes)] if paper.notes else []),
        *_open_lines(paper),
        f"(one of them: jaxduel reproduce {paper.name} --figure {paper.panels[0].name})",
    ]


def _open_lines(paper: Paper) -> list[str]:
    """The claims that can be measured over what the paper leaves open."""
    rows = [
        f"  {number}. {'; '.join(choice.name for choice in claim.open)}"
        for number, claim in enumerate(paper.claims, start=1)
        if claim.open
    ]
    return ["claims with open choices (--open CLAIM, or --open all):", *rows] if rows else []


def panel_rows(panel: Panel) -> Iterator[tuple[str, ...]]:
    """A row for each instance, and a row for the policies of each further size."""
    begin = (panel.name, panel.what)
    for instance, sizes in panel.instances.items():
        usual, full = sizes or (ABSENT, ABSENT)
        yield (*begin, instance, *_in_words(usual), *_in_words(full))
        begin = ("", "")
    for whose, sizes in panel.all_sizes():
        if whose:
            yield ("", "  but", whose, *_in_words(sizes.usual), *_in_words(sizes.full))


def _figures(names: list[str], paper: Paper) -> list[str]:
    """The panels; a figure replaces the panels if all of them are named."""
    others = {figure_of(panel.name) for panel in paper.panels if panel.name not in names}
    found = [name if figure_of(name) in others else figure_of(name) for name in names]
    return list(dict.fromkeys(found))


def _in_words(size: Size) -> tuple[str, str]:
    return ("-", "-") if size == ABSENT else (short(size.horizon), f"{size.runs:,}")
