"""Simulation tasks of figures (a policy on a data set), and their spread over devices."""

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
    """

    name: str
    title: str
    draws: tuple[Draw, ...] = field(repr=False)
    horizon: int | None = None

    @property
    def num_runs(self) -> int:
        """Number of runs of each policy."""
        return sum(draw.num_runs for draw in self.draws)


@dataclass(frozen=True)
class Task:
    """A competitor on a data set: one curve.

    Every instance has its own key and as many lanes as runs (many runs: equal blocks), so that no
    lane is padding and runs on different instances are independent. Instances with few runs are
    stacked in one program. A competitor with separate runs per horizon has independent ones.
    """

    data: DataSet
    competitor: Competitor
    horizon: int
    checkpoints: np.ndarray = field(repr=False)
    regret: str

    @property
    def key(self) -> tuple[str, str]:
        """Names of the data set and of the competitor, which identify the task."""
        return self.data.name, self.competitor.name

    @property
    def lanes(self) -> int:
        """Number of lanes in a block."""
        most = max(draw.num_runs for draw in self.data.draws)
        return -(-most // -(-most // _MOST_LANES))

    @property
    def program(self) -> tuple[Any, ...]:
        """Identity of the compiled program; tasks with the same one share it, on one device."""
        entry = self.competitor
        switches = [
            (k, v) for k, v in sorted(entry.parameters.items()) if isinstance(v, bool | str)
        ]
        modes = (entry.delay > 1, entry.shuffle_arms, entry.per_horizon, entry.record_pairs)
        first = self.data.draws[0].problem
        return entry.policy, first.num_arms, self.lanes, *modes, *switches

    def joined(self, other: Task) -> Task:
        """One task for two with the same key: the larger number of runs, and pairs if either
        records them."""
        data = max(self.data, other.data, key=lambda data: data.num_runs)
        pairs = self.competitor.record_pairs or other.competitor.record_pairs
        return replace(self, data=data, competitor=replace(self.competitor, record_pairs=pairs))

    def run(self, device: Device, stop: threading.Event) -> Sample:
        """Simulates the task; the current `Progress` counts runs.

        Raises:
          Stopped: soon after `stop` is set.
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
        """The instances in groups that run as one program: with the same number of runs each, and
        together no more lanes than a block may have."""
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
        """A result for each instance; the simulation counts as `part` runs of the progress."""
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
        """A result for each instance, whose checkpoints are separate runs to each horizon."""
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
    """Raised by a task that ends because it was told to stop."""


class Runnable(Protocol):
    """A task for `run_tasks`, such as a `Task`."""

    @property
    def program(self) -> tuple[Any, ...]:
        """Identity of the compiled program, equal for tasks that share a compilation."""
        ...

    def run(self, device: Device, stop: threading.Event) -> Any:
        """Simulates and returns the result; may raise `Stopped`."""
        ...


AnyTask = TypeVar("AnyTask", bound=Runnable)


def run_tasks(
    tasks: Sequence[AnyTask], devices: Sequence[Device]
) -> Generator[tuple[AnyTask, Any]]:
    """Runs tasks, one at a time on each device.

    A device prefers tasks whose program it has compiled itself or no device has.

    Args:
      tasks: the tasks, in the order in which they begin.
      devices: the devices.

    Yields:
      A finished task and the result of its `run`, in the caller's thread.

    Raises:
      Exception: the error of a task. The other tasks stop at the end of their chunk, as when the
        caller closes the iterator.
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
