"""Runs that record which of them are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, ValuesView

from jaxduel.runs import Runs
from jaxduel.studies.pictures import AllRuns

Key = tuple[str, str]
"""Names of the instances and of the competitor."""


class ReadRuns(Mapping[Key, Runs]):
    """Finished runs, by key, that record the keys that were asked for, missing ones included.

    `values()` and `in` do not count: they serve words such as horizons, not numbers.

    Attributes:
      keys_read: the keys that were asked for.
    """

    def __init__(self, runs: AllRuns) -> None:
        self._runs = runs
        self.keys_read: set[Key] = set()

    def __getitem__(self, key: Key) -> Runs:
        self.keys_read.add(key)
        return self._runs[key]

    def __contains__(self, key: object) -> bool:
        return key in self._runs

    def __iter__(self) -> Iterator[Key]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def values(self) -> ValuesView[Runs]:
        """The runs, without a record."""
        return self._runs.values()
