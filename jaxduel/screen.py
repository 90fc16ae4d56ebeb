"""Standard error, shared by lines that stay and one line that is redrawn: on a terminal, in a
notebook, or in a file, where nothing is redrawn."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, TextIO

_lock = threading.RLock()
_drawn: Terminal | Notebook | None = None
_WIDTH = 80


class Terminal:
    """A terminal.

    Args:
      stream: where it is written to.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._length = 0

    def draw(self, text: str) -> None:
        """Puts `text` in place of what was drawn; what is too long for a line is cut."""
        global _drawn
        with _lock:
            text = text[: self._width() - 1]
            self._stream.write("\r" + text + " " * (self._length - len(text)))
            self._stream.flush()
            self._length, _drawn = len(text), self

    def erase(self) -> None:
        """Takes away what was drawn."""
        global _drawn
        with _lock:
            if self._length:
                self.draw("")
                self._stream.write("\r")
                self._stream.flush()
            if _drawn is self:
                _drawn = None

    def write(self, text: str) -> None:
        """A line that stays, in place of what was drawn."""
        with _lock:
            self.erase()
            self._stream.write(f"{text}\n")
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
        """Puts `text` in place of what was drawn."""
        global _drawn
        with _lock:
            self._show({"text/plain": text})
            _drawn = self

    def erase(self) -> None:
        """Takes away what was drawn."""
        global _drawn
        with _lock:
            if self._handle is not None:
                self._show({"text/plain": "", "text/html": ""})
            if _drawn is self:
                _drawn = None

    def write(self, text: str) -> None:
        """A line that stays."""
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
    """A file or a pipe.

    Args:
      stream: where it is written to.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def erase(self) -> None:
        """Nothing was drawn."""

    def write(self, text: str) -> None:
        """A line that stays."""
        with _lock:
            self._stream.write(f"{text}\n")
            self._stream.flush()


Screen = Terminal | Notebook | Log


def screen() -> Screen | None:
    """What standard error is; None where there is none."""
    if _is_notebook():
        return Notebook()
    if sys.stderr is None:
        return None
    return Terminal(sys.stderr) if sys.stderr.isatty() else Log(sys.stderr)


def say(text: str) -> None:
    """Prints a line on standard error, in place of what was drawn there."""
    with _lock:
        if _drawn is not None:
            _drawn.erase()
        print(text, file=sys.stderr, flush=True)


def is_drawn() -> bool:
    """Whether there is a line on a terminal that is not ended."""
    return isinstance(_drawn, Terminal)


def _is_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None
