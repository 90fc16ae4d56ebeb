"""Reproduces a paper: figures, claims, and its section of a report."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from jaxduel.display import counted
from jaxduel.errors import AssumptionWarning, InputError, warn_caller
from jaxduel.policies.checks import require_horizon
from jaxduel.studies.claims import Claim
from jaxduel.studies.deciding import CONFIDENCE, LOOKS
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.papers.paper import ABSENT, Order, Panel, Paper, Size
from jaxduel.studies.pictures import AllRuns, MissingPanel, Picture, Setting, reasons
from jaxduel.studies.report.papers import paper_section
from jaxduel.studies.report.records import FILE, earlier_section, encoded
from jaxduel.studies.reproduction import (
    Deciding,
    Report,
    all_wanted,
    carry_out,
    chosen_panels,
)
from jaxduel.studies.tables import short
from jaxduel.studies.wanted import Wanted


def reproduce(
    paper: Paper,
    figure: str | None = None,
    full: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    runs: int | None = None,
    progress: bool | None = None,
    *,
    horizon: int | None = None,
    num_arms: int | None = None,
    decide: float | None = None,
) -> Report:
    """Makes the paper's figures and measures its claims about them.

    Args:
      figure: a figure such as "1", a panel such as "1a", or None for all.
      full: the paper's horizons and numbers of runs, or more, except with the most arms; it may
        take hours.
      out: folder for the files; figures/NAME by default.
      seed: root of all randomness.
      runs: number of runs on each instance, instead of the default's or the paper's.
      progress: as in `jaxduel.simulate`.
      horizon: T on each instance, instead of the default's or the paper's.
      num_arms: K of random instances, instead of the paper's.
      decide: core-hours for further runs, up to 32 times as many, of claims that are undecided
        (`jaxduel.studies.deciding`). None: no further runs.

    Returns:
      The report. A panel whose data are not available is missing, with a warning; a figure with no
      other panel shows an empty frame.

    Raises:
      InputError: before anything is computed; also if the data of no panel are available.
    """
    asked = chosen_panels(figure, [panel.name for panel in paper.panels])
    require_possible(paper, seed, runs, horizon, num_arms)
    require_hours(decide)
    order = Order(full, seed, runs, horizon, num_arms, decide)
    folder = OutputFolder(Path("figures") / paper.name if out is None else out)
    chosen = [paper.panel(name) for name in asked]
    setting = replace(paper.setting, horizon=horizon or paper.setting.horizon)
    pictures, missing = pictures_at_hand(chosen, order, setting)
    notes = [*size_notes(chosen, order), *paper.notes]
    gaps = {panel.name: panel.note for panel in missing}
    deciding, confidence = None, 0.95
    if decide is not None:
        there = [panel for panel in chosen if panel.name not in gaps]
        deciding = Deciding(partial(_with_times, there, order, setting), decide)
        confidence = CONFIDENCE
        notes.append(
            f"Undecided claims have up to {2 ** (LOOKS - 1)} times the runs ({decide:g} core-hours "
            f"at most); intervals hold at all {LOOKS} looks together."
        )

    def measure(all_runs: AllRuns) -> list[Claim]:
        judged = {key: replace(runs, confidence=confidence) for key, runs in all_runs.items()}
        return paper.measured_on(judged, pictures, setting)

    quiet = warnings.catch_warnings() if paper.breaks_assumptions else nullcontext()
    with quiet:
        if paper.breaks_assumptions:
            warnings.simplefilter("ignore", AssumptionWarning)
        report = carry_out(
            pictures,
            setting,
            folder,
            measure,
            f"{paper.TITLE}: seed {seed}.",
            notes,
            progress,
            missing,
            deciding,
        )
    earlier = earlier_section(folder.path)
    section = paper_section(paper, asked, order, report, gaps, notes, earlier)
    folder.write(FILE, encoded(section))
    return report


def require_possible(
    paper: Paper, seed: int, runs: int | None, horizon: int | None, num_arms: int | None
) -> None:
    """Raises InputError for arguments of `reproduce` that cannot be met for a paper."""
    require_order(seed, runs)
    if horizon is not None:
        require_horizon(horizon, paper.name)
        if horizon < paper.shortest:
            least = f"{paper.shortest:,}"
            raise InputError(
                f"{paper.name}: the horizon must be at least {least}, not {horizon:,}."
            )
    if num_arms is not None and not paper.resizable:
        raise InputError(f"{paper.name}: no instances are random, num_arms cannot be chosen.")


def require_hours(hours: float | None) -> None:
    """Raises InputError for an impossible number of core-hours."""
    if hours is not None and not 0 <= hours < math.inf:
        raise InputError(f"decide must be a number of core-hours from 0 on, not {hours}.")


def require_order(seed: int, runs: int | None) -> None:
    """Raises InputError for an impossible seed or number of runs."""
    if runs is not None and runs < 1:
        raise InputError(f"runs must be at least 1, not {runs}.")
    if not 0 <= seed < 2**32:
        raise InputError(f"seed must be from 0 to 2^32 - 1, not {seed}.")


def pictures_at_hand(
    panels: Sequence[Panel], order: Order, setting: Setting
) -> tuple[list[Picture], list[MissingPanel]]:
    """Pictures of the panels whose data are available.

    Returns:
      The pictures, and the missing panels; there is a warning for each reason.

    Raises:
      InputError: if none of the pictures can be made.
    """
    pictures: list[Picture] = []
    missing: list[MissingPanel] = []
    failures: list[InputError] = []
    for panel in panels:
        try:
            pictures.append(panel.picture(panel, order, setting))
        except InputError as error:
            where = " and ".join(panel.instances)
            missing.append(MissingPanel(panel.name, panel.title, where, str(error)))
            failures.append(error)
    if not pictures:
        raise failures[0]
    for sentence in reasons(missing):
        warn_caller(sentence)
    return pictures, missing


def _with_times(
    panels: Sequence[Panel], order: Order, setting: Setting, times: int
) -> list[Wanted]:
    """The runs that panels want, with so many times the runs of the order."""
    more = replace(order, times=times)
    return all_wanted([panel.picture(panel, more, setting) for panel in panels])


def size_notes(panels: Sequence[Panel], order: Order) -> list[str]:
    """Horizons and numbers of runs of the panels, also with `full`, as lines of text."""
    asked = [] if order.horizon is None else [f"T = {order.horizon:,} everywhere"]
    asked += [] if order.runs is None else [f"{order.runs} runs everywhere"]
    text = [f"{', '.join(asked)}, as asked for."] if asked else []
    if len(asked) == 2:
        return text
    alike: dict[str, list[str]] = {}
    for panel in panels:
        for whose, sizes in panel.all_sizes():
            mine, whole = order.size(sizes), replace(order, full=True).size(sizes)
            more = "" if whole == mine else f" (--full: {_in_words(whole)})"
            what = _in_words(mine) + more
            if mine == ABSENT:
                what = f"only with --full: {_in_words(whole)}"
            if whole != ABSENT:
                name = f"{panel.name} ({whose})" if whose else panel.name
                alike.setdefault(what, []).append(name)
    return [*text, *(f"{', '.join(where)}: {what}." for what, where in alike.items())]


def _in_words(size: Size) -> str:
    return f"T = {short(size.horizon)}, {counted(size.runs, 'run')}"
