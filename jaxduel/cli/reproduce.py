"""The command `jaxduel reproduce`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from jaxduel import interrupts
from jaxduel.cli.codes import INTERRUPTED
from jaxduel.cli.lines import say
from jaxduel.cli.numbers import Count, Whole
from jaxduel.cli.start import start_jax


def reproduce(
    paper: Positional[str],
    figure: str | None = None,
    full: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False,
    runs: Count | None = None,
    seed: Whole = 0,
    out: Path | None = None,
) -> int:
    """Make the figures of a paper and measure what it claims of them.

    Finished curves are kept in the folder's subfolder runs: the same command, given again, goes on
    where it ended (but for the studies s1 and s2 of batched-mab).

    Args:
      paper: name of the paper (`jaxduel list papers`).
      figure: a figure such as 1, or a panel such as 1a; all if left out.
      full: the long version: batched-dueling with 500 runs instead of the paper's 10, the others
        with the horizons and runs of their papers, which may take hours.
      runs: how many runs on each data set, instead of either.
      seed: root of all randomness.
      out: folder for the files; figures/PAPER if left out.
    """
    from jaxduel.experiments import papers

    start_jax()
    with interrupts.says("interrupted; what had finished is kept"):
        report = papers.load(paper).reproduce(
            figure=figure, full=full, out=out, seed=seed, runs=runs, progress=True
        )
        if report.interrupted:
            interrupts.say_once()
    say(report.lines)
    say(_written(report.files))
    return INTERRUPTED if report.interrupted else 0


def _written(files: Sequence[Path]) -> Iterator[str]:
    """The names of files, in a line for each of their folders."""
    folders: dict[Path, list[str]] = {}
    for file in files:
        folders.setdefault(file.parent, []).append(file.name)
    for folder, names in folders.items():
        yield f"written to {folder}: {', '.join(names)}"
