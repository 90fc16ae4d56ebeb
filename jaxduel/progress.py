"""Progress of a computation: a line redrawn on a terminal or in a notebook, or one line a minute
where standard error is a file.

While programs compile, the line names them. The rate and the time left leave out time in which
programs only compiled.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Self

from jaxduel.screen import Log, Screen, screen

EVERY = 60.0
"""Seconds between lines in a file."""
PATIENCE = 2.0
"""Seconds before a line is drawn if `shown` is None."""
PERIOD = 0.25
"""Seconds between updates."""
_SLOW = 0.5
"""Seconds after which a program that has not begun to run is taken to be compiling."""
_SHORTEST = 1.0
"""Least time that a rate is measured over, in seconds."""
_ROUNDING = 1e-9
_BAR = 12
_open: list[Progress] = []


class Progress:
    """Context that counts the finished part of a computation and shows it from a thread of its own.

    If several are open, only the one opened last is shown.

    Args:
      what: name of the computation.
      total: amount of work, in `unit`.
      unit: the unit of work, in the plural.
      shown: whether it is shown: True, always; False, never; None, on a terminal or in a notebook,
        once it has taken `PATIENCE` seconds.
      done: amount of work done before.
      detail: returns text to append to the line.
      output: where to write, instead of standard error.
      clock: returns the time in seconds.
      period: seconds between updates; None, for tests, leaves calls of `look` to the caller.
    """

    def __init__(
        self,
        what: str,
        total: float,
        unit: str,
        shown: bool | None = None,
        *,
        done: float = 0.0,
        detail: Callable[[], str] | None = None,
        output: Screen | None = None,
        clock: Callable[[], float] = time.monotonic,
        period: float | None = PERIOD,
    ) -> None:
        self._what, self._total, self._unit, self._detail = what, total, unit, detail
        if shown is not False and output is None:
            output = screen()
        if output is not None and (shown is False or (shown is None and isinstance(output, Log))):
            output = None
        self._output, self._asked = output, shown is True
        self._clock, self._period = clock, period
        self._lock, self._over, self._context = threading.RLock(), threading.Event(), ExitStack()
        self._done = done
        self._compiled: dict[object, str] = {}
        self._idle = 0.0
        self._idle_since: float | None = None
        self._begun = self._said = clock()
        self._samples = deque([(0.0, done)])

    def __enter__(self) -> Self:
        if _open:
            _open[-1].pause()
            self._context.enter_context(_open[-1].compiling(self._what))
        _open.append(self)
        if self._output is not None and self._period is not None:
            thread = threading.Thread(target=self._watch, name="progress", daemon=True)
            self._context.callback(thread.join)
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        _open.remove(self)
        self._context.close()
        if not (self._output is None or isinstance(self._output, Log)):
            with suppress(OSError, ValueError):  # who read it has gone
                if self._asked and self._total:
                    self._output.write(self.summary())
                else:
                    self._output.erase()

    def tick(self, n: float = 1.0) -> None:
        """Counts `n` units of work as done."""
        with self._lock:
            self._done += n
            self._idle_since = None  # something runs, even if other programs compile
            self._sample()

    def compiles(self, what: str, who: object) -> None:
        """Marks `who` as compiling `what`, until `runs(who)`."""
        with self._lock:
            self._compiled[who] = what
            if self._idle_since is None:
                self._idle_since = self._clock()

    def runs(self, who: object) -> None:
        """Marks `who` as running, if it was compiling."""
        with self._lock:
            if self._compiled.pop(who, None) is not None and self._idle_since is not None:
                self._idle += self._clock() - self._idle_since
                self._idle_since = None

    @contextmanager
    def compiling(self, what: str) -> Iterator[None]:
        """Context in which `what` is compiled."""
        who = object()
        self.compiles(what, who)
        try:
            yield
        finally:
            self.runs(who)

    def note(self, text: str) -> None:
        """Prints a line that stays; in a file only after the first `EVERY` seconds."""
        with self._lock:
            late = self._clock() - self._begun >= EVERY
            if self._output is not None and (late or not isinstance(self._output, Log)):
                self._output.write(text)

    def pause(self) -> None:
        """Erases the line until the next update."""
        if self._output is not None:
            self._output.erase()

    def look(self) -> None:
        """Updates what is shown, if it is time to."""
        with self._lock:
            if self._output is None or not self._total or _open[-1:] != [self]:
                return
            now = self._clock()
            if isinstance(self._output, Log):
                if now - self._said >= EVERY:
                    self._said = now
                    self._output.write(f"jaxduel: {self.line()}")
            elif self._asked or now - self._begun >= PATIENCE:
                self._output.draw(self.line())

    def line(self) -> str:
        """The progress as one line of text."""
        with self._lock:
            now, share = self._clock(), self._share()
            part = f"{int(100 * share)} % of {count(self._total)} {self._unit}"
            if self._idle_since is not None and now - self._idle_since >= _SLOW:
                names = ", ".join(dict.fromkeys(self._compiled.values()))
                since = duration(now - self._idle_since)
                behind = f" ({part} done)" if self._done else ""
                return f"compiling {names} ... {since}{behind}"
            if not isinstance(self._output, Log):
                full = int(_BAR * share)
                part = f"[{'#' * full}{'.' * (_BAR - full)}] {part}"
            detail = f", {self._detail()}" if self._detail is not None else ""
            rate = self._rate(now)
            ahead = ""
            if rate > 0:
                ahead = f", {count(rate)} a second"
                left = self._left(now, rate)
                ahead += "" if left is None else f", {duration(left)} left"
            return f"{self._what}: {part}{ahead}{detail}"

    def summary(self) -> str:
        """The work done and the time taken, as one line of text."""
        with self._lock:
            now = self._clock()
            done = count(self._total)
            if self._share() < 1.0:
                done = f"{count(self._done)} of {done}"
            idle = duration(self._idle)
            compiled = f", {idle} of it compilation" if self._idle >= 1.0 else ""
            return f"{self._what}: {done} {self._unit} in {duration(now - self._begun)}{compiled}"

    def _share(self) -> float:
        """Fraction of the total that is done; 1 if it differs from 1 by rounding only."""
        share = self._done / self._total if self._total else 1.0
        return share if share < 1.0 - _ROUNDING else 1.0

    def _sample(self) -> None:
        """Records a point (running time, work done) for the rate; drops points that are too old."""
        ran = self._ran(self._clock())
        if ran >= self._samples[-1][0] + _SHORTEST:
            self._samples.append((ran, self._done))
        while len(self._samples) > 2 and self._samples[1][0] <= ran / 2:
            self._samples.popleft()

    def _rate(self, now: float) -> float:
        """Units done per second over about the second half of the running time; 0 while it is too
        short to tell."""
        begun, done = self._samples[0]
        ran = self._ran(now) - begun
        return (self._done - done) / ran if ran >= _SHORTEST else 0.0

    def _left(self, now: float, rate: float) -> float | None:
        """Seconds left at a rate; None if they cannot be told."""
        return (self._total - self._done) / rate

    def _ran(self, now: float) -> float:
        """Running time: seconds since the start in which not everything was compiling."""
        return (now if self._idle_since is None else self._idle_since) - self._begun - self._idle

    def _watch(self) -> None:
        while not self._over.wait(self._period):
            try:
                self.look()
            except (OSError, ValueError):  # who read it has gone
                self._output = None


def current() -> Progress | None:
    """The open `Progress` that was opened last; None if none is open."""
    return next(iter(_open[-1:]), None)


def count(number: float) -> str:
    """A number in three significant digits: 950, 9.5k, 21.5M."""
    for unit in ("", "k", "M", "G", "T"):
        if abs(number) < 999.5 or unit == "T":
            break
        number /= 1000
    return f"{number:.3g}{unit}"


def duration(seconds: float) -> str:
    """A duration as text, such as 0:09 or 1:05:09; in days from three days on."""
    whole = round(seconds)
    if whole >= 3 * 86_400:
        return f"{seconds / 86_400:.1f} days"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d}"
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
