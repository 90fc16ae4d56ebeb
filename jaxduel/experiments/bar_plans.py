"""Panels of bars: standard deviations of regret, and shares of exploitations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jaxduel import plotting
from jaxduel.experiments.curves import Competitor, DataSet
from jaxduel.experiments.estimates import mean_of, std_over_mean
from jaxduel.experiments.plans import Entry, Samples, Setting, title_of
from jaxduel.files import csv_text
from jaxduel.stats import moments_of

_SHARES = "by arm in one run, by rank in the mean over runs"
"""The columns of a `SharesPlan`."""


@dataclass(frozen=True)
class SpreadPlan:
    """Standard deviation of the final regret, in units of one policy's mean.

    Attributes:
      name: the panel's name.
      groups: by short label, a data set and its competitors; these have the same names and order
        in all groups, their parameters may differ.
      unit_name: name of the competitor whose mean is the unit.
      listed: whether the report lists the final regrets.
    """

    name: str
    groups: Mapping[str, tuple[DataSet, tuple[Competitor, ...]]]
    unit_name: str
    listed: bool = True

    @property
    def entries(self) -> Sequence[Entry]:
        """Every competitor on every data set."""
        return [(data, c) for data, competitors in self.groups.values() for c in competitors]

    @property
    def unit(self) -> Competitor:
        """The competitor whose mean regret is the unit."""
        return next(c for _, c in self.entries if c.name == self.unit_name)

    def panel(self, samples: Samples, setting: Setting) -> plotting.BarsPanel:
        """A group of bars per data set."""
        bars = []
        for name, label in dict.fromkeys((c.name, c.label) for _, c in self.entries):
            numbers = [self._relative(samples, data, name) for data, _ in self.groups.values()]
            value, lower, upper = np.array(numbers).T
            bars.append(plotting.Bar(name, label, value, lower, upper))
        label = f"STD of $R(T)$ / mean of {self.unit.label}"
        regret = {plotting.regret_words(setting.definition(data)) for data, _ in self.entries}
        runs = {samples[data.name, c.name].num_runs for data, c in self.entries}
        about = f"{' and '.join(sorted(regret))}, {plotting.seeds_words(runs, 'lines: 95 %')}"
        return plotting.BarsPanel(list(self.groups), bars, label=label, about=about)

    def table(self, samples: Samples, setting: Setting) -> str:
        """A line per data set and policy."""
        header = (
            "data_set", "policy", "t", "std", "mean", "std_over_unit", "lower95", "upper95",
            "unit_policy", "num_seeds",
        )  # fmt: skip
        rows = []
        for data, c in self.entries:
            sample, last = samples[data.name, c.name], samples[data.name, c.name].curve()
            numbers = (float(last.std[-1]), float(last.mean[-1]))
            relative = self._relative(samples, data, c.name)
            end = int(sample.checkpoints[-1])
            rows.append(
                (data.name, c.name, end, *numbers, *relative, self.unit.name, sample.num_runs)
            )
        return csv_text(header, rows)

    def lines(self, samples: Samples) -> list[str]:
        """The unit, in words."""
        return [f"figure {self.name}: the unit is the mean regret of {self.unit.label}."]

    def _relative(self, samples: Samples, data: DataSet, name: str) -> tuple[float, float, float]:
        unit = samples[data.name, self.unit.name]
        ratio = std_over_mean(samples[data.name, name], unit)
        return ratio.value, *ratio.interval


@dataclass(frozen=True)
class SharesPlan:
    """Share of each Copeland winner in the comparisons of a winner with itself (exploitations)."""

    name: str
    data: DataSet
    competitors: tuple[Competitor, ...]
    listed: bool = True

    @property
    def entries(self) -> Sequence[Entry]:
        """One per policy, with pairs recorded."""
        return [(self.data, replace(c, record_pairs=True)) for c in self.competitors]

    def panel(self, samples: Samples, setting: Setting) -> plotting.SharesPanel:
        """Two columns per policy: one run, and the mean over runs of the ordered shares."""
        stacks = []
        for c in self.competitors:
            one, ordered = self._shares(samples, c)
            order = np.argsort(-one, kind="stable")
            arms = [f"arm {self._winners[at] + 1}" for at in order]
            stacks.append(plotting.Stack(c.name, f"{c.label}\none run", one[order], arms))
            runs = f"{c.label}\nmean of {len(ordered)}"
            means = ordered.mean(axis=0) if len(ordered) else np.zeros(len(one))
            ranks = ["largest", "2nd", "3rd", *(f"{n}th" for n in range(4, len(one) + 1))]
            stacks.append(plotting.Stack(c.name, runs, means, ranks[: len(one)]))
        title = title_of(self.name, self.data.title)
        return plotting.SharesPanel(stacks, title, "share of exploitations", _SHARES)

    def table(self, samples: Samples, setting: Setting) -> str:
        """Per policy, a line per winner of one run, and one per rank of the mean over runs."""
        header = ("policy", "what", "arm", "rank", "share", "sem", "num_seeds")
        rows = []
        for c in self.competitors:
            one, ordered = self._shares(samples, c)
            ranks = np.argsort(np.argsort(-one, kind="stable"))
            for at, arm in enumerate(self._winners):
                share = float(one[at])
                rows.append((c.name, "one run", arm + 1, int(ranks[at]) + 1, share, "", 1))
            for rank in range(len(one) if len(ordered) else 0):
                of_rank = moments_of(ordered[:, rank])
                numbers = (float(of_rank.mean), float(of_rank.sem), len(ordered))
                rows.append((c.name, "mean of ordered shares", "", rank + 1, *numbers))
        return csv_text(header, rows)

    def lines(self, samples: Samples) -> list[str]:
        """The shares of one run, and the mean of the largest."""
        text = []
        for c in self.competitors:
            one, ordered = self._shares(samples, c)
            pairs = zip(self._winners, one, strict=True)
            shares = ", ".join(f"arm {arm + 1} {share:.3f}" for arm, share in pairs)
            mean = f"{mean_of(ordered[:, 0])}" if len(ordered) else "none"
            text.append(
                f"figure {self.name}, {c.label}: exploitations of one run: {shares}; largest share,"
                f" mean of {len(ordered)} runs: {mean}."
            )
        return text

    @property
    def _winners(self) -> tuple[int, ...]:
        return self.data.draws[0].problem.copeland_winners

    def _shares(self, samples: Samples, c: Competitor) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the W winners: (W,) of the first run, by winner, 0 if it has no exploitation;
        and (n, W) of the n runs that have any, largest first."""
        sample = samples[self.data.name, c.name]
        one = np.nan_to_num(sample.shares(self._winners)[0])
        return one, sample.ordered_shares(self._winners)
