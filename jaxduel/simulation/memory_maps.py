"""Keeps a process within the limit of Linux on pieces of mapped memory (`vm.max_map_count`).

Compiled programs are made of many such pieces: those of a policy, 250 to 2,000 on every device.
Where a process reaches the limit (65,530 unless somebody raised it), the compiler ends the process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import jax

FOR_A_POLICY = 4_096
"""Pieces that are enough for the programs of any policy on one device."""
_MAPPED = Path("/proc/self/maps")
_MOST = Path("/proc/sys/vm/max_map_count")
_SECONDS = 1.0
_IN_VAIN = 60.0
"""Factor on the time until the next look where forgetting did not help."""

_others: list[Callable[[], None]] = []


def also_forget(forget: Callable[[], None]) -> None:
    """Registers `forget` to be called by `forget_programs`."""
    _others.append(forget)


def forget_programs() -> None:
    """Forgets all compiled programs: JAX's and the simulator's own."""
    jax.clear_caches()
    for forget in _others:
        forget()


class CompileCacheGuard:
    """Forgets compiled programs before there are too many, whenever a simulation begins.

    Args:
      seconds: the shortest time between two looks, each of which takes one to forty milliseconds.
        If forgetting did not help, it looks again after sixty times as long.
    """

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._next = -float("inf")
        self._lock = threading.Lock()

    def make_room(self) -> None:
        """Forgets all programs if more than half of the pieces that there may be are in use.

        Programs that run go on, and what is needed again is compiled again, to the same bits.
        Where the system does not tell (it is not Linux), nothing is done.
        """
        with self._lock:
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + self._seconds
            if _are_many():
                forget_programs()
                if _are_many():
                    self._next = now + _IN_VAIN * self._seconds


def most_pieces() -> int | None:
    """Most pieces of memory that a process may map; None where the system does not tell."""
    try:
        return int(_MOST.read_text())
    except (OSError, ValueError):
        return None


def _are_many() -> bool:
    """True if more than half of the pieces are in use; False where the system does not tell."""
    most = most_pieces()
    return most is not None and 2 * _pieces() > most


def _pieces() -> int:
    """Number of pieces of memory that are mapped; 0 where the system does not tell."""
    try:
        return _MAPPED.read_bytes().count(b"\n")
    except OSError:
        return 0
