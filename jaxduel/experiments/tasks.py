"""What a figure needs simulated, and how it is spread over the devices."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from jaxduel.experiments.samples import Sample
from jaxduel.policies import make
from jaxduel.problems import DuelingProblem
from jaxduel.simulation import simulate
from jaxduel.simulation.devices import Device

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
      quick: whether a run costs its batches, not its comparisons. Slow ones begin first.
    """

    name: str
    label: str
    policy: str
    parameters: Mapping[str, Any]
    quick: bool = False


@dataclass(frozen=True)
class Draw:
    """An instance, the key of the runs on it, and how many there are."""

    problem: DuelingProblem
    key: jax.Array
    num_runs: int


@dataclass(frozen=True)
class DataSet:
    """What all policies of a panel play: one instance, or several of a random family.

    Attributes:
      name: what tables call it.
      title: the panel's title.
      draws: the instances, all with the same number of arms.
    """

    name: str
    title: str
    draws: tuple[Draw, ...] = field(repr=False)

    @property
    def num_runs(self) -> int:
        """How many runs each policy makes."""
        return sum(draw.num_runs for draw in self.draws)


@dataclass(frozen=True)
class Task:
    """A competitor on a data set: one curve.

    Every instance is a simulation of its own, with its own key and as many lanes as it has runs
    (many runs: equal blocks): nothing is padded, and runs on different instances are independent.
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
    def program(self) -> tuple[Any, ...]:
        """Tasks with the same program share its compilation, on one device."""
        first = self.data.draws[0]
        return self.competitor.policy, first.problem.num_arms, first.num_runs

    def run(self, device: Device, stop: threading.Event, ticks: queue.Queue[Any]) -> Sample:
        """Simulates, and reports finished runs to `ticks`.

        Raises:
          Stopped: between two instances, if it was asked to stop.
        """
        results = []
        most = max(draw.num_runs for draw in self.data.draws)
        lanes = -(-most // -(-most // _MOST_LANES))
        for draw in self.data.draws:
            if stop.is_set():
                raise Stopped
            policy = make(
                self.competitor.policy,
                num_arms=draw.problem.num_arms,
                horizon=self.horizon,
                **self.competitor.parameters,
            )
            result = simulate(
                policy,
                draw.problem,
                self.horizon,
                num_seeds=draw.num_runs,
                seed=draw.key,
                checkpoints=self.checkpoints,
                regret=self.regret,
                lanes=lanes,
                devices=[device],
            )
            results.append(result)
            ticks.put(draw.num_runs)
        return Sample.pooled(self.competitor.name, self.competitor.label, results)


class Stopped(Exception):
    """A task was asked to stop."""


def run_tasks(
    tasks: Sequence[Task], devices: Sequence[Device]
) -> Generator[int | tuple[Task, Sample]]:
    """Runs tasks, one at a time on each device.

    A device prefers tasks whose program it has compiled or nobody has.

    Args:
      tasks: what to run; the order in which they are begun.
      devices: where.

    Yields:
      In the caller's thread: how many more runs have finished, or a finished task with its sample.

    Raises:
      Exception: what a task raised; the others stop at their next instance, as they do when the
        caller closes the iterator or is interrupted.
    """
    waiting = list(tasks)
    compiled: dict[tuple[Any, ...], Device] = {}
    lock, stop = threading.Lock(), threading.Event()
    events: queue.Queue[Any] = queue.Queue()

    def take(device: Device) -> Task | None:
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
                events.put((task, task.run(device, stop, events)))
        except Stopped:
            return
        except Exception as failure:
            events.put(failure)

    threads = [threading.Thread(target=work, args=(device,), daemon=True) for device in devices]
    for thread in threads:
        thread.start()
    left = len(tasks)
    try:
        while left:
            event = events.get()
            if isinstance(event, Exception):
                raise event
            left -= isinstance(event, tuple)
            yield event
    finally:
        stop.set()
