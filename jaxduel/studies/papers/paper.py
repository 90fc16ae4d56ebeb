"""A paper as data: instances, panels and claims are records."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, NamedTuple

import jax

from jaxduel import problems
from jaxduel.errors import AssumptionWarning
from jaxduel.studies.bars import SharesPicture, SpreadPicture
from jaxduel.studies.claims import Claim
from jaxduel.studies.findings import Finder
from jaxduel.studies.papers.titles import TITLES
from jaxduel.studies.pictures import AllRuns, Picture, RegretPicture, Setting
from jaxduel.studies.reading_runs import ReadRuns
from jaxduel.studies.varied import VariedPicture, against_delay
from jaxduel.studies.wanted import Competitor, Draw, Wanted


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
    """Arguments of `reproduce` that determine the simulations.

    Attributes:
      full, seed, runs, horizon, num_arms, decide: as in `reproduce`.
      times: how many times as many runs are wanted, to decide a claim.
    """

    full: bool = False
    seed: int = 0
    runs: int | None = None
    horizon: int | None = None
    num_arms: int | None = None
    decide: float | None = None
    times: int = 1

    def size(self, sizes: Sizes) -> Size:
        """The size asked for; values not asked for come from `sizes`."""
        size = sizes.full if self.full else sizes.usual
        if size == ABSENT:
            return size
        runs = size.runs if self.runs is None else self.runs
        return Size(self.horizon or size.horizon, self.times * runs)


@dataclass(frozen=True)
class Instances:
    """The data set of a panel: an instance, or several of a random family.

    Attributes:
      name: the data set's name in tables. The key of the runs depends only on the seed and the
        name.
      title: the title in panels; {} stands for the number of arms.
      sizes: horizon and number of runs.
      make: makes the instance; None: the catalogue's instance with this name.
      draws: for random instances, instead of `make`: makes the instances, each with its own key,
        for a number of runs.
      regret: definition of regret, if not the one of the paper's `Setting`.
    """

    name: str
    title: str
    sizes: Sizes
    make: Callable[[], Any] | None = None
    draws: Callable[[Order, int], tuple[Draw, ...]] | None = None
    regret: str | None = None

    def drawn(self, order: Order, runs: int) -> tuple[Draw, ...]:
        """The instances, with keys and numbers of runs.

        Raises:
          InputError: if the instances are not available.
        """
        if self.draws is not None:
            return self.draws(order, runs)
        problem = problems.load(self.name) if self.make is None else self.make()
        return (Draw(problem, named_key(order.seed, self.name), runs, runs // order.times),)


class Lineup(NamedTuple):
    """Policies on instances, with a label if a panel has several lineups."""

    instances: Instances
    competitors: tuple[Competitor, ...]
    label: str = ""


@dataclass(frozen=True)
class Panel:
    """A panel.

    Attributes:
      name: such as "1a".
      what: the content in words, such as "regret".
      picture: makes the picture: `curves`, `shares`, `delays`, `spread`, or a function of the
        paper.
      lineups: policies and their instances.
      sizes: horizon and number of runs, if not as for the instances.
      sizes_by_policy: sizes in this panel, by competitor's name.
      options: further arguments of the picture.
      where, who: the instances, and the labels of the policies, if not given by `lineups`.
    """

    name: str
    what: str
    picture: Callable[[Panel, Order, Setting], Picture]
    lineups: tuple[Lineup, ...] = ()
    sizes: Sizes | None = None
    sizes_by_policy: Mapping[str, Sizes] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""
    who: tuple[str, ...] = ()

    @property
    def instances(self) -> Mapping[str, Sizes | None]:
        """Horizon and number of runs, if any, by the instances or their description."""
        found = {one.instances.name: self.sizes or one.instances.sizes for one in self.lineups}
        return found or {self.where: self.sizes}

    @property
    def labels(self) -> tuple[str, ...]:
        """The distinct labels of all policies."""
        return (
            tuple(dict.fromkeys(c.label for one in self.lineups for c in one.competitors))
            or self.who
        )

    @property
    def title(self) -> str:
        """The content and the instances."""
        return f"{self.what} on {' and '.join(self.instances)}"

    def size(self, lineup: Lineup, competitor: Competitor, order: Order) -> Size:
        """Horizon and number of runs of a competitor."""
        usual = self.sizes or lineup.instances.sizes
        return order.size(self.sizes_by_policy.get(competitor.name, usual))

    def wanted(self, order: Order, setting: Setting) -> list[tuple[Wanted, ...]]:
        """The runs of each lineup: one for each competitor that plays.

        Raises:
          InputError: if instances are not available.
        """
        return [self._wanted(lineup, order, setting) for lineup in self.lineups]

    def _wanted(self, lineup: Lineup, order: Order, setting: Setting) -> tuple[Wanted, ...]:
        where = lineup.instances
        drawn = cache(partial(where.drawn, order))
        found = []
        for competitor in lineup.competitors:
            size = self.size(lineup, competitor, order)
            if size != ABSENT:
                draws = drawn(size.runs)
                found.append(
                    setting.wanted(
                        where.name,
                        where.title.format(draws[0].problem.num_arms),
                        draws,
                        competitor,
                        size.horizon,
                        where.regret,
                    )
                )
        return tuple(found)

    def all_sizes(self) -> list[tuple[str, Sizes]]:
        """Sizes with the labels of their policies; "" stands for all other policies."""
        labels = {c.name: c.label for one in self.lineups for c in one.competitors}
        others: dict[Sizes, list[str]] = {}
        for name, sizes in self.sizes_by_policy.items():
            others.setdefault(sizes, []).append(labels[name])
        own = [("", sizes) for sizes in dict.fromkeys(self.instances.values()) if sizes]
        return [*own, *((", ".join(whose), sizes) for sizes, whose in others.items())]


def curves(
    panel: Panel, order: Order, setting: Setting, kind: type[RegretPicture] = RegretPicture
) -> RegretPicture:
    """Regret against time."""
    (wanted,) = panel.wanted(order, setting)
    return kind(panel.name, wanted, **panel.options)


def regret(
    name: str,
    instances: Instances,
    competitors: tuple[Competitor, ...],
    what: str = "regret",
    **more: Any,
) -> Panel:
    """A panel of regret against time, on one instance or family."""
    return Panel(name, what, curves, (Lineup(instances, competitors),), **more)


def delays(panel: Panel, order: Order, setting: Setting) -> VariedPicture:
    """Final regret against the delay of feedback; delays of a tenth of T and more are left out."""
    (wanted,) = panel.wanted(order, setting)
    asked = panel.options["full" if order.full else "usual"]
    played = [d for d in asked if d == 1 or 10 * d < wanted[0].horizon]
    return against_delay(panel.name, wanted, played)


def shares(panel: Panel, order: Order, setting: Setting) -> SharesPicture:
    """Share of each Copeland winner in the exploitations."""
    (wanted,) = panel.wanted(order, setting)
    return SharesPicture(panel.name, wanted)


def spread(panel: Panel, order: Order, setting: Setting) -> SpreadPicture:
    """Standard deviation of the final regret."""
    labels = [lineup.label for lineup in panel.lineups]
    groups = dict(zip(labels, panel.wanted(order, setting), strict=True))
    return SpreadPicture(panel.name, groups, **panel.options)


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced.

    Attributes:
      name: its name on the command line.
      panels: its panels; tables count as figures.
      setting: settings shared by the panels.
      claims: the text's claims about the panels.
      notes: lines for the report.
      evidence: makes the evidence for claims from the finished runs, the pictures and the setting;
        a `Finder` by default.
      shortest: the shortest horizon.
      breaks_assumptions: whether policies intentionally play on instances that break their
        assumptions.
      resizable: whether random instances can have other numbers of arms.
    """

    name: str
    panels: tuple[Panel, ...]
    setting: Setting
    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = ()
    evidence: Callable[[AllRuns, Sequence[Picture], Setting], Any] = lambda found, *_: Finder(found)
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

    @contextmanager
    def unwarned(self) -> Iterator[None]:
        """Context without warnings of assumptions, if these are broken intentionally."""
        with warnings.catch_warnings():
            if self.breaks_assumptions:
                warnings.simplefilter("ignore", AssumptionWarning)
            yield

    def measured_on(
        self, all_runs: AllRuns, pictures: Sequence[Picture], setting: Setting
    ) -> list[Claim]:
        """The claims with their measurements on finished runs, and which runs they read."""
        runs = ReadRuns(all_runs)
        evidence, found = self.evidence(runs, pictures, setting), []
        for claim in self.claims:
            runs.keys_read.clear()
            found.append(replace(claim.measured(evidence), read=frozenset(runs.keys_read)))
        return found


def named_key(seed: int, *names: str) -> jax.Array:
    """The key of the runs on instances, from the seed and names only.

    The key does not depend on the number or the order of instances.

    Args:
      seed: root of all randomness.
      names: names that identify the instances within the reproduction.

    Returns:
      A typed key: the seed's key, folded with the first 32 bits of the SHA-256 of the names.
    """
    digest = hashlib.sha256("\n".join(names).encode()).digest()
    return jax.random.fold_in(jax.random.key(seed), int.from_bytes(digest[:4], "big"))
