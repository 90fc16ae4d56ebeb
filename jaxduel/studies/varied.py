"""Pictures of final regret against a parameter: delay, number of batches or arms, horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from jaxduel import plotting
from jaxduel.files import csv_text
from jaxduel.plotting.line import few_seeds
from jaxduel.runs import STATISTICS, Runs
from jaxduel.studies.pictures import AllRuns, Setting, title_of
from jaxduel.studies.wanted import Competitor, Wanted

PER_PULL = "average regret per pull, $R(T)/T$"


@dataclass(frozen=True)
class FinalSetting(Setting):
    """Settings of simulations that record regret at the horizon only."""

    def checkpoints(self, horizon: int) -> np.ndarray:
        """The horizon alone: (1,) int64."""
        return np.array([horizon], np.int64)


class Point(NamedTuple):
    """One point of a line: the parameter's value, and the runs wanted there."""

    at: float
    wanted: Wanted


@dataclass(frozen=True)
class VariedLine:
    """A policy's runs at all values of the parameter.

    Attributes:
      name: the line's style (`jaxduel.plotting.STYLES`).
      label: its name in the legend.
      points: one per value, in increasing order.
    """

    name: str
    label: str
    points: tuple[Point, ...]


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
class VariedPicture:
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
    lines_of: tuple[VariedLine, ...]
    per_pull: bool = False
    regret_scale: plotting.Scale = "linear"
    listed: bool = True

    @property
    def wanted(self) -> Sequence[Wanted]:
        """Runs of each competitor on each set of instances; points share equal runs."""
        found = [point.wanted for line in self.lines_of for point in line.points]
        return list({one.key: one for one in found}.values())

    def panel(self, all_runs: AllRuns, setting: Setting) -> plotting.LinePanel:
        """A line per policy."""
        lines, seeds = [], set()
        for line in self.lines_of:
            ends = [self._end(point.wanted, all_runs) for point in line.points]
            seeds |= {end.num_runs for end in ends}
            alike = len({end.num_runs for end in ends}) == 1
            each = np.stack([end.final for end in ends], axis=1) if alike else None
            lower, upper = np.array([np.array(end.interval)[:, -1] for end in ends]).T
            lines.append(
                plotting.Line(
                    name=line.name,
                    label=line.label,
                    at=np.array([point.at for point in line.points]),
                    mean=np.array([end.mean[-1] for end in ends]),
                    lower95=lower,
                    upper95=upper,
                    seeds=None if each is None else few_seeds(each),
                )
            )
        definition = setting.definition(self.wanted[0].regret)
        words = plotting.seeds_words(seeds, plotting.spread_words(lines))
        return plotting.LinePanel(
            lines=lines,
            title=title_of(self.name, self.title),
            across=self.axis.label,
            up=PER_PULL if self.per_pull else plotting.regret_label(definition, final=True),
            across_scale=self.axis.scale,
            up_scale=self.regret_scale,
            about=f"{plotting.regret_words(definition)}, {words}",
        )

    def table(self, all_runs: AllRuns, setting: Setting) -> str:
        """A line per policy and value of the parameter."""
        header = ("policy", self.axis.column, "t", *STATISTICS, "num_seeds", "parameters")
        rows = []
        for line in self.lines_of:
            for point in line.points:
                end = self._end(point.wanted, all_runs)
                *numbers, count = end.rows()[-1]
                known = point.wanted.competitor.parameters.items()
                parameters = " ".join(f"{key}={value}" for key, value in known)
                rows.append((line.name, point.at, *numbers, count, parameters))
        return csv_text(header, rows)

    def lines(self, all_runs: AllRuns) -> list[str]:
        """None: the report has the final regrets already."""
        return []

    def _end(self, wanted: Wanted, all_runs: AllRuns) -> Runs:
        """The runs of a point, per pull if asked for."""
        runs = all_runs[wanted.key]
        return runs.scaled(1 / wanted.horizon) if self.per_pull else runs


def across(values: Sequence[float], wanted: Sequence[Sequence[Wanted]]) -> tuple[VariedLine, ...]:
    """A line per policy over values of the parameter; `wanted` has the runs for each value, with
    policies in the same order."""
    lines = zip(*wanted, strict=True)
    return tuple(_line([Point(*pair) for pair in zip(values, line, strict=True)]) for line in lines)


def against_delay(name: str, wanted: Sequence[Wanted], delays: Sequence[int]) -> VariedPicture:
    """Final regret against the delay of feedback, a line per policy."""
    lines = [
        _line([Point(d, replace(one, competitor=delayed(one.competitor, d))) for d in delays])
        for one in wanted
    ]
    axis = Axis("delay $d$ (comparisons)", "delay", "log")
    return VariedPicture(name, wanted[0].title, axis, tuple(lines))


def _line(points: Sequence[Point]) -> VariedLine:
    """A line with the style and the label of its first point."""
    first = points[0].wanted.competitor
    return VariedLine(first.name, first.label, tuple(points))


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
