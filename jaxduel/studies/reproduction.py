"""Reproduces figures of a paper: simulates the wanted runs once each, and writes panels as they
finish."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxduel import plotting
from jaxduel.errors import unknown_name
from jaxduel.files import csv_text
from jaxduel.runs import STATISTICS, Runs
from jaxduel.studies import claims as claims_module
from jaxduel.studies.claims import Claim
from jaxduel.studies.deciding import further_runs
from jaxduel.studies.engine.machines import Machines
from jaxduel.studies.output import OutputFolder
from jaxduel.studies.pictures import (
    AllRuns,
    MissingPanel,
    Picture,
    Setting,
    figure_of,
    reasons,
)
from jaxduel.studies.stored_runs import Blocks, StoredRuns, end_of
from jaxduel.studies.tables import aligned
from jaxduel.studies.wanted import Wanted


class Deciding(NamedTuple):
    """How claims are decided: the wanted runs with so many times the runs, and the core-hours that
    they may take."""

    wanted: Callable[[int], Sequence[Wanted]]
    hours: float


class MadePanel(NamedTuple):
    """A written panel: the drawing's content, its lines of the text, and its runs."""

    content: Any
    lines: list[str]
    runs: list[Runs]


@dataclass
class Report:
    """Result of `reproduce`.

    Attributes:
      files: the files written.
      lines: the numbers as text: final regrets, then claims.
      claims: the claims, measured.
      runs: the runs, by instances and policy.
      interrupted: whether Ctrl-C ended it before all runs were simulated.
      panels: the panels written, by name.
      seconds: seconds that this call took.
      simulated: whether blocks were simulated.
      blocks: numbers of wanted blocks.
      made_by: versions, code and machine of the runs; empty if there are none.
      missing: the panels that could not be made: a sentence for each reason.
    """

    files: list[Path]
    lines: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    runs: dict[tuple[str, str], Runs] = field(default_factory=dict)
    interrupted: bool = False
    panels: dict[str, MadePanel] = field(default_factory=dict)
    seconds: float = 0.0
    simulated: bool = False
    blocks: Blocks = field(default_factory=Blocks)
    made_by: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def chosen_panels(asked: str | None, known: Sequence[str]) -> list[str]:
    """Names of the panels asked for: all of a figure ("1"), one panel ("1a"), or all (None).

    Raises:
      InputError: if there is no such figure or panel.
    """
    if asked is None:
        return list(known)
    panels = [name for name in known if asked.lower() in (name, figure_of(name))]
    if not panels:
        raise unknown_name("figure", asked, {*known, *map(figure_of, known)})
    return panels


def carry_out(
    panels: Sequence[Picture],
    setting: Setting,
    folder: OutputFolder,
    measure: Callable[[AllRuns], list[Claim]],
    heading: str,
    notes: Sequence[str] = (),
    progress: bool | None = None,
    missing: Sequence[MissingPanel] = (),
    deciding: Deciding | None = None,
    store: StoredRuns | None = None,
    spent: float = 0.0,
) -> Report:
    """Simulates the runs that panels want, once each, and writes figures, numbers and claims.

    A panel is written as soon as its runs are finished, a figure with its last panel; a panel
    without runs is written while others are simulated. After Ctrl-C the claims are measured on the
    finished runs; if there are none, files of an earlier order are left as they are. Runs are kept
    in the subfolder `runs`, in a store like a sweep's (`jaxduel.open_sweep` reads it), and taken
    from there the next time.

    Args:
      heading: first line of the text.
      notes: further lines of the text.
      progress: as in `jaxduel.simulate`.
      missing: panels that cannot be made; a figure whose only panel is missing shows that.
      deciding: if given, undecided claims get further runs, and panels with such runs are written
        again.
      store: `runs_of` the panels, if it is there already.
      spent: seconds that this process has simulated for the store before.

    Raises:
      InputError: before anything is simulated, if the subfolder cannot be made; or if a file cannot
        be written.
    """
    begun, grown = time.monotonic(), set[tuple[str, str]]()
    every = all_wanted(panels)
    report = Report(folder.files, missing=reasons(missing))
    todo = list(panels)
    store = store or runs_of(panels, folder)
    stored = store.stored() if store else {}
    if store and store.before and stored:
        heading = f"{heading} {len(stored)} of {len(every)} curves are from {store}."
    report.runs = {key: runs.scaled(setting.factor) for key, runs in stored.items()}

    def write_ready(note: Callable[[str], None]) -> None:
        ready = [p for p in todo if all(one.key in report.runs for one in p.wanted)]
        for panel in ready:
            whole = [*panels, *missing]
            content = _write_panel(panel, whole, todo, setting, report.runs, folder)
            own = [replace(report.runs[w.key], label=w.competitor.label) for w in panel.wanted]
            report.panels[panel.name] = MadePanel(content, panel.lines(report.runs), own)
            note(f"figure {panel.name}: done")

    try:
        if store:
            with (
                store.progress(progress) as shown,
                closing(store.missing(shown)) as finished,
            ):
                for key, runs in finished:
                    report.runs[key] = runs.scaled(setting.factor)
                    write_ready(shown.note)
        write_ready(lambda text: None)
        if store and deciding:
            try:
                for key, runs in further_runs(
                    lambda: measure(report.runs),
                    deciding.wanted,
                    folder.path / "runs",
                    end_of(deciding.hours, store.machines),
                    progress,
                    store.machines,
                ):
                    report.runs[key] = runs.scaled(setting.factor)
                    grown.add(key)
            finally:
                todo += [p for p in panels if any(one.key in grown for one in p.wanted)]
                write_ready(lambda text: None)
    except KeyboardInterrupt:
        report.interrupted = True
    report.runs = {c.key: report.runs[c.key] for c in every if c.key in report.runs}
    report.claims = measure(report.runs)
    listed = {one.key for p in panels if p.listed for one in p.wanted}
    few = {key: runs for key, runs in report.runs.items() if key in listed}
    made = [report.panels[panel.name] for panel in panels if panel.name in report.panels]
    said = [line for panel in made for line in panel.lines]
    report.lines = [
        heading,
        *notes,
        *report.missing,
        "",
        *([*_final_lines(few, setting), ""] if listed else []),
        *said,
        *([""] if said else []),
        *claims_module.lines(report.claims),
    ]
    if store and not (report.runs or made) and (folder.path / "claims.csv").exists():
        report.lines = [
            f"Nothing of this order is finished: the files in {folder.path} are left as they are."
        ]
    else:
        folder.write("final-regret.csv", _final_table(report.runs))
        folder.write("claims.csv", claims_module.table(report.claims))
        folder.write("claims.txt", "\n".join(report.lines) + "\n")
    if store:
        report.blocks, report.made_by = store.blocks(), store.made_by
        report.simulated = report.blocks.stored > report.blocks.before or bool(grown)
    report.seconds = spent + time.monotonic() - begun
    return report


def all_wanted(panels: Sequence[Picture]) -> list[Wanted]:
    """The runs that panels want, once each, grouped by instances."""
    every = [one for panel in panels for one in panel.wanted]
    order = list(dict.fromkeys(one.where for one in every))
    found: dict[tuple[str, str], Wanted] = {}
    for one in sorted(every, key=lambda one: order.index(one.where)):
        found[one.key] = found.get(one.key, one).joined(one)
    return list(found.values())


def runs_of(
    panels: Sequence[Picture], folder: OutputFolder, machines: Machines | None = None
) -> StoredRuns | None:
    """The store of the runs that panels want, in the subfolder `runs`; None if they want none.

    Raises:
      InputError: if it cannot be made.
    """
    wanted = _in_order(all_wanted(panels))
    return StoredRuns(folder.path / "runs", wanted, machines) if wanted else None


def _in_order(wanted: Sequence[Wanted]) -> list[Wanted]:
    """Wanted runs grouped by instances: most arms and slow competitors first, so that no long run
    is left alone at the end."""
    where = list(dict.fromkeys(one.where for one in wanted))
    return sorted(
        wanted,
        key=lambda w: (-w.problem.num_arms, where.index(w.where), w.competitor.quick),
    )


def _write_panel(
    panel: Picture,
    panels: Sequence[Picture | MissingPanel],
    todo: list[Picture],
    setting: Setting,
    all_runs: AllRuns,
    folder: OutputFolder,
) -> Any:
    """Writes a panel and removes it from `todo`; after the last of several, writes their figure.

    Returns:
      The drawn content.
    """
    (content,) = _write_figure(f"figure-{panel.name}", [panel], setting, all_runs, folder)
    todo.remove(panel)
    figure = figure_of(panel.name)
    siblings = [p for p in panels if figure_of(p.name) == figure]
    if sum(isinstance(p, MissingPanel) for p in siblings) > 1:
        siblings = [p for p in siblings if not isinstance(p, MissingPanel)]
    siblings.sort(key=lambda sibling: sibling.name)
    if len(siblings) > 1 and not any(figure_of(p.name) == figure for p in todo):
        _write_figure(f"figure-{figure}", siblings, setting, all_runs, folder)
    return content


def _write_figure(
    name: str,
    panels: Sequence[Picture | MissingPanel],
    setting: Setting,
    all_runs: AllRuns,
    folder: OutputFolder,
) -> list[Any]:
    """Writes panels as one PNG and PDF, and the numbers of a single panel as CSV.

    Returns:
      The drawn contents, panel by panel.
    """
    there = [panel for panel in panels if not isinstance(panel, MissingPanel)]
    drawn = [
        panel.panel() if isinstance(panel, MissingPanel) else panel.panel(all_runs, setting)
        for panel in panels
    ]
    numbers = there[0].table(all_runs, setting) if len(panels) == 1 else None
    folder.write_figure(name, plotting.draw(drawn), numbers)
    return drawn


def _final_lines(all_runs: AllRuns, setting: Setting) -> list[str]:
    """Final regrets as lines of text; T has a column if horizons differ."""
    ends = {int(runs.times[-1]) for runs in all_runs.values()} or {setting.horizon}
    rows = []
    for (data, _), runs in all_runs.items():
        batches = runs.batches
        rows.append(
            [
                f"{data}: {runs.label}",
                *([f"{runs.times[-1]:,}"] if len(ends) > 1 else []),
                f"{runs.mean[-1]:,.1f}",
                f"± {runs.sem[-1]:,.1f}",
                f"{np.median(runs.final):,.1f}",
                str(runs.num_runs),
                "" if batches is None else f"{batches.mean():.1f} (max {batches.max()})",
            ]
        )
    end = ["regret at T", "T"] if len(ends) > 1 else [f"regret at T = {max(ends):,}"]
    header = [*end, "mean", "± sem", "median", "runs", "batches"]
    if all_runs and all(runs.batches is None for runs in all_runs.values()):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return aligned(header, rows)


def _final_table(all_runs: AllRuns) -> str:
    """Final regrets as CSV."""
    header = (
        "instance",
        "policy",
        "t",
        *STATISTICS,
        "num_seeds",
        "mean_batches",
        "max_batches",
    )
    rows = []
    for (data, name), runs in all_runs.items():
        batches, (*numbers, count) = runs.batches, runs.rows()[-1]
        used = ("", "") if batches is None else (float(batches.mean()), int(batches.max()))
        rows.append((data, name, *numbers, count, *used))
    return csv_text(header, rows)
