"""What a figure needs simulated, and how it is spread over the devices."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import jax
import numpy as np

from jaxduel import interrupts
from jaxduel.experiments.samples import Sample
from jaxduel.interrupts import Workers
from jaxduel.policies import make
from jaxduel.simulation import Result
from jaxduel.simulation.devices import Device
from jaxduel.simulation.run import WINNERS, Settings, run_cells

_MOST_LANES = 128
"""Runs on one instance are cut into equal blocks of at most this many."""


@dataclass(frozen=True)
class Competitor:
    """A policy with its parameters, as an entry of a legend.

    Attributes:
      name: a key of `jaxduel.plotting.STYLES`.
      label: what legends and tables call it.
      policy: the policy's registered name.
      parameters: what `jaxduel.policies.make` is given.
      quick: whether its runs are fast, beside the others'. Slow ones begin first.
      delay: outcomes reach the policy after every so many comparisons.
      shuffle_arms: whether each run sees the arms in an order of its own.
      per_horizon: whether the policy is made for a horizon, and shown by separate runs to each of
        10, 30, 100, 300, ... and T, from the first checkpoint on.
      record_pairs: whether comparisons of arms with themselves are wanted (`Sample.selves`).
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


@dataclass(frozen=True)
class Draw:
    """An instance (of either kind), the key of the runs on it, and how many there are."""

    problem: Any
    key: jax.Array
    num_runs: int


@dataclass(frozen=True)
class DataSet:
    """What all policies of a panel play: one instance, or several of a random family.

    Attributes:
      name: what tables call it.
      title: the panel's title.
      draws: the instances, all with the same number of arms.
      horizon: T, where it is not that of all data sets of the paper.
    """

    name: str
    title: str
    draws: tuple[Draw, ...] = field(repr=False)
    horizon: int | None = None

    @property
    def num_runs(self) -> int:
        """How many runs each policy makes."""
        return sum(draw.num_runs for draw in self.draws)


@dataclass(frozen=True)
class Task:
    """A competitor on a data set: one curve.

    Every instance has its own key and as many lanes as it has runs (many runs: equal blocks), so
    that nothing is padded and runs on different instances are independent. Instances with few runs
    are stacked. Runs to different horizons are independent too, where the competitor has separate
    ones.
    """

    data: DataSet
    competitor: Competitor
    horizon: int
    checkpoints: np.ndarray = field(repr=False)
    regret: str

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it: data set and competitor."""
        return self.data.name, self.competitor.name

    @property
    def lanes(self) -> int:
        """How many runs a block has."""
        most = max(draw.num_runs for draw in self.data.draws)
        return -(-most // -(-most // _MOST_LANES))

    @property
    def program(self) -> tuple[Any, ...]:
        """Tasks with the same program share its compilation, on one device."""
        entry = self.competitor
        switches = [
            (k, v) for k, v in sorted(entry.parameters.items()) if isinstance(v, bool | str)
        ]
        modes = (entry.delay > 1, entry.shuffle_arms, entry.per_horizon, entry.record_pairs)
        first = self.data.draws[0].problem
        return entry.policy, first.num_arms, self.lanes, *modes, *switches

    def joined(self, other: Task) -> Task:
        """One task for two of one key: it has the more runs, and pairs if either wants them."""
        data = max(self.data, other.data, key=lambda data: data.num_runs)
        pairs = self.competitor.record_pairs or other.competitor.record_pairs
        return replace(self, data=data, competitor=replace(self.competitor, record_pairs=pairs))

    def run(self, device: Device, stop: threading.Event) -> Sample:
        """Simulates; the `Progress` around it counts runs.

        Raises:
          Stopped: soon after it was asked to stop.
        """
        results = []
        for draws in self._stacks():
            if self.competitor.per_horizon:
                results += self._separately(draws, device, stop)
            else:
                part = sum(draw.num_runs for draw in draws)
                how = part, device, stop
                results += self._simulate(draws, self.horizon, self.checkpoints, *how)
        name, label = self.competitor.name, self.competitor.label
        return Sample.pooled(name, label, results, separate=self.competitor.per_horizon)

    def _stacks(self) -> list[Sequence[Draw]]:
        """The instances, as many at a time as run as one program: as many runs each, and not more
        lanes in all than a block may have."""
        stacks: list[Sequence[Draw]] = []
        for _, alike in groupby(self.data.draws, attrgetter("num_runs")):
            draws = list(alike)
            number = -(-len(draws) // max(1, _MOST_LANES // self.lanes))
            size = -(-len(draws) // number)
            stacks += [draws[first : first + size] for first in range(0, len(draws), size)]
        return stacks

    def _simulate(
        self,
        draws: Sequence[Draw],
        horizon: int,
        times: np.ndarray,
        part: float,
        device: Device,
        stop: threading.Event,
    ) -> list[Result]:
        """A simulation that counts as so many runs: a result for each of some instances."""
        if stop.is_set():
            raise Stopped
        entry, stacked = self.competitor, len(draws) > 1
        num_arms = draws[0].problem.num_arms
        policy = make(entry.policy, num_arms=num_arms, horizon=horizon, **entry.parameters)
        settings = Settings(
            num_seeds=draws[0].num_runs,
            seed=draws[0].key,
            checkpoints=times,
            regret=self.regret,
            shuffle_arms=entry.shuffle_arms,
            delay=entry.delay,
            record_pairs=entry.record_pairs,
            skip_quiet=True if entry.record_pairs else WINNERS,
            lanes=self.lanes,
            devices=[device],
            part=part,
            stop=stop,
        )
        try:
            return run_cells(
                [policy] * len(draws),
                [draw.problem for draw in draws],
                [horizon] * len(draws),
                settings,
                stacked=stacked,
                roots=[draw.key for draw in draws] if stacked else None,
            )
        except KeyboardInterrupt:
            raise Stopped from None

    def _separately(
        self, draws: Sequence[Draw], device: Device, stop: threading.Event
    ) -> list[Result]:
        """Separate runs to each horizon, side by side as checkpoints."""
        horizons = [h for h in horizons_up_to(self.horizon) if h >= self.checkpoints[0]]
        runs = sum(draw.num_runs for draw in draws)
        parts = [
            self._simulate(
                [replace(draw, key=jax.random.fold_in(draw.key, horizon)) for draw in draws],
                horizon,
                np.array([horizon]),
                runs * horizon / sum(horizons),
                device,
                stop,
            )
            for horizon in horizons
        ]
        return [
            replace(
                own[-1],
                checkpoints=np.concatenate([part.checkpoints for part in own]),
                regret=np.concatenate([part.regret for part in own], axis=1),
                plays=np.concatenate([part.plays for part in own], axis=1),
            )
            for own in zip(*parts, strict=True)
        ]


def horizons_up_to(horizon: int) -> list[int]:
    """10, 30, 100, 300, ... below the horizon, and the horizon."""
    steps = [unit * 10**power for power in range(1, 10) for unit in (1, 3)]
    return [*(step for step in steps if step < horizon), horizon]


class Stopped(Exception):
    """A task was asked to stop."""


class Runnable(Protocol):
    """What `run_tasks` runs: a `Task`, or what else has these two."""

    @property
    def program(self) -> tuple[Any, ...]:
        """What is the same for those that share a compilation."""
        ...

    def run(self, device: Device, stop: threading.Event) -> Any:
        """Simulates; may raise `Stopped`."""
        ...


AnyTask = TypeVar("AnyTask", bound=Runnable)


def run_tasks(
    tasks: Sequence[AnyTask], devices: Sequence[Device]
) -> Generator[tuple[AnyTask, Any]]:
    """Runs tasks, one at a time on each device.

    A device prefers tasks whose program it has compiled or nobody has.

    Args:
      tasks: what to run; the order in which they are begun.
      devices: where.

    Yields:
      In the caller's thread: a finished task, with what its `run` returned.

    Raises:
      Exception: what a task raised. The others stop at the end of their chunk, as when the caller
        closes the iterator.
      KeyboardInterrupt: after Ctrl-C.
    """
    waiting = list(tasks)
    compiled: dict[tuple[Any, ...], Device] = {}
    lock, stop = threading.Lock(), threading.Event()
    events: queue.Queue[Any] = queue.Queue()

    def take(device: Device) -> AnyTask | None:
        with lock:
            own = (t for t in waiting if compiled.get(t.program, device) == device)
            task = next(own, waiting[0] if waiting else None)
            if task is not None:
                waiting.remove(task)
                compiled.setdefault(task.program, device)
            return task

    def work(device: Device) -> None:
        try:
            while not stop.is_set() and (task := take(device)) is not None:
                events.put((task, task.run(device, stop)))
        except Stopped:
            return
        except Exception as failure:
            events.put(failure)

    left = len(tasks)
    with interrupts.stops(stop):
        workers = Workers(len(devices), lambda which: work(devices[which]), stop)
        try:
            while left:
                try:
                    event = events.get(timeout=0.2)
                except queue.Empty:
                    if stop.is_set():
                        raise KeyboardInterrupt from None
                    continue
                if isinstance(event, Exception):
                    raise event
                left -= 1
                yield event
        finally:
            stop.set()
            workers.wait()
