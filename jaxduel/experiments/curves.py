"""Curves of papers: a policy on a data set, as cells of the engine and as the sample they give."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxduel.experiments.engine.blocks import Block
from jaxduel.experiments.engine.cells import HORIZON, StudyCell, plan_kind_of
from jaxduel.experiments.engine.groups import Group, tasks_of
from jaxduel.experiments.engine.planning import family_of, plan
from jaxduel.experiments.samples import Sample
from jaxduel.policies import registry
from jaxduel.policies.base import Batch, PullBatch, SupportsAnswer
from jaxduel.problems import Problem
from jaxduel.problems.piecewise import with_changes
from jaxduel.simulation.checking import WINNERS
from jaxduel.simulation.identity import problem_digest
from jaxduel.simulation.regret import largest_regret

_MOST_LANES = 128
"""Most lanes of a block; more runs on one instance are cut into equal blocks."""


@dataclass(frozen=True)
class Competitor:
    """A policy with its parameters and mode of play, as an entry of a legend.

    Attributes:
      name: a key of `jaxduel.plotting.STYLES`.
      label: its name in legends and tables.
      policy: the policy's registered name.
      parameters: arguments of `jaxduel.policies.make`.
      quick: whether its runs are fast compared with the others'. Slow competitors begin first.
      delay: number of comparisons between the times at which outcomes reach the policy; 1: at once.
      shuffle_arms: whether each run permutes the arms.
      per_horizon: whether the policy is made for a horizon, and shown by separate runs to each of
        10, 30, 100, 300, ... and T, from the first checkpoint on.
      record_pairs: whether to record comparisons of arms with themselves (`Sample.selves`).
      settles: whether a run may settle on a wrong arm for good; None: batched policies, policies
        with a horizon, and policies that name an arm may, unless duels until the answer count.
    """

    name: str
    label: str
    policy: str
    parameters: Mapping[str, Any]
    quick: bool = False
    delay: int = 1
    shuffle_arms: bool = True
    per_horizon: bool = False
    record_pairs: bool = False
    settles: bool | None = None


@dataclass(frozen=True)
class Draw:
    """An instance (dueling or multi-armed), with the key and the number of the runs on it."""

    problem: Any
    key: jax.Array
    num_runs: int


@dataclass(frozen=True)
class DataSet:
    """The instances that all policies of a panel play: one, or several of a random family.

    Attributes:
      name: its name in tables.
      title: the panel's title.
      draws: the instances, all with the same number of arms.
      horizon: T, if not that of the paper's `Setting`.
      regret: name of its definition, if not that of the `Setting`.
    """

    name: str
    title: str
    draws: tuple[Draw, ...] = field(repr=False)
    horizon: int | None = None
    regret: str | None = None

    @property
    def num_runs(self) -> int:
        """Number of runs of each policy."""
        return sum(draw.num_runs for draw in self.draws)

    @property
    def num_arms(self) -> int:
        """K."""
        return self.draws[0].problem.num_arms

    def with_changes(self, times: np.ndarray) -> np.ndarray:
        """The times, and those before the last at which an instance changes: (M,) int64."""
        for draw in self.draws:
            times = with_changes(times, draw.problem)
        return times


@dataclass(frozen=True)
class GivenProblem:
    """A problem that is at hand, as a recipe.

    Attributes:
      label: its label in data sets.
      digest: hash of its numbers.
      problem: the problem.
    """

    label: str
    digest: str
    problem: Problem = field(repr=False, compare=False)

    def build(self) -> Problem:
        """The problem."""
        return self.problem


@dataclass(frozen=True)
class Curve:
    """A competitor on a data set.

    Every instance has its own key and as many lanes as runs (many runs: equal blocks), so that no
    lane is padding and runs on different instances are independent. A competitor with separate runs
    per horizon has independent ones.
    """

    data: DataSet
    competitor: Competitor
    horizon: int
    checkpoints: np.ndarray = field(repr=False)
    regret: str

    @property
    def key(self) -> tuple[str, str]:
        """Names of the data set and of the competitor, which identify the curve."""
        return self.data.name, self.competitor.name

    @property
    def lanes(self) -> int:
        """Number of lanes in a block."""
        most = max(draw.num_runs for draw in self.data.draws)
        return -(-most // -(-most // _MOST_LANES))

    @property
    def horizons(self) -> list[int]:
        """Horizons of its runs: one, or those of separate runs."""
        if not self.competitor.per_horizon:
            return [self.horizon]
        return [h for h in horizons_up_to(self.horizon) if h >= self.checkpoints[0]]

    @property
    def keep(self) -> tuple[str, ...]:
        """Records of its runs."""
        return ("seeds", "selves") if self.competitor.record_pairs else ("seeds",)

    @property
    def batched(self) -> bool:
        """True if the policy commits to batches."""
        entry = self.competitor
        parameters = tuple(sorted(entry.parameters.items()))
        return plan_kind_of(entry.policy, parameters, self.horizon) in (Batch, PullBatch)

    @property
    def settles(self) -> bool:
        """True if a run may settle on a wrong arm for good, at a cost: once a policy has named an
        arm, it makes no duels of two arms ("votes")."""
        if self.competitor.settles is not None:
            return self.competitor.settles
        name = self.competitor.policy
        if issubclass(registry.policy_class(name), SupportsAnswer):
            return self.regret != "votes"
        return self.batched or HORIZON in registry.parameters(name)

    @property
    def most(self) -> np.ndarray:
        """The largest regret that a run can have by each of its times: (M,) float64."""
        times = np.array(self.horizons) if self.competitor.per_horizon else self.checkpoints
        draws = self.data.draws
        return np.max([largest_regret(d.problem, self.regret, times) for d in draws], axis=0)

    def joined(self, other: Curve) -> Curve:
        """One curve for two with the same key: the larger number of runs, and pairs if either
        records them."""
        data = max(self.data, other.data, key=lambda data: data.num_runs)
        pairs = self.competitor.record_pairs or other.competitor.record_pairs
        return replace(self, data=data, competitor=replace(self.competitor, record_pairs=pairs))

    @cached_property
    def cells(self) -> dict[int, list[StudyCell]]:
        """By horizon, a cell for each instance; separate runs have keys of their own."""
        return {horizon: self._cells(horizon) for horizon in self.horizons}

    def _cells(self, horizon: int) -> list[StudyCell]:
        entry, draws = self.competitor, self.data.draws
        times = [horizon] if entry.per_horizon else self.checkpoints.tolist()
        tags = {} if entry.shuffle_arms else {"shuffle_arms": False}
        tags |= {"record_pairs": True} if entry.record_pairs else {}
        tags |= {"separate": True} if entry.per_horizon else {}
        made = []
        for number, draw in enumerate(draws, start=1):
            key = jax.random.fold_in(draw.key, horizon) if entry.per_horizon else draw.key
            label = self.data.name if len(draws) == 1 else f"{self.data.name} {number}"
            digest = problem_digest(draw.problem)
            cell = StudyCell(
                policy=entry.policy,
                parameters=tuple(sorted(entry.parameters.items())),
                recipe=GivenProblem(label, digest, draw.problem),
                digest=digest,
                num_arms=draw.problem.num_arms,
                horizon=horizon,
                checkpoints=tuple(times),
                delay=entry.delay,
                definitions=(self.regret,),
                seed=tuple(jax.random.key_data(key).tolist()),
                prng=str(jax.random.key_impl(key)),
                shuffle_arms=entry.shuffle_arms,
                skip_quiet=True if entry.record_pairs else WINNERS,
                tags=tuple(tags.items()),
                padded_arms=draw.problem.num_arms,
                lanes=self.lanes,
            )
            made.append(cell)
        return made


class Place(NamedTuple):
    """The place of a cell: its group, and its number in the group."""

    group: Group
    row: int


class PlannedCurves:
    """Curves with the groups of cells that make them.

    Instances with few runs are stacked in one program, as are curves that differ in their delay
    alone; cells of policies that commit to batches share programs whatever curve they are of.

    Args:
      curves: the curves, in the order in which they are to be simulated; keys are unique.
      platform: platform of the devices.

    Attributes:
      groups: all groups, each once, in that order.
    """

    def __init__(self, curves: Iterable[Curve], platform: str) -> None:
        self.curves = tuple(curves)
        made: list[Group] = []
        batched: dict[_Like, list[StudyCell]] = {}
        others: dict[tuple[Any, ...], list[StudyCell]] = {}
        for curve in self.curves:
            for all_cells in curve.cells.values():
                for runs, cells in _by_runs(curve, all_cells):
                    like = _Like(runs, curve.lanes, curve.keep)
                    if curve.batched:
                        batched.setdefault(like, []).extend(cells)
                    else:
                        but_for_delay = (replace(c, delay=min(c.delay, 2)) for c in cells)
                        others.setdefault((like, *but_for_delay), []).extend(cells)
        for (runs, lanes, keep), cells in batched.items():
            made += plan(_unique(cells), runs, keep=keep, lanes=lanes, platform=platform)
        for (like, *_), cells in others.items():
            made += _stacks(like, _unique(cells))
        found: dict[str, Group] = {group.key: group for group in made}
        self._places = {
            cell.labels_in_data: Place(group, row)
            for group in found.values()
            for row, cell in enumerate(group.cells)
        }
        order = {curve.key: n for n, curve in enumerate(self.curves)}
        first: dict[str, int] = {}
        for curve in self.curves:
            for place in self.places(curve):
                first.setdefault(place.group.key, order[curve.key])
        self.groups = tuple(sorted(found.values(), key=lambda group: first[group.key]))

    def places(self, curve: Curve) -> list[Place]:
        """The places of a curve's cells: by horizon, and for each by instance."""
        cells = itertools.chain.from_iterable(curve.cells.values())
        return [self._places[cell.labels_in_data] for cell in cells]

    def tasks(self, curve: Curve) -> set[str]:
        """Keys of the tasks that a curve needs."""
        groups = {place.group.key: place.group for place in self.places(curve)}
        return {task.key for task in tasks_of(groups.values())}

    def sample(self, curve: Curve, read: Callable[[str], Block | None]) -> Sample:
        """The runs of a curve whose tasks are all stored; `read` returns the block of a task."""
        places, number = self.places(curve), len(curve.data.draws)
        parts = [
            _arrays(place, read, 1 if curve.competitor.per_horizon else len(curve.checkpoints))
            for place in places
        ]
        by_horizon = [parts[first : first + number] for first in range(0, len(parts), number)]
        sizes = [len(part["regret"]) for part in by_horizon[0]]
        last = by_horizon[-1]
        regret = [np.concatenate([part["regret"] for part in own]) for own in by_horizon]
        separate = curve.competitor.per_horizon
        return Sample(
            name=curve.competitor.name,
            label=curve.competitor.label,
            checkpoints=np.array(curve.horizons) if separate else curve.checkpoints,
            regret=np.concatenate(regret, axis=1),
            most=curve.most,
            settles=curve.settles,
            groups=np.arange(sizes[0]) if number == 1 else np.repeat(np.arange(number), sizes),
            batches=_joined(last, "batches"),
            selves=_joined(last, "selves"),
            separate=separate,
        )


def _by_runs(curve: Curve, cells: Sequence[StudyCell]) -> list[tuple[int, list[StudyCell]]]:
    """The cells of a curve, one for each instance, by their number of runs, in order."""
    pairs = zip(curve.data.draws, cells, strict=True)
    return [
        (runs, [cell for _, cell in alike])
        for runs, alike in itertools.groupby(pairs, lambda pair: pair[0].num_runs)
    ]


def _unique(cells: Iterable[StudyCell]) -> tuple[StudyCell, ...]:
    """The cells, each once, in order."""
    return tuple({cell.labels_in_data: cell for cell in cells}.values())


class _Like(NamedTuple):
    """Settings of a group: cells run together only if theirs are equal."""

    runs: int  # of each cell
    lanes: int
    keep: tuple[str, ...]  # as in `Group`


def _stacks(like: _Like, cells: Sequence[StudyCell]) -> list[Group]:
    """Groups of cells that run as one program: together no more lanes than a block may have."""
    runs, lanes, keep = like
    number = -(-len(cells) // max(1, _MOST_LANES // lanes))
    size = -(-len(cells) // number)
    return [
        Group(
            cells=tuple(cells[first : first + size]),
            size=size,
            lanes=lanes,
            block_seeds=lanes,
            num_seeds=runs,
            batched=False,
            keep=keep,
            program=(*family_of(cells[0]), cells[0].num_arms, size, lanes, keep),
            num_checkpoints=len(cells[0].checkpoints),
        )
        for first in range(0, len(cells), size)
    ]


def _arrays(
    place: Place, read: Callable[[str], Block | None], points: int
) -> dict[str, np.ndarray]:
    """The runs of a cell: regret (n, M) float64 and, where recorded, batches (n,) and selves
    (n, K)."""
    own: dict[str, list[np.ndarray]] = {}
    for task in tasks_of([place.group]):
        block = read(task.key)
        assert block is not None
        regret = block.arrays["regret"][place.row, 0, : task.seeds, :points]
        own.setdefault("regret", []).append(regret)
        for name in ("batches", "selves"):
            if name in block.arrays:
                own.setdefault(name, []).append(block.arrays[name][place.row, : task.seeds])
    return {name: np.concatenate(some) for name, some in own.items()}


def _joined(parts: Sequence[Mapping[str, np.ndarray]], name: str) -> np.ndarray | None:
    """An array of all instances; None where it was not recorded."""
    there = [part[name] for part in parts if name in part]
    return np.concatenate(there) if there else None


def horizons_up_to(horizon: int) -> list[int]:
    """10, 30, 100, 300, ... below the horizon, and the horizon."""
    steps = [unit * 10**power for power in range(1, 10) for unit in (1, 3)]
    return [*(step for step in steps if step < horizon), horizon]
