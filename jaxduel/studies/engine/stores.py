"""Several stores that one queue of tasks fills."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import ExitStack

from jaxduel.studies.engine.blocks import Block
from jaxduel.studies.engine.groups import Task
from jaxduel.studies.engine.profile import Seconds
from jaxduel.studies.engine.store import Store


class Stores:
    """Stores as one. A task that several of them want is simulated once, and stored in each.

    Args:
      wanted: the stores, each with the tasks that it wants.
    """

    def __init__(self, wanted: Iterable[tuple[Store, Iterable[Task]]]) -> None:
        self._of: dict[str, list[Store]] = {}
        for store, tasks in wanted:
            for task in tasks:
                self._of.setdefault(task.key, []).append(store)

    def of(self, key: str) -> Collection[Store]:
        """The stores that want a task."""
        return self._of[key]

    def finished(self) -> set[str]:
        """The keys of tasks that all stores that want them have."""
        stores = dict.fromkeys(store for own in self._of.values() for store in own)
        there = {store: store.finished() for store in stores}
        return {key for key, own in self._of.items() if all(key in there[one] for one in own)}

    def claim(self, key: str) -> ExitStack | None:
        """The right to run a task, as `Store.claim`."""
        with ExitStack() as claims:
            for store in self._lacking(key):
                claim = store.claim(key)
                if claim is None:
                    return None
                claims.enter_context(claim)
            return claims.pop_all()

    def has_ended(self, keys: Collection[str]) -> bool:
        """As `Store.has_ended`."""
        own: dict[Store, list[str]] = {}
        for key in keys:
            for store in self._lacking(key):
                own.setdefault(store, []).append(key)
        return any(store.has_ended(some) for store, some in own.items())

    def add(self, block: Block, seconds: Seconds | None = None) -> None:
        """Stores a block durably, as `Store.add`, in each store that lacks it."""
        for store in self._lacking(block.key):
            store.add(block, seconds)

    def _lacking(self, key: str) -> list[Store]:
        """The stores that a task is to be stored in; a single one is not asked."""
        own = self._of[key]
        return own if len(own) == 1 else [one for one in own if key not in one.finished()]
