"""Panels of final regret against a parameter: delay, number of batches, number of arms, horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from jaxduel import plotting
from jaxduel.experiments.curves import Competitor, DataSet
from jaxduel.experiments.plans import Entry, Samples, Setting, title_of
from jaxduel.files import csv_text

PER_PULL = "average regret per pull, $R(T)/T$"


@dataclass(frozen=True)
class FinalSetting(Setting):
    """Settings of simulations that record regret at the horizon only."""

    def checkpoints(self, horizon: int) -> np.ndarray:
        """The horizon alone: (1,) int64."""
        return np.array([horizon], np.int64)


class SweepPoint(NamedTuple):
    """One point of a line: the parameter's value `at`, the data set and the competitor."""

    at: float
    data: DataSet
    competitor: Competitor


@dataclass(frozen=True)
class SweepLine:
    """A policy at all values of the parameter.

    Attributes:
      name: the line's style (`jaxduel.plotting.STYLES`).
      label: its name in the legend.
      points: one per value, in increasing order.
    """

    name: str
    label: str
    points: tuple[SweepPoint, ...]


@dataclass(frozen=True)
class Axis:
    """The parameter that is varied, as an axis.

    Attributes:
      label: label of the axis.
      column: its column in tables.
      scale: scale of the axis.
    """

    label: str
    column: str
    scale: plotting.Scale = "linear"


@dataclass(frozen=True)
class SweepPlan:
    """Mean final regret against a parameter, a line per policy.

    Attributes:
      name: the panel's name.
      title: its title.
      axis: the parameter.
      lines_of: a line per policy.
      per_pull: whether regret is divided by the horizon.
      regret_scale: scale of the axis of regret.
      listed: whether the report lists the final regrets.
    """

    name: str
    title: str
    axis: Axis
    lines_of: tuple[SweepLine, ...]
    per_pull: bool = False
    regret_scale: plotting.Scale = "linear"
    listed: bool = True

    @property
    def entries(self) -> Sequence[Entry]:
        """One per data set and competitor; points with both the same share it."""
        found = [(point.data, point.competitor) for line in self.lines_of for point in line.points]
        unique = {(data.name, c.name): (data, c) for data, c in found}
        return list(unique.values())

    def panel(self, samples: Samples, setting: Setting) -> plotting.SweepPanel:
        """A curve per policy."""
        curves, seeds = [], set()
        for line in self.lines_of:
            ends = [self._end(point, samples, setting) for point in line.points]
            seeds |= {end.num_seeds for end in ends}
            each = [end.runs for end in ends if end.runs is not None]
            alike = len(each) == len(ends) and len({len(runs) for runs in each}) == 1
            mean, lower, upper = (
                np.array([getattr(end, column)[-1] for end in ends])
                for column in ("mean", "lower95", "upper95")
            )
            at = np.array([point.at for point in line.points])
            curves.append(
                plotting.SweepCurve(
                    name=line.name,
                    label=line.label,
                    at=at,
                    mean=mean,
                    lower95=lower,
                    upper95=upper,
                    runs=np.stack([runs[:, -1] for runs in each], axis=1) if alike else None,
                )
            )
        definition = setting.definition(self.entries[0][0])
        words = plotting.seeds_words(seeds, plotting.spread_words(curves))
        return plotting.SweepPanel(
            curves=curves,
            title=title_of(self.name, self.title),
            across=self.axis.label,
            up=PER_PULL if self.per_pull else plotting.regret_label(definition, final=True),
            across_scale=self.axis.scale,
            up_scale=self.regret_scale,
            about=f"{plotting.regret_words(definition)}, {words}",
        )

    def table(self, samples: Samples, setting: Setting) -> str:
        """A line per policy and value of the parameter."""
        header = ("policy", self.axis.column, "t", *plotting.COLUMNS, "num_seeds", "parameters")
        rows = []
        for line in self.lines_of:
            for point in line.points:
                end = self._end(point, samples, setting)
                numbers = [float(getattr(end, column)[-1]) for column in plotting.COLUMNS]
                known = point.competitor.parameters.items()
                parameters = " ".join(f"{key}={value}" for key, value in known)
                time = int(end.times[-1])
                rows.append((line.name, point.at, time, *numbers, end.num_seeds, parameters))
        return csv_text(header, rows)

    def lines(self, samples: Samples) -> list[str]:
        """None: the report has the final regrets already."""
        return []

    def _end(self, point: SweepPoint, samples: Samples, setting: Setting) -> plotting.Curve:
        """The sample of a point as a curve, per pull where that is asked for."""
        sample = samples[point.data.name, point.competitor.name]
        if self.per_pull:
            sample = sample.scaled(1 / setting.horizon_of(point.data))
        return sample.curve()


def across(
    competitors: Sequence[Competitor], values: Sequence[float], data: Sequence[DataSet]
) -> tuple[SweepLine, ...]:
    """A line per policy over values of the parameter, each with a data set of its own."""
    pairs = tuple(zip(values, data, strict=True))
    return tuple(
        SweepLine(c.name, c.label, tuple(SweepPoint(at, own, c) for at, own in pairs))
        for c in competitors
    )


def against_delay(
    name: str, data: DataSet, competitors: Sequence[Competitor], delays: Sequence[int]
) -> SweepPlan:
    """Final regret against the delay of feedback, a line per policy."""
    lines = [
        SweepLine(c.name, c.label, tuple(SweepPoint(d, data, delayed(c, d)) for d in delays))
        for c in competitors
    ]
    axis = Axis("delay $d$ (comparisons)", "delay", "log")
    return SweepPlan(name, data.title, axis, tuple(lines))


def delayed(competitor: Competitor, delay: int) -> Competitor:
    """The same policy with delayed feedback, as a competitor with its own name and label."""
    if delay == 1:
        return competitor
    return replace(
        competitor,
        name=f"{competitor.name}[delay={delay}]",
        label=f"{competitor.label}, d = {delay:,}",
        delay=delay,
    )


def in_fixed_order(competitor: Competitor) -> Competitor:
    """The same policy with arms in the order of the data set, with its own name and label."""
    name, label = f"{competitor.name}[shuffle_arms=false]", f"{competitor.label}, fixed order"
    return replace(competitor, name=name, label=label, shuffle_arms=False)
