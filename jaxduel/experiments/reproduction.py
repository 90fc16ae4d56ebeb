"""From the figures of a paper to files: simulate each curve once, write panels as they finish."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from tqdm import tqdm

from jaxduel import plotting
from jaxduel.errors import unknown_name
from jaxduel.experiments import claims as claims_module
from jaxduel.experiments.claims import Claim
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.samples import Sample
from jaxduel.experiments.tables import aligned, csv_text
from jaxduel.experiments.tasks import Competitor, DataSet, Task, run_tasks
from jaxduel.numerics import linear_grid

Samples = Mapping[tuple[str, str], Sample]
"""Finished samples by name of the data set and of the competitor."""


@dataclass(frozen=True)
class PanelPlan:
    """A panel to be made: its name such as "1a", what is played, and who plays."""

    name: str
    data: DataSet
    competitors: tuple[Competitor, ...]

    @property
    def figure(self) -> str:
        """The figure that it belongs to: "1" for "1a"."""
        return self.name.rstrip("abcdefghijklmnopqrstuvwxyz")


@dataclass(frozen=True)
class Setting:
    """What all simulations of a paper have in common."""

    horizon: int
    regret: str
    time_scale: plotting.Scale = "linear"
    regret_scale: plotting.Scale = "log"

    @property
    def checkpoints(self) -> np.ndarray:
        """A hundred evenly spaced times, and a few early ones: (M,) int64."""
        early = [scale * unit for scale in (1, 10, 100) for unit in (1, 2, 5)]
        grid = linear_grid(self.horizon, 100)
        return np.union1d([t for t in early if t < grid[0]], grid).astype(np.int64)


@dataclass
class Report:
    """What `reproduce` leaves behind.

    Attributes:
      files: the files written.
      lines: the numbers as text: final regrets, then claims.
      claims: the claims, measured.
      samples: the runs.
      interrupted: whether Ctrl-C ended it before all was simulated.
    """

    files: list[Path]
    lines: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    samples: dict[tuple[str, str], Sample] = field(default_factory=dict)
    interrupted: bool = False


def chosen_panels(asked: str | None, known: Sequence[str]) -> list[str]:
    """The panels of a figure ("1"), one panel ("1a"), or all.

    Raises:
      InputError: if there is no such figure or panel.
    """
    if asked is None:
        return list(known)
    panels = [name for name in known if asked.lower() in (name, name[:-1])]
    if not panels:
        raise unknown_name("figure", asked, {*known, *(name[:-1] for name in known)})
    return panels


def carry_out(
    panels: Sequence[PanelPlan],
    setting: Setting,
    folder: OutputFolder,
    measure: Callable[[Samples], list[Claim]],
    heading: str,
    notes: Sequence[str] = (),
    progress: bool = False,
) -> Report:
    """Simulates what the panels show, each curve once, and writes figures, numbers and claims.

    A panel is written as soon as its curves are there, a figure with its last panel. After Ctrl-C
    the claims are measured on the samples that had finished.

    Args:
      panels: what to make.
      setting: horizon and regret.
      folder: where to.
      measure: the claims of the paper, on the samples that there are.
      heading: first line of the text.
      notes: what else the text should say, such as why a panel is missing.
      progress: whether to show a progress bar on standard error.
    """
    tasks = _tasks(panels, setting)
    report = Report(folder.files)
    todo = list(panels)
    total = sum(task.data.num_runs for task in tasks)
    with tqdm(total=total, unit=" runs", disable=not progress, mininterval=0.5) as bar:
        try:
            with closing(run_tasks(_in_order(tasks), _devices())) as events:
                for event in events:
                    if isinstance(event, int):
                        bar.update(event)
                        continue
                    task, sample = event
                    report.samples[task.key] = sample
                    for panel in [p for p in todo if _is_ready(p, report.samples)]:
                        todo.remove(panel)
                        _write_panel(panel, panels, todo, setting, report.samples, folder)
                        if progress:
                            tqdm.write(f"figure {panel.name}: done", file=sys.stderr)
        except KeyboardInterrupt:
            report.interrupted = True
    report.samples = {t.key: report.samples[t.key] for t in tasks if t.key in report.samples}
    report.claims = measure(report.samples)
    report.lines = [
        heading,
        *notes,
        "",
        *_final_lines(report.samples, setting),
        "",
        *claims_module.lines(report.claims),
    ]
    folder.write("final-regret.csv", _final_table(report.samples, setting))
    folder.write("claims.csv", claims_module.table(report.claims))
    folder.write("claims.txt", "\n".join(report.lines) + "\n")
    return report


def _tasks(panels: Sequence[PanelPlan], setting: Setting) -> list[Task]:
    """One task per curve, data set by data set; a curve of two panels is one task."""
    tasks: dict[tuple[str, str], Task] = {}
    for data in dict.fromkeys(panel.data.name for panel in panels):
        for panel in (panel for panel in panels if panel.data.name == data):
            for competitor in panel.competitors:
                task = Task(
                    panel.data, competitor, setting.horizon, setting.checkpoints, setting.regret
                )
                tasks.setdefault(task.key, task)
    return list(tasks.values())


def _in_order(tasks: Sequence[Task]) -> list[Task]:
    """Data set by data set, the slow ones first."""
    data = list(dict.fromkeys(task.data.name for task in tasks))
    return sorted(tasks, key=lambda t: (data.index(t.data.name), t.competitor.quick))


def _devices() -> list[Any]:
    """The CPU's devices, even beside a GPU: steps of few lanes are faster there."""
    try:
        return jax.local_devices(backend="cpu")
    except RuntimeError:  # the user's choice of platforms leaves the CPU out
        return jax.local_devices()


def _is_ready(panel: PanelPlan, samples: Samples) -> bool:
    return all((panel.data.name, c.name) in samples for c in panel.competitors)


def _write_panel(
    panel: PanelPlan,
    panels: Sequence[PanelPlan],
    todo: Sequence[PanelPlan],
    setting: Setting,
    samples: Samples,
    folder: OutputFolder,
) -> None:
    """Writes a panel, and its figure if it was the last one of several."""
    _write_figure(f"figure-{panel.name}", [panel], setting, samples, folder)
    siblings = [p for p in panels if p.figure == panel.figure]
    if len(siblings) > 1 and not any(p.figure == panel.figure for p in todo):
        _write_figure(f"figure-{panel.figure}", siblings, setting, samples, folder)


def _write_figure(
    name: str,
    panels: Sequence[PanelPlan],
    setting: Setting,
    samples: Samples,
    folder: OutputFolder,
) -> None:
    """A figure as PNG and PDF, and the numbers of a single panel as CSV."""
    drawn = [
        plotting.Panel(
            curves=[
                replace(samples[panel.data.name, c.name].curve(), label=c.label)
                for c in panel.competitors
            ],
            title=f"({panel.name.removeprefix(panel.figure)}) {panel.data.title}",
            definition=setting.regret,
            time_scale=setting.time_scale,
            regret_scale=setting.regret_scale,
        )
        for panel in panels
    ]
    figure = plotting.regret_figure(drawn)
    folder.write(f"{name}.png", plotting.png(figure))
    folder.write(f"{name}.pdf", plotting.pdf(figure))
    if len(drawn) == 1:
        folder.write(f"{name}.csv", plotting.table(drawn[0].curves))


def _final_lines(samples: Samples, setting: Setting) -> list[str]:
    """Final regrets as text."""
    rows = []
    for (data, _), sample in samples.items():
        batches = sample.batches
        rows.append(
            [
                f"{data}: {sample.label}",
                f"{sample.mean[-1]:,.1f}",
                f"± {sample.sem[-1]:,.1f}",
                f"{np.median(sample.final):,.1f}",
                str(sample.num_runs),
                "" if batches is None else f"{batches.mean():.1f} (max {batches.max()})",
            ]
        )
    header = [f"regret at T = {setting.horizon:,}", "mean", "± sem", "median", "runs", "batches"]
    return aligned(header, rows)


def _final_table(samples: Samples, setting: Setting) -> str:
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
        rows.append((data, name, setting.horizon, *numbers, sample.num_runs, *used))
    return csv_text(header, rows)
