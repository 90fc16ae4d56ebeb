"""Ctrl-C: simulations stop between chunks, files are written whole, a command prints one line.

In a script, `stops` lets SIGINT set an event. The usual KeyboardInterrupt is raised wherever the
main thread happens to be, and is swallowed if that is in a callback, e.g. of the garbage collector.
The process of the command line (`watch`) blocks the signal and waits for it in a thread of its
own, so that it answers while the main thread imports or compiles. A terminal that closes (SIGHUP)
ends it likewise, unless the process was started to ignore that, as by nohup.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import NoReturn

from jaxduel import screen
from jaxduel.errors import printable

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C or SIGTERM ended."""

DEADLINE = 2.0
"""Seconds that a command is given to end by itself after a signal."""

LONGEST_WRITE = 30.0
"""Longest wait for a file that is being written, in seconds."""

_scopes: list[tuple[threading.Event, bool]] = []
_writing = threading.RLock()
_is_watched = False
_received = signal.SIGINT
_message = "interrupted, nothing had finished"
_keeping = _has_run = False
_said = threading.Lock()


@contextmanager
def stops(
    stop: threading.Event, *, terminate: bool = False, patient: bool = False
) -> Iterator[None]:
    """Context in which the first SIGINT sets `stop` and a second one interrupts at once.

    It does nothing in threads other than the main one; a SIGINT handler that is not Python's
    default stays in place. In a context inside another one, a signal sets the events of both; if
    that of the outer one is set already, so is this one at once.

    Args:
      stop: the event.
      terminate: whether SIGTERM does the same.
      patient: whether a command may then take as long as it needs, until a second signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if any(outer.is_set() for outer, _ in _scopes):
        stop.set()
    if _is_watched or _scopes:
        _scopes.append((stop, patient))
        try:
            yield
        finally:
            _scopes.pop()
        return

    def caught(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        for each, _ in _scopes:
            each.set()

    numbers = [signal.SIGTERM] if terminate else []
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        numbers.append(signal.SIGINT)
    before = {number: signal.signal(number, caught) for number in numbers}
    _scopes.append((stop, patient))
    try:
        yield
    finally:
        _scopes.pop()
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def whole() -> Iterator[None]:
    """Context in which a signal does not end the process: a file is being written."""
    with _writing:
        yield


@contextmanager
def says(message: str) -> Iterator[None]:
    """Context in which an interrupted command prints `message`."""
    global _message
    before, _message = _message, message
    try:
        yield
    finally:
        _message = before


@contextmanager
def keeps_what_finished() -> Iterator[None]:
    """Context in which a command that has begun to simulate may, when interrupted, take as long as
    it needs to write its finished results; a second signal ends it."""
    global _keeping, _has_run
    _keeping, _has_run = True, False
    try:
        yield
    finally:
        _keeping = False


def say_once() -> None:
    """Prints the message of an interrupted command, unless it has been printed."""
    if _is_watched and not _said.acquire(blocking=False):
        return
    line = f"jaxduel: {_message}"
    if threading.current_thread() is threading.main_thread():
        screen.say(line)
    else:  # the main thread may be in the middle of printing
        os.write(2, ("\n" * screen.is_drawn() + printable(line) + "\n").encode())


def exit_code() -> int:
    """The exit code of a command that was interrupted: 130, or 129 if its terminal was closed."""
    return 128 + _received


def watch() -> None:
    """Blocks SIGINT and SIGHUP and answers them in a separate thread; for the process of the
    command line.

    SIGTERM is passed on as SIGINT. Call it in the main thread before starting others. It does
    nothing where threads cannot wait for signals (Windows).
    """
    global _is_watched
    if not hasattr(signal, "sigwait"):
        return
    _is_watched = True
    awaited = {signal.SIGINT}
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        awaited.add(signal.SIGHUP)
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    terminals = [each for each in (0, 1, 2) if os.isatty(each)]
    arguments = (awaited, terminals)
    threading.Thread(target=_answer, args=arguments, name="interrupts", daemon=True).start()


def _answer(awaited: set[signal.Signals], terminals: list[int]) -> None:
    """Waits for a signal, sets the events of the open scopes, and ends the process.

    Args:
      awaited: the signals.
      terminals: descriptors that are those of a terminal. Where it is closed, what is written to it
        goes nowhere: it would be an error in the middle of what is still to be kept.
    """
    global _received
    _received = signal.Signals(signal.sigwait(awaited))
    for each in terminals:
        if not os.isatty(each):
            os.dup2(os.open(os.devnull, os.O_RDWR), each)
    scopes = list(_scopes)
    for stop, _ in scopes:
        stop.set()
    if (_keeping and _has_run) or any(patient for _, patient in scopes):
        signal.sigwait(awaited)
    elif scopes:
        time.sleep(DEADLINE)
    _writing.acquire(timeout=LONGEST_WRITE)
    _exit()


def _exit() -> NoReturn:
    """Ends the process at once: a normal exit of the interpreter would wait for compilations."""
    say_once()
    os._exit(exit_code())


class Workers:
    """Threads that end soon after an event is set, unless they are in the middle of a compilation,
    with the context variables of the thread that starts them.

    A compiling thread goes on and ends before the process does, which would crash if it ended while
    threads compute. (They are not joined: in Python 3.11 an interrupted join takes a running thread
    for ended.)

    Args:
      number: number of threads.
      work: called by each thread with its number; must not raise.
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
            threading.Thread(target=copy_context().run, args=(run, which)).start()

    def wait(self, patience: float = 1.0) -> None:
        """Returns when all have ended, or at most `patience` seconds after `stop` is set."""
        until = float("inf")
        while self._left and time.monotonic() < until:
            self._left -= self._ended.acquire(timeout=0.1)
            if self._stop.is_set():
                until = min(until, time.monotonic() + patience)
