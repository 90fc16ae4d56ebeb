"""Measures the numbers of the manual: `regret.csv` of the pictures, `verdicts.json` of the papers,
and the papers' pictures in `kept`.

    python -m notebooks.manual.measure FOLDER [PAPER ...]
    python -m notebooks.manual.measure FOLDER --full [PAPER ...]
    python -m notebooks.manual.measure FOLDER --open [PAPER ...]

Sweeps and papers are kept in the folder, and go on where they stopped. With names of papers these
alone are measured, and nothing else is. With `--full` papers are measured at full size, in
FOLDER/full/PAPER, and `verdicts-full.json` is written after each of them; with `--open` claims over
what papers leave open, in FOLDER/papers/PAPER, and `open.json` is written.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

import jaxduel as jd
from jaxduel.studies import papers
from jaxduel.studies.papers.everything import reproduce_all
from jaxduel.studies.sweep import Grid, PolicyEntry, ProblemEntry, run_sweep
from notebooks.manual import full, open_choices, reports
from notebooks.manual.pictures import NUMBERS

_GAP = 0.1
"""Of the two arms with rewards."""
_PROBLEMS = {
    "duels": ("arxiv", "cyclic", "arithmetic"),
    "pulls": (f"gaussian[{0.5 + _GAP},0.5]", f"bernoulli[{0.5 + _GAP},0.5]"),
}
_BATCHES = {"duels": 16, "pulls": 4}
_DIGITS = 5


def grid(plays: str) -> Grid:
    """All policies that compare arms ("duels"), or that pull arms with rewards ("pulls")."""
    return Grid(
        policies=[_entry(name) for name in jd.policies.names() if _plays(name) == plays],
        problems=[ProblemEntry(name=name) for name in _PROBLEMS[plays]],
        horizons=100_000,
        batches=_BATCHES[plays],
        checkpoints=30,
        num_seeds=32,
        lanes=32,
    )


def _plays(name: str) -> str:
    return "pulls" if "pull" in (jd.policies.describe(name).plays or "") else "duels"


def _entry(name: str) -> PolicyEntry:
    known = jd.policies.parameters(name)
    return PolicyEntry(name, {"gap": _GAP} if "gap" in known else {})


def numbers(folders: Sequence[Path]) -> pd.DataFrame:
    """The rows of sweeps that are finished."""
    tables = pd.concat([jd.open_sweep(folder).to_frame() for folder in folders])
    columns = ["problem", "policy", "t", "mean", "lower95", "upper95", "num_seeds"]
    return tables[columns].reset_index(drop=True)


def main(folder: Path, *names: str) -> None:
    """Runs what is missing, and writes the files."""
    for name in names:
        jd.reproduce(name, out=folder / "papers" / name)
    if names:
        reports.keep(folder / "papers", names)
        return
    folders = []
    for plays in _PROBLEMS:
        folders.append(folder / plays)
        run_sweep(grid(plays), folders[-1], progress=True)
    numbers(folders).to_csv(NUMBERS, index=False, float_format=f"%.{_DIGITS}g")
    reproduce_all(folder / "papers")
    reports.keep(folder / "papers", papers.names())


def main_full(folder: Path, *names: str) -> None:
    """Measures some papers, or all, at full size."""
    for name in names or papers.names():
        full.measure(name, folder / "full" / name)


def main_open(folder: Path, *names: str) -> None:
    """Measures claims of some papers, or of all, over what these leave open."""
    every = [n for n in papers.names() if any(claim.open for claim in papers.load(n).claims)]
    for name in names or every:
        open_choices.measure(name, folder / "papers" / name)


if __name__ == "__main__":
    _, place, *chosen = sys.argv
    if chosen[:1] == ["--full"]:
        main_full(Path(place), *chosen[1:])
    elif chosen[:1] == ["--open"]:
        main_open(Path(place), *chosen[1:])
    else:
        main(Path(place), *chosen)
