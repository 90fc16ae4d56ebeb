"""Pictures of bars: standard deviations of regret, and shares of exploitations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jaxduel import plotting
from jaxduel.files import csv_text
from jaxduel.stats import moments_of
from jaxduel.studies.estimates import mean_of, std_over_mean
from jaxduel.studies.pictures import AllRuns, Setting, title_of
from jaxduel.studies.wanted import Competitor, Wanted

_SHARES = "by arm in one run, by rank in the mean over runs"
"""Description of the columns of a `SharesPicture`."""


@dataclass(frozen=True)
class SpreadPicture:
    """Standard deviation of the final regret, in units of one policy's mean.

    Attributes:
      name: the panel's name.
      groups: wanted runs by short label. All groups have the same competitors, by name and order;
        their parameters may differ.
      unit_name: name of the competitor whose mean is the unit.
      listed: whether the report lists the final regrets.
    """

    name: str
    groups: Mapping[str, Sequence[Wanted]]
    unit_name: str
    listed: bool = True

    @property
    def wanted(self) -> Sequence[Wanted]:
        """Every competitor on all instances."""
        return [one for some in self.groups.values() for one in some]

    @property
    def unit(self) -> Competitor:
        """The competitor whose mean regret is the unit."""
        every = (one.competitor for one in self.wanted)
        return next(competitor for competitor in every if competitor.name == self.unit_name)

    def panel(self, all_runs: AllRuns, setting: Setting) -> plotting.BarsPanel:
        """A group of bars for each group."""
        bars = []
        every = [one.competitor for one in self.wanted]
        for name, label in dict.fromkeys((c.name, c.label) for c in every):
            numbers = [self._relative(all_runs, some[0].where, name)
                       for some in self.groups.values()]  # fmt: skip
            value, lower, upper = np.array(numbers).T
            bars.append(plotting.Bar(name, label, value, lower, upper))
        label = f"STD of $R(T)$ / mean of {self.unit.label}"
        regret = {plotting.regret_words(setting.definition(one.regret)) for one in self.wanted}
        runs = {all_runs[one.key].num_runs for one in self.wanted}
        about = f"{' and '.join(sorted(regret))}, {plotting.seeds_words(runs, 'lines: 95 %')}"
        return plotting.BarsPanel(list(self.groups), bars, label=label, about=about)

    def table(self, all_runs: AllRuns, setting: Setting) -> str:
        """CSV with a line for each group and policy."""
        header = (
            "instance", "policy", "t", "std", "mean", "std_over_unit", "lower95", "upper95",
            "unit_policy", "num_seeds",
        )  # fmt: skip
        rows = []
        for one in self.wanted:
            runs = all_runs[one.key]
            numbers = (float(runs.std[-1]), float(runs.mean[-1]))
            relative = self._relative(all_runs, *one.key)
            end = int(runs.times[-1])
            rows.append((*one.key, end, *numbers, *relative, self.unit.name, runs.num_runs))
        return csv_text(header, rows)

    def lines(self, all_runs: AllRuns) -> list[str]:
        """The unit, in words."""
        return [f"figure {self.name}: the unit is the mean regret of {self.unit.label}."]

    def _relative(self, all_runs: AllRuns, where: str, name: str) -> tuple[float, float, float]:
        unit = all_runs[where, self.unit.name]
        ratio = std_over_mean(all_runs[where, name], unit)
        return ratio.value, *ratio.interval


@dataclass(frozen=True)
class SharesPicture:
    """Share of each Copeland winner in the comparisons of a winner with itself (exploitations)."""

    name: str
    asked: tuple[Wanted, ...]
    listed: bool = True

    @property
    def wanted(self) -> Sequence[Wanted]:
        """One per policy, with pairs recorded."""
        return [
            replace(one, competitor=replace(one.competitor, record_pairs=True))
            for one in self.asked
        ]

    def panel(self, all_runs: AllRuns, setting: Setting) -> plotting.SharesPanel:
        """Two columns per policy: one run, and the mean over runs of the ordered shares."""
        stacks = []
        for wanted in self.asked:
            c = wanted.competitor
            one, ordered = self._shares(all_runs, wanted)
            order = np.argsort(-one, kind="stable")
            arms = [f"arm {self._winners[at] + 1}" for at in order]
            stacks.append(plotting.Stack(c.name, f"{c.label}\none run", one[order], arms))
            runs = f"{c.label}\nmean of {len(ordered)}"
            means = ordered.mean(axis=0) if len(ordered) else np.zeros(len(one))
            ranks = ["largest", "2nd", "3rd", *(f"{n}th" for n in range(4, len(one) + 1))]
            stacks.append(plotting.Stack(c.name, runs, means, ranks[: len(one)]))
        title = title_of(self.name, self.asked[0].title)
        return plotting.SharesPanel(stacks, title, "share of exploitations", _SHARES)

    def table(self, all_runs: AllRuns, setting: Setting) -> str:
        """CSV: per policy, a line for each winner in one run and each rank in the mean over
        runs."""
        header = ("policy", "what", "arm", "rank", "share", "sem", "num_seeds")
        rows = []
        for wanted in self.asked:
            c = wanted.competitor
            one, ordered = self._shares(all_runs, wanted)
            ranks = np.argsort(np.argsort(-one, kind="stable"))
            for at, arm in enumerate(self._winners):
                share = float(one[at])
                rows.append((c.name, "one run", arm + 1, int(ranks[at]) + 1, share, "", 1))
            for rank in range(len(one) if len(ordered) else 0):
                of_rank = moments_of(ordered[:, rank])
                numbers = (float(of_rank.mean), float(of_rank.sem), len(ordered))
                rows.append((c.name, "mean of ordered shares", "", rank + 1, *numbers))
        return csv_text(header, rows)

    def lines(self, all_runs: AllRuns) -> list[str]:
        """The shares of one run, and the mean of the largest."""
        text = []
        for wanted in self.asked:
            c = wanted.competitor
            one, ordered = self._shares(all_runs, wanted)
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
        return self.asked[0].problem.copeland_winners

    def _shares(self, all_runs: AllRuns, wanted: Wanted) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the W winners: (W,) in the first run, by winner, 0 without exploitation; and
        (n, W) in the n runs with exploitations, largest first."""
        runs = all_runs[wanted.key]
        one = np.nan_to_num(runs.shares(self._winners)[0])
        return one, runs.ordered_shares(self._winners)
