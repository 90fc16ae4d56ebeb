"""All papers, one after another, and one page of them: `jaxduel reproduce all`."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxduel import interrupts, screen
from jaxduel.errors import InputError, warn_caller
from jaxduel.studies import papers
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.papers.paper import Order
from jaxduel.studies.papers.reproducing import reproduce, require_hours, require_order
from jaxduel.studies.report.page import Page
from jaxduel.studies.report.papers import command_of
from jaxduel.studies.report.records import Section, earlier_section, read_section

ALL = "all"
"""The name that stands for all papers on the command line."""
FOLDER = Path("figures")
_LEAD = (
    "Every figure of these papers simulated again, and what their texts claim of them measured: "
    "means over independent runs with 95 % intervals, in captions of our own words."
)


@dataclass
class Outcome:
    """Result of `reproduce_all`.

    Attributes:
      page: the page.
      sections: sections of the page, paper by paper.
      interrupted: whether Ctrl-C ended it before all runs were simulated.
    """

    page: Path
    sections: list[Section] = field(default_factory=list)
    interrupted: bool = False


def reproduce_all(
    out: str | os.PathLike[str] = FOLDER,
    full: bool = False,
    seed: int = 0,
    runs: int | None = None,
    progress: bool | None = None,
    decide: float | None = None,
) -> Outcome:
    """Reproduces all papers, each in the folder of its name, and writes a page of them.

    The page, `index.html`, is rewritten after each paper and names missing parts. After an
    interruption, a call with the same arguments resumes the work. A paper without any available
    data is left out with a warning.

    Args:
      out: folder for the page and the papers' folders.
      full, seed, runs, progress, decide: as in `reproduce`; the core-hours are for each paper.

    Raises:
      InputError: before anything is computed; also if no paper can be reproduced.
    """
    require_order(seed, runs)
    require_hours(decide)
    folder, order = OutputFolder(out), Order(full, seed, runs, decide=decide)
    failures: dict[str, InputError] = {}
    stop, interrupted, names = threading.Event(), False, papers.names()
    outcome = Outcome(_write(folder, order, failures))
    with interrupts.stops(stop, patient=True):
        for number, name in enumerate(names, start=1):
            if progress is not False:
                screen.say(f"jaxduel: paper {number} of {len(names)}: {name}")
            try:
                report = reproduce(
                    papers.load(name),
                    full=full,
                    out=folder.path / name,
                    seed=seed,
                    runs=runs,
                    progress=progress,
                    decide=decide,
                )
                interrupted = report.interrupted
            except InputError as error:
                failures[name] = error
                warn_caller(f"{name} is missing: {error}")
            except KeyboardInterrupt:
                interrupted = True
            _write(folder, order, failures)
            if interrupted or stop.is_set():
                outcome.interrupted = interrupted or name != names[-1]
                break
    if len(failures) == len(names):
        raise next(iter(failures.values()))
    outcome.sections = [section for section, _ in sections_in(folder.path, order, failures)]
    return outcome


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


def _write(folder: OutputFolder, order: Order, failures: dict[str, InputError]) -> Path:
    again = [*shlex.split(command_of(ALL, order)), "--out", str(folder.path)]
    commands = {"Made, and taken up again, by": shlex.join(again)}
    return _page(sections_in(folder.path, order, failures), commands).write(folder)


def _page(sections: Sequence[tuple[Section, Path]], commands: dict[str, str]) -> Page:
    done = sum(bool(section.figures) for section, _ in sections)
    part = "" if done == len(sections) else f"{done} of "
    title = f"{part}{len(sections)} papers on dueling and batched bandits, reproduced"
    return Page(title, _LEAD, sections, commands)
