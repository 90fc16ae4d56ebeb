"""A paper as data: data sets, panels and claims are records, and `Paper.reproduce` is for all."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from jaxduel import problems
from jaxduel.display import counted
from jaxduel.errors import AssumptionWarning, InputError, warn_caller
from jaxduel.experiments.bar_plans import SharesPlan, SpreadPlan
from jaxduel.experiments.claims import Claim
from jaxduel.experiments.curves import Competitor, DataSet, Draw
from jaxduel.experiments.findings import Finder
from jaxduel.experiments.keys import named_key
from jaxduel.experiments.output import OutputFolder
from jaxduel.experiments.papers import TITLES
from jaxduel.experiments.plans import MissingPlan, PanelPlan, Plan, Samples, Setting, reasons
from jaxduel.experiments.report.papers import paper_section
from jaxduel.experiments.report.records import FILE, earlier_section, encoded
from jaxduel.experiments.reproduction import Report, carry_out, chosen_panels
from jaxduel.experiments.short_numbers import short
from jaxduel.experiments.sweep_plans import SweepPlan, against_delay
from jaxduel.policies.checks import require_horizon


class Size(NamedTuple):
    """Horizon and number of runs."""

    horizon: int
    runs: int


ABSENT = Size(0, 0)
"""The size of a policy that does not play."""


class Sizes(NamedTuple):
    """Sizes by default and with `full`."""

    usual: Size
    full: Size


@dataclass(frozen=True)
class Order:
    """Arguments of `Paper.reproduce` that set what is simulated."""

    full: bool = False
    seed: int = 0
    runs: int | None = None
    horizon: int | None = None
    num_arms: int | None = None

    def size(self, sizes: Sizes) -> Size:
        """The size asked for; what is not asked for comes from `sizes`."""
        size = sizes.full if self.full else sizes.usual
        if size == ABSENT:
            return size
        runs = size.runs if self.runs is None else self.runs
        return Size(self.horizon or size.horizon, runs)


@dataclass(frozen=True)
class Place:
    """A data set.

    Attributes:
      name: its name in tables. The key of its runs depends on the seed and the name alone.
      title: its title in panels; {} stands for the number of arms.
      sizes: horizon and number of runs.
      make: makes the instance; that of the catalogue with this name if None.
      draws: makes the instances, with keys of their own, for some number of runs; in place of
        `make`, for random instances.
      regret: name of its definition, if not that of the paper's `Setting`.
    """

    name: str
    title: str
    sizes: Sizes
    make: Callable[[], Any] | None = None
    draws: Callable[[Order, int], tuple[Draw, ...]] | None = None
    regret: str | None = None

    def data(self, order: Order, size: Size) -> DataSet:
        """The data set to be simulated.

        Raises:
          InputError: if it is not available.
        """
        if self.draws is None:
            problem = problems.load(self.name) if self.make is None else self.make()
            draws: tuple[Draw, ...] = (Draw(problem, named_key(order.seed, self.name), size.runs),)
        else:
            draws = self.draws(order, size.runs)
        title = self.title.format(draws[0].problem.num_arms)
        return DataSet(self.name, title, draws, size.horizon, self.regret)


class Group(NamedTuple):
    """Policies on a data set, with a label where a panel has several groups."""

    place: Place
    competitors: tuple[Competitor, ...]
    label: str = ""


@dataclass(frozen=True)
class Panel:
    """A panel.

    Attributes:
      name: such as "1a".
      what: its content in words, such as "regret".
      picture: makes its plan: `curves`, `shares`, `delays`, `spread`, or a function of the paper.
      groups: who plays where.
      sizes: horizon and number of runs, if not those of the data sets.
      lesser: by competitor's name, sizes that it has here.
      options: further arguments of the plan.
      where, who: its instances, and the labels of its policies, if not those of `groups`.
    """

    name: str
    what: str
    picture: Callable[[Panel, Order], Plan]
    groups: tuple[Group, ...] = ()
    sizes: Sizes | None = None
    lesser: Mapping[str, Sizes] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""
    who: tuple[str, ...] = ()

    @property
    def instances(self) -> Mapping[str, Sizes | None]:
        """Horizon and number of runs, if any, by data set or by instances in words."""
        found = {group.place.name: self.sizes or group.place.sizes for group in self.groups}
        return found or {self.where: self.sizes}

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of all policies, each once."""
        return tuple(dict.fromkeys(c.label for g in self.groups for c in g.competitors)) or self.who

    @property
    def title(self) -> str:
        """Its content and its instances."""
        return f"{self.what} on {' and '.join(self.instances)}"

    def size(self, group: Group, competitor: Competitor, order: Order) -> Size:
        """Horizon and number of runs of a competitor."""
        return order.size(self.lesser.get(competitor.name, self.sizes or group.place.sizes))

    def playing(self, order: Order) -> list[tuple[DataSet, tuple[Competitor, ...]]]:
        """The data set of each group, and the competitors that play.

        Raises:
          InputError: if a data set is not available.
        """
        found = []
        for group in self.groups:
            data = group.place.data(order, order.size(self.sizes or group.place.sizes))
            there = [c for c in group.competitors if self.size(group, c, order) != ABSENT]
            found.append((data, tuple(there)))
        return found

    def all_sizes(self) -> list[tuple[str, Sizes]]:
        """Sizes with the labels of the policies that they are of, or "" for all others."""
        labels = {c.name: c.label for group in self.groups for c in group.competitors}
        lesser: dict[Sizes, list[str]] = {}
        for name, sizes in self.lesser.items():
            lesser.setdefault(sizes, []).append(labels[name])
        own = [("", sizes) for sizes in dict.fromkeys(self.instances.values()) if sizes]
        return [*own, *((", ".join(whose), sizes) for sizes, whose in lesser.items())]


def curves(panel: Panel, order: Order, kind: Callable[..., PanelPlan] = PanelPlan) -> PanelPlan:
    """Regret against time."""
    ((data, competitors),) = panel.playing(order)
    (group,) = panel.groups
    lesser = {
        c.name: group.place.data(order, panel.size(group, c, order))
        for c in competitors
        if c.name in panel.lesser
    }
    return kind(panel.name, data, competitors, lesser=lesser, **panel.options)


def regret(
    name: str, place: Place, competitors: tuple[Competitor, ...], what: str = "regret", **more: Any
) -> Panel:
    """A panel of regret against time, on one data set."""
    return Panel(name, what, curves, (Group(place, competitors),), **more)


def delays(panel: Panel, order: Order) -> SweepPlan:
    """Final regret against the delay of feedback; delays of a tenth of T and more are left out."""
    ((data, competitors),) = panel.playing(order)
    end = data.horizon or 1
    asked = panel.options["full" if order.full else "usual"]
    played = [d for d in asked if d == 1 or 10 * d < end]
    return against_delay(panel.name, data, competitors, played)


def shares(panel: Panel, order: Order) -> SharesPlan:
    """Share of each Copeland winner in the exploitations."""
    ((data, competitors),) = panel.playing(order)
    return SharesPlan(panel.name, data, competitors)


def spread(panel: Panel, order: Order) -> SpreadPlan:
    """Standard deviation of the final regret."""
    labels = [group.label for group in panel.groups]
    groups = dict(zip(labels, panel.playing(order), strict=True))
    return SpreadPlan(panel.name, groups, **panel.options)


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced.

    Attributes:
      name: its name on the command line.
      panels: its panels; tables count as figures.
      setting: settings that its panels share.
      claims: what its text claims about them.
      notes: lines for the report.
      evidence: makes what claims are measured with, of the finished samples, the plans and the
        setting; a `Finder` by default.
      shortest: the shortest horizon.
      breaks_assumptions: whether policies play on purpose where their assumptions do not hold.
      resizable: whether there are random instances, which can have other numbers of arms.
    """

    name: str
    panels: tuple[Panel, ...]
    setting: Setting
    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = ()
    evidence: Callable[[Samples, Sequence[Plan], Setting], Any] = lambda found, *_: Finder(found)
    shortest: int = 1
    breaks_assumptions: bool = False
    resizable: bool = False

    @property
    def TITLE(self) -> str:
        """Title, authors, place and year."""
        return TITLES[self.name]

    def panel(self, name: str) -> Panel:
        """A panel by its name."""
        return next(panel for panel in self.panels if panel.name == name)

    def reproduce(
        self,
        figure: str | None = None,
        full: bool = False,
        out: str | Path | None = None,
        seed: int = 0,
        runs: int | None = None,
        progress: bool | None = None,
        *,
        horizon: int | None = None,
        num_arms: int | None = None,
    ) -> Report:
        """Makes the paper's figures and measures its claims about them.

        Args:
          figure: a figure such as "1", a panel such as "1a", or None for all.
          full: the paper's horizons and numbers of runs, or more, but on the most arms; it may take
            hours.
          out: folder for the files; figures/NAME by default.
          seed: root of all randomness.
          runs: number of runs on each data set, instead of the default's or the paper's.
          progress: as in `jaxduel.simulate`.
          horizon: T on each data set, instead of the default's or the paper's.
          num_arms: K of random instances, instead of the paper's.

        Returns:
          The report. A panel whose data are not available is missing, with a warning; if it is
          the only one of its figure, an empty frame is in its place.

        Raises:
          InputError: before anything is computed; also if the data of no panel are available.
        """
        asked = chosen_panels(figure, [panel.name for panel in self.panels])
        self._require(seed, runs, horizon, num_arms)
        order = Order(full, seed, runs, horizon, num_arms)
        folder = OutputFolder(Path("figures") / self.name if out is None else out)
        chosen = [self.panel(name) for name in asked]
        plans, missing = plans_at_hand(chosen, order)
        setting = replace(self.setting, horizon=horizon or self.setting.horizon)
        notes = [*size_notes(chosen, order), *self.notes]
        gaps = {panel.name: panel.note for panel in missing}
        quiet = warnings.catch_warnings() if self.breaks_assumptions else nullcontext()
        with quiet:
            if self.breaks_assumptions:
                warnings.simplefilter("ignore", AssumptionWarning)
            report = carry_out(
                plans,
                setting,
                folder,
                lambda samples: self.measured(self.evidence(samples, plans, setting)),
                f"{self.TITLE}: seed {seed}.",
                notes,
                progress,
                missing,
            )
        earlier = earlier_section(folder.path)
        section = paper_section(self, asked, order, report, gaps, notes, earlier)
        folder.write(FILE, encoded(section))
        return report

    def measured(self, evidence: Any) -> list[Claim]:
        """The claims with their measurements."""
        return [claim.measured(evidence) for claim in self.claims]

    def _require(
        self, seed: int, runs: int | None, horizon: int | None, num_arms: int | None
    ) -> None:
        require_order(seed, runs)
        if horizon is not None:
            require_horizon(horizon, self.name)
            if horizon < self.shortest:
                least = f"{self.shortest:,}"
                raise InputError(
                    f"{self.name}: the horizon must be at least {least}, not {horizon:,}."
                )
        if num_arms is not None and not self.resizable:
            raise InputError(f"{self.name}: no instances are random, num_arms cannot be chosen.")


def require_order(seed: int, runs: int | None) -> None:
    """Raises InputError for a seed or a number of runs that cannot be."""
    if runs is not None and runs < 1:
        raise InputError(f"runs must be at least 1, not {runs}.")
    if not 0 <= seed < 2**32:
        raise InputError(f"seed must be from 0 to 2^32 - 1, not {seed}.")


def plans_at_hand(panels: Sequence[Panel], order: Order) -> tuple[list[Plan], list[MissingPlan]]:
    """Plans of the panels whose data are available.

    Returns:
      The plans, and the missing panels; there is a warning for each reason.

    Raises:
      InputError: if none of the plans can be made.
    """
    plans: list[Plan] = []
    missing: list[MissingPlan] = []
    failures: list[InputError] = []
    for panel in panels:
        try:
            plans.append(panel.picture(panel, order))
        except InputError as error:
            where = " and ".join(panel.instances)
            missing.append(MissingPlan(panel.name, panel.title, where, str(error)))
            failures.append(error)
    if not plans:
        raise failures[0]
    for sentence in reasons(missing):
        warn_caller(sentence)
    return plans, missing


def size_notes(panels: Sequence[Panel], order: Order) -> list[str]:
    """Horizons and numbers of runs of the panels, and what `full` has, as lines of text."""
    asked = [] if order.horizon is None else [f"T = {order.horizon:,} everywhere"]
    asked += [] if order.runs is None else [f"{order.runs} runs everywhere"]
    text = [f"{', '.join(asked)}, as asked for."] if asked else []
    if len(asked) == 2:
        return text
    alike: dict[str, list[str]] = {}
    for panel in panels:
        for whose, sizes in panel.all_sizes():
            mine, whole = order.size(sizes), replace(order, full=True).size(sizes)
            more = "" if whole == mine else f" (--full: {_in_words(whole)})"
            what = _in_words(mine) + more
            if mine == ABSENT:
                what = f"only with --full: {_in_words(whole)}"
            if whole != ABSENT:
                name = f"{panel.name} ({whose})" if whose else panel.name
                alike.setdefault(what, []).append(name)
    return [*text, *(f"{', '.join(where)}: {what}." for what, where in alike.items())]


def _in_words(size: Size) -> str:
    return f"T = {short(size.horizon)}, {counted(size.runs, 'run')}"
