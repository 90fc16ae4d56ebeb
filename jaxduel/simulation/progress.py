"""The progress of a simulation: its compilation, then the share of it that ran."""

from __future__ import annotations

import threading
from typing import Self

from jaxduel.progress import Progress, current


class Simulating:
    """Context that reports the progress of a simulation.

    Within another `Progress` it reports to that one, when it compiles and how far it is, and is not
    shown itself unless `shown` is True.

    Args:
      what, total, unit, shown: as in `Progress`.
      name: of what is compiled.
      part: its amount of that other one, in its unit.
    """

    def __init__(
        self,
        what: str,
        name: str,
        total: float,
        unit: str,
        shown: bool | None,
        part: float = 0.0,
    ) -> None:
        outer = None if shown is True else current()
        self._told = outer or Progress(what, total, unit, shown)
        self._own = self._told if outer is None else None
        self._name, self._amount = name, total if outer is None else part
        self._compiling: set[object] = set()

    def __enter__(self) -> Self:
        if self._own is not None:
            self._own.__enter__()
        self._begin(self)
        return self

    def __exit__(self, *_: object) -> None:
        for who in tuple(self._compiling):
            self._end(who)
        if self._own is not None:
            self._own.__exit__()

    def compiles(self) -> None:
        """Reports that the calling thread may compile, until its next tick; before the first tick
        of any thread the whole simulation does."""
        self._begin((self, threading.get_ident()))

    def tick(self, share: float) -> None:
        """Counts a share of the simulation as done."""
        for who in (self, (self, threading.get_ident())):
            self._end(who)
        self._told.tick(share * self._amount)

    def _begin(self, who: object) -> None:
        self._compiling.add(who)
        self._told.compiles(self._name, who)

    def _end(self, who: object) -> None:
        if who in self._compiling:
            self._compiling.discard(who)
            self._told.runs(who)
