"""Panels to be made: what each needs simulated, how it is drawn, and its numbers as a table.

A plan has a name such as "1a", the `entries` that it needs (data sets and who plays them), a
`panel` to draw once their samples are there, the panel's `table`, and `lines` for the report;
`figure` draws panels of one kind side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from jaxduel import plotting
from jaxduel.experiments.samples import Sample
from jaxduel.experiments.tables import csv_text
from jaxduel.experiments.tasks import Competitor, DataSet
from jaxduel.numerics import linear_grid, log_grid

Samples = Mapping[tuple[str, str], Sample]
"""Finished samples by name of the data set and of the competitor."""

Entry = tuple[DataSet, Competitor]


@dataclass(frozen=True)
class Setting:
    """What the simulations of a paper have in common.

    Attributes:
      horizon: T, where a data set has none of its own.
      regret: its definition, by name.
      time_scale, regret_scale: the axes of regret against time.
    """

    horizon: int
    regret: str
    time_scale: plotting.Scale = "linear"
    regret_scale: plotting.Scale = "log"

    def horizon_of(self, data: DataSet) -> int:
        """T on a data set."""
        return self.horizon if data.horizon is None else data.horizon

    def checkpoints(self, horizon: int) -> np.ndarray:
        """When regret is recorded: (M,) int64.

        On a linear axis a hundred evenly spaced times and a few early ones; on a logarithmic one
        fifty from 10, and a tenth of the horizon.
        """
        if self.time_scale == "log":
            grid = np.union1d(log_grid(horizon, 51), [10, horizon // 10])
            return grid[(grid >= min(10, horizon)) & (grid <= horizon)]
        early = [scale * unit for scale in (1, 10, 100) for unit in (1, 2, 5)]
        grid = linear_grid(horizon, 100)
        return np.union1d([t for t in early if t < grid[0]], grid).astype(np.int64)


class Plan(Protocol):
    """A panel to be made, of any kind."""

    @property
    def name(self) -> str:
        """Such as "1a"."""
        ...

    @property
    def entries(self) -> Sequence[Entry]:
        """Who plays what."""
        ...

    def panel(self, samples: Samples, setting: Setting) -> Any:
        """What `figure` draws, once there is a sample of each entry."""
        ...

    def table(self, samples: Samples, setting: Setting) -> str:
        """Its numbers as CSV."""
        ...

    def lines(self, samples: Samples) -> list[str]:
        """What the report says of it, beside final regrets."""
        ...

    def figure(self, panels: Sequence[Any]) -> plotting.Figure:
        """Panels of this kind as a figure."""
        ...


def figure_of(name: str) -> str:
    """The figure that a panel belongs to: "1" for "1a", "2" for "2"."""
    return name.rstrip("abcdefghijklmnopqrstuvwxyz")


def title_of(name: str, title: str) -> str:
    """A panel's title, behind its letter if it has one."""
    letter = name.removeprefix(figure_of(name))
    return f"({letter}) {title}" if letter else title


@dataclass(frozen=True)
class PanelPlan:
    """Regret against time: what is played, and who plays."""

    name: str
    data: DataSet
    competitors: tuple[Competitor, ...]

    @property
    def entries(self) -> Sequence[Entry]:
        """One per curve."""
        return [(self.data, competitor) for competitor in self.competitors]

    def panel(self, samples: Samples, setting: Setting) -> plotting.Panel:
        """The curves, with this panel's labels."""
        return plotting.Panel(
            curves=[
                replace(samples[self.data.name, c.name].curve(), label=c.label)
                for c in self.competitors
            ],
            title=title_of(self.name, self.data.title),
            definition=setting.regret,
            time_scale=setting.time_scale,
            regret_scale=setting.regret_scale,
        )

    def table(self, samples: Samples, setting: Setting) -> str:
        """A line per policy and time."""
        return plotting.table(self.panel(samples, setting).curves)

    def lines(self, samples: Samples) -> list[str]:
        """Nothing: final regrets are in the report."""
        return []

    def figure(self, panels: Sequence[plotting.Panel]) -> plotting.Figure:
        """Panels of curves."""
        return plotting.regret_figure(panels)


@dataclass(frozen=True)
class DelayPlan:
    """Final regret against the delay of feedback."""

    name: str
    data: DataSet
    competitors: tuple[Competitor, ...]
    delays: tuple[int, ...]

    @property
    def entries(self) -> Sequence[Entry]:
        """One per policy and delay."""
        return [(self.data, delayed(c, d)) for c in self.competitors for d in self.delays]

    def panel(self, samples: Samples, setting: Setting) -> plotting.DelayPanel:
        """A curve per policy."""
        curves = []
        for c in self.competitors:
            ends = [samples[self.data.name, delayed(c, d).name].curve() for d in self.delays]
            mean, lower, upper = (
                np.array([getattr(end, column)[-1] for end in ends])
                for column in ("mean", "lower95", "upper95")
            )
            curves.append(
                plotting.DelayCurve(
                    name=c.name,
                    label=c.label,
                    delays=np.array(self.delays),
                    mean=mean,
                    lower95=lower,
                    upper95=upper,
                )
            )
        title = title_of(self.name, self.data.title)
        return plotting.DelayPanel(curves, title, setting.regret)

    def table(self, samples: Samples, setting: Setting) -> str:
        """A line per policy and delay."""
        header = ("policy", "delay", "t", *plotting.COLUMNS, "num_seeds")
        rows = []
        for c in self.competitors:
            for d in self.delays:
                curve = samples[self.data.name, delayed(c, d).name].curve()
                numbers = [float(getattr(curve, column)[-1]) for column in plotting.COLUMNS]
                rows.append((c.name, d, int(curve.times[-1]), *numbers, curve.num_seeds))
        return csv_text(header, rows)

    def lines(self, samples: Samples) -> list[str]:
        """Nothing: final regrets are in the report."""
        return []

    def figure(self, panels: Sequence[plotting.DelayPanel]) -> plotting.Figure:
        """Panels of regret against delay."""
        return plotting.delay_figure(panels)


def delayed(competitor: Competitor, delay: int) -> Competitor:
    """The same policy with delayed feedback, as a competitor of its own."""
    if delay == 1:
        return competitor
    return replace(
        competitor,
        name=f"{competitor.name}[delay={delay}]",
        label=f"{competitor.label}, d = {delay:,}",
        delay=delay,
    )


def all_entries(plans: Iterable[Plan]) -> list[Entry]:
    """What plans need, data set by data set."""
    entries = [entry for plan in plans for entry in plan.entries]
    order = list(dict.fromkeys(data.name for data, _ in entries))
    return sorted(entries, key=lambda entry: order.index(entry[0].name))
