"""Queue of tasks: a worker takes one whose program it has compiled, if there is any."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from jaxduel.experiments.sweep.planning import Task


class TaskQueue:
    """Tasks that nobody has taken, for the workers of a process.

    Each device compiles for itself. So a worker goes on with a program that it has compiled; else
    it begins one that no other has begun; only if there is none it shares one.

    Args:
      tasks: in the order in which they are to be run.
    """

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._lock = threading.Lock()
        self._left = list(tasks)
        self._begun: dict[Any, set[int]] = {}

    def take(self, worker: int) -> Task | None:
        """The next task for a worker, by its number; None if all are taken."""
        with self._lock:
            if not self._left:
                return None
            task = min(self._left, key=lambda task: self._cost(task, worker))
            self._left.remove(task)
            self._begun.setdefault(task.group.program, set()).add(worker)
            return task

    def give_back(self, task: Task) -> None:
        """Puts a task back, behind the others."""
        with self._lock:
            self._left.append(task)

    def _cost(self, task: Task, worker: int) -> int:
        begun = self._begun.get(task.group.program, set())
        return 0 if worker in begun else (2 if begun else 1)
