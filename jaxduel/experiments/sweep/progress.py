"""How far a sweep has come, on standard error: a bar on a terminal, else one line a minute."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tqdm import tqdm

from jaxduel.experiments.sweep.planning import Task

EVERY = 60.0
"""Seconds between two lines where there is no terminal."""


class Progress:
    """Cells, steps of all their seeds, and the time left, of what is to be done here and elsewhere.

    Args:
      every: all tasks of the sweep.
      finished: keys of those that were finished before.
      num_seeds: of the grid.
      shown: whether to say anything.
    """

    def __init__(
        self, every: Sequence[Task], finished: Iterable[str], num_seeds: int, shown: bool
    ) -> None:
        self._left = {task.key: task for task in every}
        self._of_group = Counter(task.group.key for task in every)
        self._seeds = num_seeds
        self._blocks = len(every)
        self._cells = sum(len(group.cells) for group in {task.group for task in every})
        self._cells_done = self._done_steps = 0
        self._total = sum(self._steps(task) for task in every)
        self._lock = threading.Lock()
        terminal = shown and sys.stderr.isatty()
        for key in finished:
            self._enter(key)
        self._before = self._done_steps
        self._begun = self._last = time.monotonic()
        self._bar: Any = tqdm(
            total=self._total,
            initial=self._before,
            unit=" steps",
            unit_scale=True,
            disable=not terminal,
            smoothing=0.05,
        )
        self._lines = shown and not terminal

    def done(self, key: str) -> None:
        """Counts a task that is finished, by whomever."""
        with self._lock:
            before = self._done_steps
            self._enter(key)
            self._bar.set_postfix_str(f"{self._cells_done:,} of {self._cells:,} cells", False)
            self._bar.update(self._done_steps - before)
            if self._lines and time.monotonic() - self._last >= EVERY:
                self._last = time.monotonic()
                print(self.line(), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()

    def line(self) -> str:
        """How far it is."""
        seconds = time.monotonic() - self._begun
        rate = (self._done_steps - self._before) / max(seconds, 1e-9)
        left = (self._total - self._done_steps) / rate if rate > 0 else float("nan")
        return (
            f"jaxduel: {self._cells_done:,} of {self._cells:,} cells, "
            f"{self._blocks - len(self._left):,} of {self._blocks:,} blocks, "
            f"{rate:.3g} steps a second, {_duration(left)} left"
        )

    def _enter(self, key: str) -> None:
        task = self._left.pop(key, None)
        if task is None:
            return
        self._done_steps += self._steps(task)
        self._of_group[task.group.key] -= 1
        if self._of_group[task.group.key] == 0:
            self._cells_done += len(task.group.cells)

    def _steps(self, task: Task) -> int:
        seeds = min(task.group.block_seeds, self._seeds - task.first_seed)
        return seeds * sum(cell.horizon for cell in task.group.cells)


def _duration(seconds: float) -> str:
    """Such as 1:05:09."""
    return "?" if seconds != seconds else tqdm.format_interval(seconds)
