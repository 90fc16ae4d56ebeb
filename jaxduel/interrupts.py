"""Ctrl-C: simulations stop between chunks, files are written whole, and a command says one line.

In a script, `stops` lets SIGINT set an event instead of raising KeyboardInterrupt wherever the
main thread happens to be: raised within a callback, as of the garbage collector, that is swallowed.
The process of the command line (`watch`) blocks the signal and has a thread that waits for it, so
that it answers while the main thread imports or compiles.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from jaxduel import screen

EXIT_CODE = 130
DEADLINE = 2.0
"""Seconds that a command has to end by itself after a signal."""

LONGEST_WRITE = 30.0
"""Seconds that a file in the middle of being written is waited for."""

_scopes: list[tuple[threading.Event, bool]] = []
_writing = threading.RLock()
_is_watched = False
_message = "interrupted, nothing had finished"
_keeping = _has_run = False
_said = threading.Lock()


@contextmanager
def stops(
    stop: threading.Event, *, terminate: bool = False, patient: bool = False
) -> Iterator[None]:
    """Within it, the first SIGINT sets `stop`; a second one interrupts at once.

    In threads other than the main one, and where somebody else handles the signal, it does nothing.

    Args:
      stop: the event.
      terminate: whether SIGTERM does the same.
      patient: whether a command then takes the time it needs, until a second signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if _is_watched:
        _scopes.append((stop, patient))
        try:
            yield
        finally:
            _scopes.pop()
        return

    def caught(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    numbers = [signal.SIGTERM] if terminate else []
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        numbers.append(signal.SIGINT)
    before = {number: signal.signal(number, caught) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def whole() -> Iterator[None]:
    """Within it, a signal does not end the process: a file is being written."""
    with _writing:
        yield


@contextmanager
def says(message: str) -> Iterator[None]:
    """Within it, a command that is interrupted says `message`."""
    global _message
    before, _message = _message, message
    try:
        yield
    finally:
        _message = before


@contextmanager
def keeps_what_finished() -> Iterator[None]:
    """Within it, a command that has simulated takes the time it needs to write what had finished;
    a second signal ends it."""
    global _keeping, _has_run
    _keeping, _has_run = True, False
    try:
        yield
    finally:
        _keeping = False


def say_once() -> None:
    """Prints the line of an interrupted command, unless it has been printed."""
    if _is_watched and not _said.acquire(blocking=False):
        return
    line = f"jaxduel: {_message}"
    if threading.current_thread() is threading.main_thread():
        screen.say(line)
    else:  # the main thread may be in the middle of printing
        os.write(2, ("\n" * screen.is_drawn() + line + "\n").encode())


def watch() -> None:
    """Blocks SIGINT and answers it from a thread of its own; for the process of the command line.

    SIGTERM is passed on as SIGINT. To be called by the main thread before others are started. Where
    threads cannot wait for signals (Windows), it does nothing.
    """
    global _is_watched
    if not hasattr(signal, "sigwait"):
        return
    _is_watched = True
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    threading.Thread(target=_answer, name="interrupts", daemon=True).start()


def _answer() -> None:
    """Waits for signals, and ends the process."""
    signal.sigwait({signal.SIGINT})
    scopes = list(_scopes)
    for stop, _ in scopes:
        stop.set()
    if (_keeping and _has_run) or any(patient for _, patient in scopes):
        signal.sigwait({signal.SIGINT})
    elif scopes:
        time.sleep(DEADLINE)
    _writing.acquire(timeout=LONGEST_WRITE)
    _exit()


def _exit() -> NoReturn:
    """Ends the process at once: the end of the interpreter would wait for compilations."""
    say_once()
    os._exit(EXIT_CODE)


class Workers:
    """Threads that end soon after an event is set, unless they are in the middle of a compilation.

    These go on and end before the process does: a process that ends while others compute crashes.
    (They are not joined: in Python 3.11 a join that is interrupted takes a thread for ended.)

    Args:
      number: how many.
      work: what each does, given its number; must not raise.
      stop: the event.
    """

    def __init__(self, number: int, work: Callable[[int], None], stop: threading.Event) -> None:
        global _has_run
        _has_run = True
        self._left, self._stop = number, stop
        self._ended = threading.Semaphore(0)

        def run(which: int) -> None:
            try:
                work(which)
            finally:
                self._ended.release()

        for which in range(number):
            threading.Thread(target=run, args=(which,)).start()

    def wait(self, patience: float = 1.0) -> None:
        """Returns when all have ended; where they are stopped, after that many seconds at most."""
        until = float("inf")
        while self._left and time.monotonic() < until:
            self._left -= self._ended.acquire(timeout=0.1)
            if self._stop.is_set():
                until = min(until, time.monotonic() + patience)
