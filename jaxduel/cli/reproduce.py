"""The commands `jaxduel reproduce` and `jaxduel report`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from tyro.conf import Positional

from jaxduel import interrupts
from jaxduel.cli.lines import say, say_left, write
from jaxduel.cli.options import (
    MaybeCount,
    MaybeFolder,
    MaybeHours,
    MaybeName,
    MaybeShard,
    MaybeTime,
    Silent,
    Switch,
    Whole,
)
from jaxduel.cli.parsing import command_line
from jaxduel.cli.start import start_jax
from jaxduel.errors import InputError

if TYPE_CHECKING:
    from jaxduel.studies.stored_runs import Blocks


def reproduce(
    paper: Annotated[Positional[str], tyro.conf.arg(metavar="PAPER")],
    figure: Annotated[str | None, tyro.conf.arg(metavar="FIGURE|PANEL"), Silent] = None,
    full: Switch = False,
    runs: MaybeCount = None,
    seed: Whole = 0,
    out: MaybeFolder = None,
    decide: MaybeHours = None,
    scheduler: MaybeName = None,
    shard: MaybeShard = None,
    until: MaybeTime = None,
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
      scheduler: tcp://HOST:PORT of a dask scheduler, or local:N for N processes here.
      shard: run the I-th of N shares of the blocks, without locks: for N processes on one folder of
        a file system that has none.
      until: begin no block that cannot finish by this time, such as 07:45:00; what is finished is
        drawn and measured, and the exit code is 0.
      open: a claim's number, or all: measure it for each value of what the paper leaves open, such
        as a parameter, in place of the figures (`jaxduel describe PAPER` has the claims).
    """
    called = dict(locals())
    from jaxduel.studies import papers

    if open is not None:
        for option in ("figure", "decide", "scheduler", "shard", "until"):
            if called[option] is not None:
                raise InputError(
                    f"--open varies what a paper leaves open: it does not go with --{option}."
                )
        if paper == "all":
            raise InputError("--open is of one paper: it does not go with 'all'.")
        return _measure_open(paper, open, full, runs, seed, out)
    if paper == "all" and figure is not None:
        raise InputError("--figure is of one paper: it does not go with 'all'.")
    start_jax()
    again = command_line(reproduce, {**called, "until": None})
    order = {
        "full": full,
        "seed": seed,
        "runs": runs,
        "decide": decide,
        "scheduler": scheduler,
        "shard": shard,
        "until": until,
        "progress": True,
    }
    if paper == "all":
        return _reproduce_all(out, order, again)
    with interrupts.says("interrupted; what had finished is kept"):
        outcome = papers.reproduce(paper, figure=figure, out=out, **order)
        if outcome.interrupted:
            interrupts.say_once()
    _print_report(outcome.lines, outcome.files)
    say(outcome.missing)
    return _ended(outcome.interrupted, outcome.blocks, again, shard)


def _print_report(lines: Sequence[str], files: Sequence[Path]) -> None:
    """Prints a report and the names of its files, if there are any."""
    say(lines)
    if files:
        say([f"written to {files[0].parent}: {', '.join(file.name for file in files)}"])


def _ended(interrupted: bool, blocks: Blocks, again: str, shard: tuple[int, int] | None) -> int:
    """The exit code; prints how to go on if blocks are left for later or for other processes."""
    if interrupted:
        return interrupts.INTERRUPTED
    if blocks.stored < blocks.wanted:
        say_left(blocks.stored, blocks.wanted, again, shard)
    return 0


def _measure_open(
    paper: str, claim: str, full: bool, runs: int | None, seed: int, out: Path | None
) -> int:
    """Measures claims over open choices, and prints where they hold."""
    from jaxduel.studies import papers

    start_jax()
    with interrupts.says("interrupted; what had finished is kept"):
        outcome = papers.open_choices(
            paper, claim, full=full, out=out, seed=seed, runs=runs, progress=True
        )
        if outcome.interrupted:
            interrupts.say_once()
    _print_report(outcome.lines, outcome.files)
    return interrupts.INTERRUPTED if outcome.interrupted else 0


def _reproduce_all(out: Path | None, order: Mapping[str, Any], again: str) -> int:
    """Reproduces all papers, and prints a line about each paper and the path of the page."""
    from jaxduel.studies.papers.everything import FOLDER, reproduce_all
    from jaxduel.studies.report.page import VERDICTS

    with interrupts.says("interrupted; what had finished is kept, and is in the page"):
        outcome = reproduce_all(FOLDER if out is None else out, **order)
        if outcome.interrupted:
            interrupts.say_once()
    for section in outcome.sections:
        verdicts = Counter(claim.verdict for claim in section.claims)
        claims = ", ".join(f"{verdicts[name]} {name}" for name in VERDICTS if verdicts[name])
        parts = [part for part in (claims, section.missing) if part] or ["no claims"]
        say([f"{section.name}  {'; '.join(parts)}"])
    write(f"the page: {outcome.page}")
    return _ended(outcome.interrupted, outcome.blocks, again, order["shard"])


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
