"""Seconds that the parts of a study's work take, by the clock, in all its threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax

COMPILE = "compile"
_EVENTS = "/jax/core/compile/"
PARTS = (
    "plan",
    "check and stack",
    COMPILE,
    "device loops",
    "reduce",
    "encode",
    "write",
    "wait",
)
"""The parts: expanding and grouping the cells; checking and stacking them, once a group; tracing
and compiling programs; the loops over time; reducing records; encoding and writing blocks, claims
included; and the time a device waits for its earlier blocks to be written, or for other
processes."""

_compiled: ContextVar[list[float] | None] = ContextVar("compiled", default=None)
"""Seconds of compilation inside the part that is being timed."""


class Seconds:
    """Seconds of each part, added up over threads: together they may exceed the time by the clock.

    Compilation inside a part, in its thread or in `Workers` started there, counts only as
    compilation.
    """

    def __init__(self) -> None:
        self.spent: dict[str, float] = dict.fromkeys(PARTS, 0.0)
        self._lock = threading.Lock()
        self._here = threading.local()

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Context that adds its duration to a part."""
        compiled, begun = [0.0], time.perf_counter()
        outside = _compiled.set(compiled)
        try:
            yield
        finally:
            _compiled.reset(outside)
            self.add(part, time.perf_counter() - begun - compiled[0])

    def add(self, part: str, seconds: float) -> None:
        """Adds seconds to a part."""
        with self._lock:
            self.spent[part] += seconds

    @contextmanager
    def compilations(self) -> Iterator[None]:
        """Context that adds all tracing and compiling, in any thread, to the part for it."""
        jax.monitoring.register_event_duration_secs_listener(self._listen)
        try:
            yield
        finally:
            jax.monitoring.unregister_event_duration_listener(self._listen)

    def _listen(self, event: str, duration_secs: float, **_: Any) -> None:
        """Adds a duration that JAX reports at its end, without the durations nested in it."""
        if not event.startswith(_EVENTS):
            return
        begun = time.perf_counter() - duration_secs
        earlier: list[tuple[float, float]] = self._here.__dict__.setdefault("earlier", [])
        inside = 0.0
        while earlier and earlier[-1][0] >= begun:
            inside += earlier.pop()[1]
        earlier.append((begun, duration_secs))
        part = _compiled.get()
        if part is not None:
            part[0] += duration_secs - inside
        self.add(COMPILE, duration_secs - inside)
