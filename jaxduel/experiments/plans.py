"""Plans of panels: the simulations a panel needs, its drawing, and its numbers as a table.

A plan has a name such as "1a", the `entries` that it needs (pairs of a data set and a competitor),
a `panel` to draw once their samples are there, the panel's `table`, and `lines` for the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from jaxduel import plotting
from jaxduel.experiments.curves import Competitor, DataSet
from jaxduel.experiments.samples import Sample
from jaxduel.numerics import linear_times, log_times

Samples = Mapping[tuple[str, str], Sample]
"""Finished samples by name of the data set and of the competitor."""

Entry = tuple[DataSet, Competitor]


@dataclass(frozen=True)
class Setting:
    """Settings shared by the simulations and panels of a paper.

    Attributes:
      horizon: T of data sets that do not set their own.
      regret: name of its definition on data sets that do not set their own.
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

    def definition(self, data: DataSet) -> str:
        """Name of the regret that is shown (`jaxduel.plotting.REGRET_LABELS`) on a data set."""
        regret = self.regret_on(data)
        return regret if self.factor == 1 else f"{self.factor:g} {regret}"

    def regret_on(self, data: DataSet) -> str:
        """Name of the definition on a data set."""
        return self.regret if data.regret is None else data.regret

    def horizon_of(self, data: DataSet) -> int:
        """T on a data set."""
        return self.horizon if data.horizon is None else data.horizon

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


class Plan(Protocol):
    """A plan of a panel, of any kind."""

    @property
    def name(self) -> str:
        """The panel's name, such as "1a"."""
        ...

    @property
    def entries(self) -> Sequence[Entry]:
        """The data sets and competitors to simulate."""
        ...

    @property
    def listed(self) -> bool:
        """True if the report lists their final regrets; False if there are very many."""
        ...

    def panel(self, samples: Samples, setting: Setting) -> Any:
        """The content of the panel; needs a sample of each entry."""
        ...

    def table(self, samples: Samples, setting: Setting) -> str:
        """The panel's numbers as CSV."""
        ...

    def lines(self, samples: Samples) -> list[str]:
        """Lines on the panel for the report, which has the final regrets already."""
        ...


@dataclass(frozen=True)
class MissingPlan:
    """A panel that cannot be made: in the figure of its siblings there is an empty frame.

    Attributes:
      name: the panel's name.
      title: what it would show.
      where: the instances that it would be of.
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


def reasons(missing: Sequence[MissingPlan]) -> list[str]:
    """A sentence for each reason, with the names of the panels that are missing for it."""
    by_reason: dict[str, list[str]] = {}
    for panel in missing:
        by_reason.setdefault(panel.why, []).append(panel.name)
    return [f"{missing_words(names)}: {why}" for why, names in by_reason.items()]


def missing_words(names: Sequence[str]) -> str:
    """That panels are missing, by their names; empty if none is."""
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
class PanelPlan:
    """Regret against time of several competitors on one data set.

    Attributes:
      name: the panel's name.
      data: the data set.
      competitors: the policies.
      lesser: by competitor's name, the same data set with fewer runs or a shorter horizon.
      bounds: computes, of the instance, the constants of bounds by label, drawn as
        constant * log t. It is called when the panel is drawn.
      frame: names of the competitors that, with the bounds, set the range of the regret axis; the
        curves of others may leave the panel. If it is empty, the axis fits all.
      regret_scale: scale of the regret axis, if not the `Setting`'s.
      listed: whether the report lists the final regrets.
    """

    name: str
    data: DataSet
    competitors: tuple[Competitor, ...]
    lesser: Mapping[str, DataSet] = field(default_factory=dict)
    bounds: Callable[[Any], Mapping[str, float]] = lambda problem: {}
    frame: tuple[str, ...] = ()
    regret_scale: plotting.Scale | None = None
    listed: bool = True

    @property
    def problem(self) -> Any:
        """The data set's instance, the first if there are several."""
        return self.data.draws[0].problem

    @property
    def entries(self) -> Sequence[Entry]:
        """One per curve."""
        return [(self.lesser.get(c.name, self.data), c) for c in self.competitors]

    def panel(self, samples: Samples, setting: Setting) -> plotting.Panel:
        """A curve per policy, with this panel's labels, and the bounds."""
        curves = [
            replace(samples[self.data.name, c.name].curve(), label=c.label)
            for c in self.competitors
        ]
        times = setting.checkpoints(setting.horizon_of(self.data))
        references = [
            plotting.Reference(label, constant * np.log(times), times)
            for label, constant in self.bounds(self.problem).items()
        ]
        inside = [curve.mean.max() for curve in curves if curve.name in self.frame]
        inside += [np.max(line.values) for line in references if self.frame]
        return plotting.Panel(
            curves=curves,
            title=title_of(self.name, self.data.title),
            references=references,
            definition=setting.definition(self.data),
            time_scale=setting.time_scale,
            regret_scale=self.regret_scale or setting.regret_scale,
            top=1.1 * max(inside) if inside else None,
        )

    def table(self, samples: Samples, setting: Setting) -> str:
        """A line per policy and time, and one per bound and time."""
        panel = self.panel(samples, setting)
        return plotting.table(panel.curves, panel.references)

    def lines(self, samples: Samples) -> list[str]:
        """The constants of the bounds, if there are any."""
        known = self.bounds(self.problem)
        constants = ", ".join(f"{label} {constant:.4g}" for label, constant in known.items())
        return [f"figure {self.name}: {constants} times log t."] if known else []


def all_entries(plans: Iterable[Plan]) -> list[Entry]:
    """The entries of the plans, grouped by data set; an entry may occur twice."""
    entries = [entry for plan in plans for entry in plan.entries]
    order = list(dict.fromkeys(data.name for data, _ in entries))
    return sorted(entries, key=lambda entry: order.index(entry[0].name))
