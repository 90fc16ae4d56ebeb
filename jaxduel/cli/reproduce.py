"""The commands `jaxduel reproduce` and `jaxduel report`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from jaxduel import interrupts
from jaxduel.cli.lines import say, write
from jaxduel.cli.options import MaybeCount, MaybeFolder, MaybeHours, Silent, Switch, Whole
from jaxduel.cli.start import start_jax
from jaxduel.errors import InputError


def reproduce(
    paper: Annotated[Positional[str], tyro.conf.arg(metavar="PAPER")],
    figure: Annotated[str | None, tyro.conf.arg(metavar="FIGURE|PANEL"), Silent] = None,
    full: Switch = False,
    runs: MaybeCount = None,
    seed: Whole = 0,
    out: MaybeFolder = None,
    decide: MaybeHours = None,
    open: Annotated[str | None, tyro.conf.arg(metavar="CLAIM|all"), Silent] = None,
) -> int:
    """Make the figures of a paper, or of all, and measure claims.

    Run again, it resumes where it stopped, block by block.

    Args:
      paper: name of the paper (`jaxduel list papers`); all for every paper, and one page of them.
      figure: a figure such as 1, or a panel such as 1a (`jaxduel describe PAPER`); all if left out.
      full: the horizons and runs of the paper, fewer on 136 and 500 arms; it may take hours.
      runs: runs on each instance, instead of the default or the paper's.
      seed: root of all randomness.
      out: folder for files and finished curves; figures/PAPER, or figures, if left out.
      decide: core-hours, 1 if none are named, for up to 32 times the runs of claims that are
        undecided; with all, for each paper.
      open: a claim's number, or all: measure it for each value of what the paper leaves open, such
        as a parameter, in place of the figures (`jaxduel describe PAPER` has the claims).
    """
    from jaxduel.studies import papers

    if open is not None:
        return _measure_open(paper, open, figure, full, runs, seed, out)
    if paper == "all":
        return _reproduce_all(figure, full, runs, seed, out, decide)
    start_jax()
    with interrupts.says("interrupted; what had finished is kept"):
        outcome = papers.reproduce(
            paper,
            figure=figure,
            full=full,
            out=out,
            seed=seed,
            runs=runs,
            progress=True,
            decide=decide,
        )
        if outcome.interrupted:
            interrupts.say_once()
    say(outcome.lines)
    names = ", ".join(file.name for file in outcome.files)
    say([f"written to {outcome.files[0].parent}: {names}", *outcome.missing])
    return interrupts.INTERRUPTED if outcome.interrupted else 0


def _measure_open(
    paper: str,
    claim: str,
    figure: str | None,
    full: bool,
    runs: int | None,
    seed: int,
    out: Path | None,
) -> int:
    """Measures claims over open choices, and prints where they hold."""
    from jaxduel.studies import papers

    if figure is not None:
        raise InputError("--open is of claims: it does not go with --figure.")
    if paper == "all":
        raise InputError("--open is of one paper: it does not go with 'all'.")
    start_jax()
    with interrupts.says("interrupted; what had finished is kept"):
        outcome = papers.open_choices(
            paper, claim, full=full, out=out, seed=seed, runs=runs, progress=True
        )
        if outcome.interrupted:
            interrupts.say_once()
    say(outcome.lines)
    if outcome.files:
        names = ", ".join(file.name for file in outcome.files)
        say([f"written to {outcome.files[0].parent}: {names}"])
    return interrupts.INTERRUPTED if outcome.interrupted else 0


def _reproduce_all(
    figure: str | None,
    full: bool,
    runs: int | None,
    seed: int,
    out: Path | None,
    decide: float | None,
) -> int:
    """Reproduces all papers, and prints a line about each paper and the path of the page."""
    from jaxduel.studies.papers.everything import FOLDER, reproduce_all
    from jaxduel.studies.report.page import VERDICTS

    if figure is not None:
        raise InputError("--figure is of one paper: it does not go with 'all'.")
    start_jax()
    with interrupts.says("interrupted; what had finished is kept, and is in the page"):
        outcome = reproduce_all(
            FOLDER if out is None else out, full, seed, runs, progress=True, decide=decide
        )
        if outcome.interrupted:
            interrupts.say_once()
    for section in outcome.sections:
        verdicts = Counter(claim.verdict for claim in section.claims)
        claims = ", ".join(f"{verdicts[name]} {name}" for name in VERDICTS if verdicts[name])
        parts = [part for part in (claims or "no claims", section.missing) if part]
        say([f"{section.name}  {'; '.join(parts)}"])
    write(f"the page: {outcome.page}")
    return interrupts.INTERRUPTED if outcome.interrupted else 0


def report(folder: Positional[Path], out: MaybeFolder = None) -> int:
    """Write a page of a sweep, or of papers: one HTML file.

    The page, index.html, needs no network.

    Args:
      folder: a sweep's folder, finished or not; or one that `jaxduel reproduce` wrote.
      out: folder for the page; if left out, DIR/report for a sweep DIR, and the papers' folder for
        papers.
    """
    from jaxduel.studies.report.folders import write_report

    write(write_report(folder, out))
    return 0
