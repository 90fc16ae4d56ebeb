"""A mapping of runs that remembers which runs were read."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView

from jaxduel.runs import Runs
from jaxduel.studies.pictures import AllRuns


class ReadRuns(Mapping[tuple[str, str], Runs]):
    """Finished runs that remember the keys that were looked up, whether they were there or not.

    Going through all keys, values or items is not remembered.

    Args:
      runs: the runs, by names of the instances and of the competitor.

    Attributes:
      keys_read: the keys looked up so far.
    """

    def __init__(self, runs: AllRuns) -> None:
        self._runs = runs
        self.keys_read: set[tuple[str, str]] = set()

    def __getitem__(self, key: tuple[str, str]) -> Runs:
        self.keys_read.add(key)
        return self._runs[key]

    def __contains__(self, key: object) -> bool:
        there = key in self._runs
        if isinstance(key, tuple) and len(key) == 2:
            self.keys_read.add(key)
        return there

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def values(self) -> ValuesView[Runs]:
        """All runs."""
        return self._runs.values()

    def items(self) -> ItemsView[tuple[str, str], Runs]:
        """All keys with their runs."""
        return self._runs.items()
