"""Progress of a sweep, whoever does the work: comparisons or pulls, cells and blocks."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

from jaxduel.experiments.sweep.planning import Task
from jaxduel.progress import Progress


class SweepProgress:
    """Context that counts finished blocks and shows the progress of a sweep.

    Args:
      every: all tasks of the sweep.
      finished: keys of those that were finished before.
      num_seeds: number of seeds of the grid.
      shown: as in `Progress`.
    """

    def __init__(
        self, every: Sequence[Task], finished: Iterable[str], num_seeds: int, shown: bool | None
    ) -> None:
        self._left = {task.key: task for task in every}
        self._of_group = Counter(task.group.key for task in every)
        self._seeds = num_seeds
        self._blocks = len(every)
        self._cells = sum(len(group.cells) for group in {task.group for task in every})
        self._cells_done = 0
        self._entering = threading.Lock()
        total = sum(self._steps(task) for task in every)
        before = sum(self._enter(key) for key in finished)
        self._shown = Progress(
            "sweep", total, _unit(every), shown, done=before, detail=self._counts
        )

    def __enter__(self) -> Self:
        self._shown.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.__exit__()

    def done(self, key: str, *, here: bool = False) -> None:
        """Counts a task that is finished.

        Args:
          key: of the task.
          here: whether it was simulated in this process, which counted its steps one by one.
        """
        with self._entering:
            steps = self._enter(key)
        if not here:
            self._shown.tick(steps)

    def _counts(self) -> str:
        return (
            f"{self._cells_done:,} of {self._cells:,} cells, "
            f"{self._blocks - len(self._left):,} of {self._blocks:,} blocks"
        )

    def _enter(self, key: str) -> int:
        """Enters a finished task, and returns its steps; 0 if it was entered before."""
        task = self._left.pop(key, None)
        if task is None:
            return 0
        self._of_group[task.group.key] -= 1
        if self._of_group[task.group.key] == 0:
            self._cells_done += len(task.group.cells)
        return self._steps(task)

    def _steps(self, task: Task) -> int:
        seeds = min(task.group.block_seeds, self._seeds - task.first_seed)
        return seeds * sum(cell.horizon for cell in task.group.cells)


def _unit(tasks: Iterable[Task]) -> str:
    """Unit of the steps: "comparisons", "pulls", or both."""
    units = {"pulls" if "pulls" in task.group.definitions else "comparisons" for task in tasks}
    return " and ".join(sorted(units))
