"""Reproduces figures of a paper: simulates each curve once and writes panels as they finish."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxduel import plotting
from jaxduel.errors import unknown_name
from jaxduel.experiments import claims as claims_module
from jaxduel.experiments.claims import Claim
from jaxduel.experiments.curves import Curve
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.plans import (
    MissingPlan,
    Plan,
    Samples,
    Setting,
    all_entries,
    figure_of,
    reasons,
)
from jaxduel.experiments.samples import Sample
from jaxduel.experiments.stored_curves import StoredCurves
from jaxduel.experiments.tables import aligned
from jaxduel.files import csv_text

_FIGURES: dict[type, Callable[[Sequence[Any]], plotting.Figure]] = {
    plotting.Panel: plotting.regret_figure,
    plotting.BarsPanel: plotting.bars_figure,
    plotting.SharesPanel: plotting.shares_figure,
    plotting.SweepPanel: plotting.sweep_figure,
    plotting.HeatPanel: plotting.heat_figure,
}
"""The functions that draw panels, by the panels' class."""


class MadePanel(NamedTuple):
    """A panel that was written: what was drawn, and its lines of the text."""

    content: Any
    lines: list[str]


@dataclass
class Report:
    """Result of `reproduce`.

    Attributes:
      files: the files written.
      lines: the numbers as text: final regrets, then claims.
      claims: the claims, measured.
      samples: the runs.
      interrupted: whether Ctrl-C ended it before all was simulated.
      panels: the panels written, by name.
      seconds: seconds that this call took.
      blocks: number of wanted blocks that were stored before this call, and after it.
      made_by: versions, code and machine of the runs; empty if there are none.
      missing: the panels that could not be made, and why: a sentence for each reason.
    """

    files: list[Path]
    lines: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    samples: dict[tuple[str, str], Sample] = field(default_factory=dict)
    interrupted: bool = False
    panels: dict[str, MadePanel] = field(default_factory=dict)
    seconds: float = 0.0
    blocks: tuple[int, int] = (0, 0)
    made_by: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def chosen_panels(asked: str | None, known: Sequence[str]) -> list[str]:
    """Names of the panels asked for: of a figure ("1"), one panel ("1a"), or all (None).

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
    panels: Sequence[Plan],
    setting: Setting,
    folder: OutputFolder,
    measure: Callable[[Samples], list[Claim]],
    heading: str,
    notes: Sequence[str] = (),
    progress: bool | None = None,
    missing: Sequence[MissingPlan] = (),
) -> Report:
    """Simulates the curves of the panels, each once, and writes figures, numbers and claims.

    A panel is written as soon as its curves are there, a figure with its last panel; a panel that
    needs no curves is written while those of others are simulated. After Ctrl-C the claims are
    measured on the finished samples. Runs are kept in the subfolder `runs`, in a store like a
    sweep's (`jaxduel.open_sweep` reads it), and taken from there the next time.

    Args:
      heading: first line of the text.
      notes: further lines of the text.
      progress: as in `jaxduel.simulate`.
      missing: panels that cannot be made; the only one of a figure is shown as such in it.

    Raises:
      InputError: if the subfolder cannot be made, before anything is simulated; or a file cannot be
        written.
    """
    begun = time.monotonic()
    every = _curves(panels, setting)
    curves = _in_order(every)
    report = Report(folder.files, missing=reasons(missing))
    todo = list(panels)
    runs = StoredCurves(folder.path / "runs", curves) if curves else None
    stored = runs.stored() if runs else {}
    before = runs.num_blocks() if runs else 0
    if stored:
        heading = f"{heading} {len(stored)} of {len(curves)} curves are from {runs}."
    report.samples = {key: sample.scaled(setting.factor) for key, sample in stored.items()}

    def write_ready(note: Callable[[str], None]) -> None:
        ready = [p for p in todo if all((d.name, c.name) in report.samples for d, c in p.entries)]
        for panel in ready:
            whole = [*panels, *missing]
            content = _write_panel(panel, whole, todo, setting, report.samples, folder)
            report.panels[panel.name] = MadePanel(content, panel.lines(report.samples))
            note(f"figure {panel.name}: done")

    try:
        if runs:
            with runs.progress(progress) as shown, closing(runs.missing(shown)) as samples:
                for key, sample in samples:
                    report.samples[key] = sample.scaled(setting.factor)
                    write_ready(shown.note)
        write_ready(lambda text: None)
    except KeyboardInterrupt:
        report.interrupted = True
    report.samples = {c.key: report.samples[c.key] for c in every if c.key in report.samples}
    report.claims = measure(report.samples)
    listed = {(data.name, c.name) for p in panels if p.listed for data, c in p.entries}
    few = {key: sample for key, sample in report.samples.items() if key in listed}
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
    folder.write("final-regret.csv", _final_table(report.samples))
    folder.write("claims.csv", claims_module.table(report.claims))
    folder.write("claims.txt", "\n".join(report.lines) + "\n")
    if runs:
        report.blocks, report.made_by = (before, runs.num_blocks()), runs.made_by
    report.seconds = time.monotonic() - begun
    return report


def _curves(panels: Sequence[Plan], setting: Setting) -> list[Curve]:
    """One curve per data set and competitor, shared by panels, grouped by data set."""
    curves: dict[tuple[str, str], Curve] = {}
    for data, competitor in all_entries(panels):
        horizon = setting.horizon_of(data)
        times = data.with_changes(setting.checkpoints(horizon))
        curve = Curve(data, competitor, horizon, times, setting.regret_on(data))
        curves[curve.key] = curves.get(curve.key, curve).joined(curve)
    return list(curves.values())


def _in_order(curves: Sequence[Curve]) -> list[Curve]:
    """The curves grouped by data set: those of the most arms, and slow competitors, first, so that
    no long one is left alone at the end."""
    data = list(dict.fromkeys(curve.data.name for curve in curves))
    return sorted(
        curves,
        key=lambda c: (-c.data.num_arms, data.index(c.data.name), c.competitor.quick),
    )


def _write_panel(
    panel: Plan,
    panels: Sequence[Plan | MissingPlan],
    todo: list[Plan],
    setting: Setting,
    samples: Samples,
    folder: OutputFolder,
) -> Any:
    """Writes a panel and removes it from `todo`; after the last of several, writes their figure.

    Returns:
      What was drawn.
    """
    (content,) = _write_figure(f"figure-{panel.name}", [panel], setting, samples, folder)
    todo.remove(panel)
    figure = figure_of(panel.name)
    siblings = [p for p in panels if figure_of(p.name) == figure]
    if sum(isinstance(p, MissingPlan) for p in siblings) > 1:
        siblings = [p for p in siblings if not isinstance(p, MissingPlan)]
    siblings.sort(key=lambda sibling: sibling.name)
    if len(siblings) > 1 and not any(figure_of(p.name) == figure for p in todo):
        _write_figure(f"figure-{figure}", siblings, setting, samples, folder)
    return content


def _write_figure(
    name: str,
    panels: Sequence[Plan | MissingPlan],
    setting: Setting,
    samples: Samples,
    folder: OutputFolder,
) -> list[Any]:
    """Writes panels as one PNG and PDF, and the numbers of a single panel as CSV.

    Returns:
      What was drawn, panel by panel.
    """
    there = [panel for panel in panels if not isinstance(panel, MissingPlan)]
    drawn = [
        panel.panel() if isinstance(panel, MissingPlan) else panel.panel(samples, setting)
        for panel in panels
    ]
    numbers = there[0].table(samples, setting) if len(panels) == 1 else None
    folder.write_figure(name, draw_panels(drawn), numbers)
    return drawn


def draw_panels(panels: Sequence[Any]) -> plotting.Figure:
    """Panels of one kind side by side; some but not all may be missing."""
    kinds = [type(panel) for panel in panels if not isinstance(panel, plotting.Missing)]
    return _FIGURES[kinds[0]](panels)


def _final_lines(samples: Samples, setting: Setting) -> list[str]:
    """Final regrets as lines of text; T has a column if it is not the same everywhere."""
    ends = {int(sample.checkpoints[-1]) for sample in samples.values()} or {setting.horizon}
    rows = []
    for (data, _), sample in samples.items():
        batches = sample.batches
        rows.append(
            [
                f"{data}: {sample.label}",
                *([f"{sample.checkpoints[-1]:,}"] if len(ends) > 1 else []),
                f"{sample.mean[-1]:,.1f}",
                f"± {sample.sem[-1]:,.1f}",
                f"{np.median(sample.final):,.1f}",
                str(sample.num_runs),
                "" if batches is None else f"{batches.mean():.1f} (max {batches.max()})",
            ]
        )
    end = ["regret at T", "T"] if len(ends) > 1 else [f"regret at T = {max(ends):,}"]
    header = [*end, "mean", "± sem", "median", "runs", "batches"]
    if samples and all(sample.batches is None for sample in samples.values()):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return aligned(header, rows)


def _final_table(samples: Samples) -> str:
    """Final regrets as CSV."""
    header = (
        "data_set",
        "policy",
        "t",
        *plotting.COLUMNS,
        "num_seeds",
        "mean_batches",
        "max_batches",
    )
    rows = []
    for (data, name), sample in samples.items():
        curve, batches = sample.curve(), sample.batches
        used = ("", "") if batches is None else (float(batches.mean()), int(batches.max()))
        numbers = [float(getattr(curve, column)[-1]) for column in plotting.COLUMNS]
        rows.append((data, name, int(curve.times[-1]), *numbers, sample.num_runs, *used))
    return csv_text(header, rows)
