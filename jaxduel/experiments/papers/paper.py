"""A paper as data: data sets, panels and claims are records."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax

from jaxduel import problems
from jaxduel.experiments.bar_plans import SharesPlan, SpreadPlan
from jaxduel.experiments.claims import Claim
from jaxduel.experiments.curves import Competitor, DataSet, Draw
from jaxduel.experiments.findings import Finder
from jaxduel.experiments.papers.titles import TITLES
from jaxduel.experiments.plans import PanelPlan, Plan, Samples, Setting
from jaxduel.experiments.sweep_plans import SweepPlan, against_delay


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
    """Arguments of `reproduce` that set what is simulated."""

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

    def measured(self, evidence: Any) -> list[Claim]:
        """The claims with their measurements."""
        return [claim.measured(evidence) for claim in self.claims]


def named_key(seed: int, *names: str) -> jax.Array:
    """The key of a data set's runs, from the seed and names alone.

    It does not depend on the number or the order of data sets.

    Args:
      seed: root of all randomness.
      names: names that identify the data set within the reproduction.

    Returns:
      A typed key: that of the seed, folded with the first 32 bits of the SHA-256 of the names.
    """
    digest = hashlib.sha256("\n".join(names).encode()).digest()
    return jax.random.fold_in(jax.random.key(seed), int.from_bytes(digest[:4], "big"))
