"""Standard error with one line that is redrawn below lines that stay: on a terminal or in a
notebook; a file or a pipe gets the lines that stay only. All lines are made safe to print."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, TextIO

from jaxduel.errors import printable

_lock = threading.RLock()
_drawn: Terminal | Notebook | None = None
_WIDTH = 80


class Terminal:
    """A terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._length = 0

    def draw(self, text: str) -> None:
        """Replaces the drawn line by `text`, cut to the width of the terminal."""
        global _drawn
        with _lock:
            text = printable(text)[: self._width() - 1]
            self._stream.write("\r" + text + " " * (self._length - len(text)))
            self._stream.flush()
            self._length, _drawn = len(text), self

    def erase(self) -> None:
        """Erases the drawn line."""
        global _drawn
        with _lock:
            if self._length:
                self.draw("")
                self._stream.write("\r")
                self._stream.flush()
            if _drawn is self:
                _drawn = None

    def write(self, text: str) -> None:
        """Writes a line that stays, in place of the drawn one."""
        with _lock:
            self.erase()
            self._stream.write(f"{printable(text)}\n")
            self._stream.flush()

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _WIDTH
        except (OSError, ValueError):
            return _WIDTH


class Notebook:
    """The output of a notebook's cell."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, text: str) -> None:
        """Replaces the drawn line by `text`."""
        global _drawn
        with _lock:
            self._show({"text/plain": printable(text)})
            _drawn = self

    def erase(self) -> None:
        """Erases the drawn line."""
        global _drawn
        with _lock:
            if self._handle is not None:
                self._show({"text/plain": "", "text/html": ""})
            if _drawn is self:
                _drawn = None

    def write(self, text: str) -> None:
        """Writes a line that stays."""
        with _lock:
            self.draw(text)
            self._handle = None

    def _show(self, shown: dict[str, str]) -> None:
        from IPython.display import DisplayHandle  # pyright: ignore[reportMissingImports]

        if self._handle is None:
            self._handle = DisplayHandle()
            self._handle.display(shown, raw=True)
        else:
            self._handle.update(shown, raw=True)


class Log:
    """A file or a pipe."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def erase(self) -> None:
        """Does nothing: a file has no drawn line."""

    def write(self, text: str) -> None:
        """Writes a line that stays."""
        with _lock:
            self._stream.write(f"{printable(text)}\n")
            self._stream.flush()


Screen = Terminal | Notebook | Log


def screen() -> Screen | None:
    """The screen that fits standard error; None if the process has none."""
    if _is_notebook():
        return Notebook()
    if sys.stderr is None:
        return None
    return Terminal(sys.stderr) if sys.stderr.isatty() else Log(sys.stderr)


def say(text: str) -> None:
    """Prints a line on standard error, in place of the drawn one."""
    with _lock:
        if _drawn is not None:
            _drawn.erase()
        print(printable(text), file=sys.stderr, flush=True)


def is_drawn() -> bool:
    """True if a line drawn on a terminal is not yet ended by a newline."""
    return isinstance(_drawn, Terminal)


def _is_notebook() -> bool:
    """True if this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None
