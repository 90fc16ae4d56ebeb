"""Progress of a study, in all processes: comparisons, pulls or votes, cells and blocks."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence

from jaxduel.progress import Progress
from jaxduel.studies.engine.groups import Task


class StudyProgress(Progress):
    """Context that counts finished blocks of all tasks of a study, and shows its progress.

    The time left is estimated from the costs of finished blocks (`Group.cost`): comparisons of
    different policies take very different times.
    """

    def __init__(
        self, what: str, every: Sequence[Task], finished: Iterable[str], shown: bool | None
    ) -> None:
        self._unfinished = {task.key: task for task in every}
        self._of_group = Counter(task.group.key for task in every)
        self._blocks = len(every)
        self._cells = sum(len(group.cells) for group in {task.group for task in every})
        self._cells_done = 0
        self._costs_left = sum(task.group.cost for task in every)
        self._entering = threading.Lock()
        total = sum(task.amount for task in every)
        before = sum(self._enter(key) for key in finished)
        self._costs_here = 0.0
        super().__init__(what, total, _unit(every), shown, done=before, detail=self._counts)

    def done(self, key: str, *, here: bool = False) -> None:
        """Counts a finished task; `here` if this process simulated it and counted its steps."""
        with self._entering:
            before = self._costs_left
            amount = self._enter(key)
            self._costs_here += before - self._costs_left
        if not here:
            self.tick(amount)

    def _counts(self) -> str:
        return (
            f"{self._cells_done:,} of {self._cells:,} cells, "
            f"{self._blocks - len(self._unfinished):,} of {self._blocks:,} blocks"
        )

    def _left(self, now: float, rate: float) -> float | None:
        done = self._costs_here
        return self._ran(now) * max(self._costs_left, 0.0) / done if done else None

    def _enter(self, key: str) -> int:
        """Records a finished task, and returns its amount; 0 if it was recorded before."""
        task = self._unfinished.pop(key, None)
        if task is None:
            return 0
        self._costs_left -= task.group.cost
        self._of_group[task.group.key] -= 1
        if self._of_group[task.group.key] == 0:
            self._cells_done += len(task.group.cells)
        return task.amount


def _unit(tasks: Iterable[Task]) -> str:
    """Unit of the amounts: "votes", "comparisons", "pulls", or both of the latter."""
    units = {
        task.group.unit or ("pulls" if "pulls" in task.group.definitions else "comparisons")
        for task in tasks
    }
    return " and ".join(sorted(units))
