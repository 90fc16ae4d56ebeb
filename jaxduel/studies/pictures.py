"""Pictures of panels: the runs to simulate, the drawing, and the numbers as a table.

A picture has the panel's name, such as "1a", the runs `wanted`, a `panel` to draw once the runs are
finished, its `table`, and `lines` for the report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from jaxduel import plotting
from jaxduel.files import csv_text
from jaxduel.numerics import linear_times, log_times
from jaxduel.problems.piecewise import with_changes
from jaxduel.runs import STATISTICS, Runs
from jaxduel.studies.wanted import Competitor, Draw, Wanted

AllRuns = Mapping[tuple[str, str], Runs]
"""Finished runs by name of the instances and of the competitor."""


@dataclass(frozen=True)
class Setting:
    """Settings shared by the simulations and panels of a paper.

    Attributes:
      horizon: T by default.
      regret: definition of regret, for instances that do not set one.
      time_scale, regret_scale: scales of the axes of regret against time.
      start: the first checkpoint on a logarithmic time axis.
      factor: the paper's regret divided by `regret`; results are shown in the paper's units.
    """

    horizon: int
    regret: str
    time_scale: plotting.Scale = "linear"
    regret_scale: plotting.Scale = "log"
    start: int = 10
    factor: float = 1.0

    def definition(self, regret: str) -> str:
        """Name of the regret to show (`jaxduel.plotting.REGRET_LABELS`) for the simulated one."""
        return regret if self.factor == 1 else f"{self.factor:g} {regret}"

    def wanted(
        self,
        where: str,
        title: str,
        draws: tuple[Draw, ...],
        competitor: Competitor,
        horizon: int,
        regret: str | None = None,
    ) -> Wanted:
        """Runs of a competitor with the checkpoints of these settings; arguments as in `Wanted`."""
        times = self.checkpoints(horizon)
        for draw in draws:
            times = with_changes(times, draw.problem)
        regret = self.regret if regret is None else regret
        return Wanted(where, title, draws, competitor, horizon, times, regret)

    def checkpoints(self, horizon: int) -> np.ndarray:
        """Times at which regret is recorded: (M,) int64.

        On a linear time axis a hundred evenly spaced times and a few early ones; on a logarithmic
        one about fifty, and T / 10, T / 100, ..., all from `start` on.
        """
        if self.time_scale == "log":
            parts = np.append(horizon // 10 ** np.arange(10), self.start)
            grid = np.union1d(log_times(horizon, 51), parts)
            return grid[(grid >= min(self.start, horizon)) & (grid <= horizon)]
        early = [scale * unit for scale in (1, 10, 100) for unit in (1, 2, 5)]
        grid = linear_times(horizon, 100)
        return np.union1d([t for t in early if t < grid[0]], grid).astype(np.int64)


class Picture(Protocol):
    """The picture of a panel, of any kind."""

    @property
    def name(self) -> str:
        """The panel's name, such as "1a"."""
        ...

    @property
    def wanted(self) -> Sequence[Wanted]:
        """The runs to simulate."""
        ...

    @property
    def listed(self) -> bool:
        """True if the report lists the final regrets; False if there are very many."""
        ...

    def panel(self, all_runs: AllRuns, setting: Setting) -> plotting.AnyPanel:
        """The content of the panel; needs all wanted runs."""
        ...

    def table(self, all_runs: AllRuns, setting: Setting) -> str:
        """The panel's numbers as CSV."""
        ...

    def lines(self, all_runs: AllRuns) -> list[str]:
        """Lines on the panel for the report, besides the final regrets."""
        ...


@dataclass(frozen=True)
class MissingPanel:
    """A panel that cannot be made: an empty frame in its figure.

    Attributes:
      name: the panel's name.
      title: the content it would show.
      where: the instances it would show.
      why: the reason, a sentence.
    """

    name: str
    title: str
    where: str
    why: str

    @property
    def note(self) -> str:
        """A line of the report's text: the panel, and the reason."""
        return f"panel {self.name}, {self.title}, is missing: {self.why}"

    def panel(self) -> plotting.Missing:
        """The frame."""
        return plotting.Missing(
            title_of(self.name, self.title), f"no data of {self.where}: see claims.txt"
        )


def reasons(missing: Sequence[MissingPanel]) -> list[str]:
    """A sentence for each reason, with the names of its missing panels."""
    by_reason: dict[str, list[str]] = {}
    for panel in missing:
        by_reason.setdefault(panel.why, []).append(panel.name)
    return [f"{missing_words(names)}: {why}" for why, names in by_reason.items()]


def missing_words(names: Sequence[str]) -> str:
    """A statement that the named panels are missing; empty for none."""
    if len(names) < 2:
        return f"panel {names[0]} is missing" if names else ""
    return f"panels {', '.join(names)} are missing"


def figure_of(name: str) -> str:
    """The figure that a panel belongs to: "1" for "1a", "2" for "2"."""
    return name.rstrip("abcdefghijklmnopqrstuvwxyz")


def title_of(name: str, title: str) -> str:
    """A panel's title, preceded by the letter of its name if it has one."""
    letter = name.removeprefix(figure_of(name))
    return f"({letter}) {title}" if letter else title


@dataclass(frozen=True)
class RegretPicture:
    """Regret against time of several competitors on the same instances.

    Attributes:
      name: the panel's name.
      wanted: runs of each competitor; some competitors may have fewer runs or a shorter horizon.
      bounds: computes the instance's constants of bounds, by label, drawn as constant * log t. It
        is called when the panel is drawn.
      frame: names of the competitors that, with the bounds, set the range of the regret axis; other
        lines may leave the panel. If empty, the axis fits all lines.
      regret_scale: scale of the regret axis, if not the `Setting`'s.
      listed: whether the report lists the final regrets.
    """

    name: str
    wanted: tuple[Wanted, ...]
    bounds: Callable[[Any], Mapping[str, float]] = lambda problem: {}
    frame: tuple[str, ...] = ()
    regret_scale: plotting.Scale | None = None
    listed: bool = True

    @property
    def where(self) -> str:
        """Name of the instances."""
        return self.wanted[0].where

    @property
    def problem(self) -> Any:
        """The instance, the first if there are several."""
        return self.wanted[0].problem

    def panel(self, all_runs: AllRuns, setting: Setting) -> plotting.LinePanel:
        """A line per policy, with this panel's labels, and the bounds."""
        lines = [plotting.Line.of(all_runs[one.key], one.competitor.label) for one in self.wanted]
        times = setting.checkpoints(max(one.horizon for one in self.wanted))
        references = [
            plotting.Reference(label, constant * np.log(times), times)
            for label, constant in self.bounds(self.problem).items()
        ]
        inside = [line.mean.max() for line in lines if line.name in self.frame]
        inside += [np.max(line.values) for line in references if self.frame]
        return plotting.regret_panel(
            lines,
            title_of(self.name, self.wanted[0].title),
            references=references,
            regret=setting.definition(self.wanted[0].regret),
            time_scale=setting.time_scale,
            regret_scale=self.regret_scale or setting.regret_scale,
            top=1.1 * max(inside) if inside else None,
        )

    def table(self, all_runs: AllRuns, setting: Setting) -> str:
        """A line per policy and time, and one per bound and time."""
        references = self.panel(all_runs, setting).references
        return regret_table([all_runs[one.key] for one in self.wanted], references)

    def lines(self, all_runs: AllRuns) -> list[str]:
        """The constants of the bounds, if there are any."""
        known = self.bounds(self.problem)
        constants = ", ".join(f"{label} {constant:.4g}" for label, constant in known.items())
        return [f"figure {self.name}: {constants} times log t."] if known else []


def regret_table(runs: Sequence[Runs], references: Sequence[plotting.Reference] = ()) -> str:
    """Statistics of runs as CSV: one line per policy and time, floats to the last bit; then
    references, with their values in the column of means."""
    rows: list[Any] = [(one.name, *row) for one in runs for row in one.rows()]
    for line in references:
        times = [""] if line.at is None else np.asarray(line.at).tolist()
        values = np.atleast_1d(np.asarray(line.values, np.float64)).tolist()
        blank = [""] * len(STATISTICS)
        rows += [(line.label, *pair, *blank) for pair in zip(times, values, strict=True)]
    return csv_text(["policy", "t", *STATISTICS, "num_seeds"], rows)
