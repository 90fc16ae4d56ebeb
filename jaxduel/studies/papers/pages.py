"""The page of all papers, or of one: `index.html` in the folder of a reproduction."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from jaxduel.errors import InputError
from jaxduel.studies import papers
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.report.page import Page
from jaxduel.studies.report.papers import command_of
from jaxduel.studies.report.records import Section, earlier_section, read_section

ALL = "all"
"""The name that stands for all papers on the command line."""
_LEAD = (
    "Every figure of these papers simulated again, and what their texts claim of them measured: "
    "means over independent runs with 95 % intervals, in captions of our own words."
)


def write_page(folder: OutputFolder, order: Order, failures: dict[str, InputError]) -> Path:
    """Writes the page of what a folder has of an order; `failures` are reasons for papers that
    cannot be reproduced."""
    again = [*shlex.split(command_of(ALL, order)), "--out", str(folder.path)]
    commands = {"Made, and taken up again, by": shlex.join(again)}
    return _page(sections_in(folder.path, order, failures), commands).write(folder)


def sections_in(
    folder: Path, order: Order, failures: dict[str, InputError]
) -> list[tuple[Section, Path]]:
    """The sections of all papers in a folder, as of one order; a paper without one has an empty
    section that gives the reason."""
    found = []
    for name in papers.names():
        section = earlier_section(folder / name)
        if section is None or section.order != command_of(name, order):
            why = "not reproduced yet"
            if name in failures:
                why = str(failures[name]).removesuffix(".")
            section = Section(name, papers.TITLES[name], missing=why)
        found.append((section, folder / name))
    return found


def read_page(folder: Path) -> Page | None:
    """The page of a folder of `reproduce_all`, or of one reproduced paper; None if there is none.

    Raises:
      InputError: if a section's file is damaged.
    """
    one = read_section(folder)
    if one is not None:
        return Page(one.title, _LEAD, [(one, folder)], {"Made by": one.order})
    there = [(read_section(folder / name), folder / name) for name in papers.names()]
    sections = [(section, own) for section, own in there if section is not None]
    if not sections:
        return None
    return _page(sections, {})


def _page(sections: Sequence[tuple[Section, Path]], commands: dict[str, str]) -> Page:
    done = sum(bool(section.figures) for section, _ in sections)
    part = "" if done == len(sections) else f"{done} of "
    title = f"{part}{len(sections)} papers on dueling and batched bandits, reproduced"
    return Page(title, _LEAD, sections, commands)
