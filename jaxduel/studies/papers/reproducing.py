"""Reproduces a paper: figures, claims, and its section of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from jaxduel.display import counted
from jaxduel.errors import InputError, warn_caller
from jaxduel.policies.checks import require_horizon
from jaxduel.studies.claims import Claim
from jaxduel.studies.deciding import CONFIDENCE, LOOKS
from jaxduel.studies.engine.machines import Machines, connected
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
    runs_of,
)
from jaxduel.studies.stored_runs import StoredRuns
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
    scheduler: str | None = None,
    shard: tuple[int, int] | None = None,
    until: datetime | None = None,
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
      scheduler, shard, until: as in `jaxduel.run_sweep`; what is not simulated then is left out.

    Returns:
      The report. A panel whose data are not available is missing, with a warning; a figure with no
      other panel shows an empty frame.

    Raises:
      InputError: before anything is computed; also if the data of no panel are available.
      ConnectionError: if the scheduler was lost; stored blocks are kept.
    """
    require_possible(paper, seed, runs, horizon, num_arms)
    require_decidable(decide, shard)
    order = Order(full, seed, runs, horizon, num_arms, decide)
    there = connected(scheduler=scheduler, shard=shard, until=until)
    with there as machines:
        prepared = Prepared.of(paper, order, out, figure)
        return prepared.carry_out(prepared.runs(machines), progress)


@dataclass(frozen=True)
class Prepared:
    """An order that can be carried out.

    Attributes:
      paper, order: what is reproduced.
      figure: the figure or panel asked for; None for all.
      folder: folder for the files.
      setting: the paper's setting, with the order's horizon.
      pictures, missing: of the panels.
    """

    paper: Paper
    order: Order
    figure: str | None
    folder: OutputFolder
    setting: Setting
    pictures: list[Picture]
    missing: list[MissingPanel]

    @classmethod
    def of(
        cls, paper: Paper, order: Order, out: str | Path | None = None, figure: str | None = None
    ) -> Prepared:
        """Prepares an order; `out` and `figure` as in `reproduce`.

        Raises:
          InputError: if there is no such figure, the data of no panel are available, or the folder
            cannot be made.
        """
        asked = _asked(paper, figure)
        folder = OutputFolder(Path("figures") / paper.name if out is None else out)
        setting = replace(paper.setting, horizon=order.horizon or paper.setting.horizon)
        panels = [paper.panel(name) for name in asked]
        pictures, missing = pictures_at_hand(panels, order, setting)
        return cls(paper, order, figure, folder, setting, pictures, missing)

    def runs(self, machines: Machines) -> StoredRuns | None:
        """The store of the runs; None if none are wanted."""
        with self.paper.unwarned():
            return runs_of(self.pictures, self.folder, machines)

    def carry_out(
        self,
        store: StoredRuns | None,
        progress: bool | None,
        spent: float = 0.0,
        decides: bool = True,
    ) -> Report:
        """Simulates what is missing, draws, measures, and writes the section of a page.

        Args:
          store: the store of `runs`.
          progress: as in `jaxduel.simulate`.
          spent: seconds that this process has simulated for the store before.
          decides: whether claims are decided, if the order asks for that.
        """
        paper, order, setting = self.paper, self.order, self.setting
        asked = _asked(paper, self.figure)
        notes = [*size_notes([paper.panel(name) for name in asked], order), *paper.notes]
        gaps = {panel.name: panel.note for panel in self.missing}
        deciding, confidence = None, 0.95
        if order.decide is not None:
            confidence = CONFIDENCE
            there = [paper.panel(name) for name in asked if name not in gaps]
            if decides:
                deciding = Deciding(partial(_with_times, there, order, setting), order.decide)
            notes.append(
                f"Undecided claims have up to {2 ** (LOOKS - 1)} times the runs "
                f"({order.decide:g} core-hours at most); intervals hold at all {LOOKS} looks "
                "together."
            )

        def measure(all_runs: AllRuns) -> list[Claim]:
            judged = {key: replace(runs, confidence=confidence) for key, runs in all_runs.items()}
            return paper.measured_on(judged, self.pictures, setting)

        with paper.unwarned():
            report = carry_out(
                self.pictures,
                setting,
                self.folder,
                measure,
                f"{paper.TITLE}: seed {order.seed}.",
                notes,
                progress,
                self.missing,
                deciding,
                store,
                spent,
            )
        if report.files:
            earlier = earlier_section(self.folder.path)
            section = paper_section(
                paper, asked, order, report, gaps, notes, earlier, self.figure or ""
            )
            self.folder.write(FILE, encoded(section))
        return report


def _asked(paper: Paper, figure: str | None) -> list[str]:
    """Names of the panels of a figure, as `chosen_panels`."""
    return chosen_panels(figure, [panel.name for panel in paper.panels])


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


def require_decidable(hours: float | None, shard: tuple[int, int] | None) -> None:
    """Raises InputError for an impossible number of core-hours, or for a share: what is undecided
    depends on all runs."""
    if hours is not None and not 0 <= hours < math.inf:
        raise InputError(f"decide must be a number of core-hours from 0 on, not {hours}.")
    if hours is not None and shard is not None:
        raise InputError("decide needs the runs of all shares: it does not go with a shard.")


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
