"""A folder of compiled programs, shared by processes and bounded in size."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from jaxduel import interrupts
from jaxduel.files import TEMPORARY

SUFFIX = ".program"
_HEAD = b"jaxduel program 1\n"
_ABANDONED = 3600.0
"""Seconds after which a file that is being written belongs to nobody any more."""


class ProgramFolder:
    """Compiled programs, and the digest of the code, in files. Each has a checksum, and is written
    under another name first.

    No method raises for the state of the disk: a damaged file is removed and counts as missing;
    once a file cannot be written, no more are.

    Args:
      root: the folder; it is made when something is written.
      part: the folder within it for programs of this version of the compiler.
      most_bytes: largest total size of the files in `root`; the least recently used are removed.
    """

    def __init__(self, root: Path, part: str, most_bytes: int) -> None:
        self.root, self._folder, self._most_bytes = root, root / part, most_bytes
        self.failure: OSError | None = None
        """The error that keeps files from being written; None while they can be."""

    def read(self, name: str) -> bytes | None:
        """A program by its name; None if there is none."""
        path = self._folder / f"{name}{SUFFIX}"
        try:
            content = path.read_bytes()
        except OSError:
            return None
        head, start = content[: len(_HEAD)], len(_HEAD) + 32
        checksum, content = content[len(_HEAD) : start], content[start:]
        if head != _HEAD or checksum != hashlib.sha256(content).digest():
            self.remove(name)
            return None
        with suppress(OSError):  # the folder may be read only
            os.utime(path)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Writes a program to its file."""
        size = len(_HEAD) + 32 + len(content)
        if self.failure is not None or size > self._most_bytes:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._make_room(size)
            with interrupts.whole():
                handle, part = tempfile.mkstemp(dir=self._folder, suffix=TEMPORARY)
                try:
                    with os.fdopen(handle, "wb") as file:
                        file.write(_HEAD + hashlib.sha256(content).digest() + content)
                    os.replace(part, self._folder / f"{name}{SUFFIX}")
                except BaseException:
                    Path(part).unlink(missing_ok=True)
                    raise
        except OSError as error:
            self.failure = error

    def remove(self, name: str) -> None:
        """Removes a program, one that cannot be used."""
        with suppress(OSError):  # the folder may be read only
            (self._folder / f"{name}{SUFFIX}").unlink(missing_ok=True)

    def _make_room(self, size: int) -> None:
        """Removes the least recently used programs until a file of that size fits."""
        found: list[tuple[float, int, Path]] = []
        for path in self.root.glob("*/*"):
            if path.suffix not in (SUFFIX, TEMPORARY):
                continue
            try:
                known = path.stat()
                if path.suffix == TEMPORARY and known.st_mtime < time.time() - _ABANDONED:
                    path.unlink()
                else:
                    found.append((known.st_mtime, known.st_size, path))
            except FileNotFoundError:  # another process was faster
                continue
        total = sum(size for _, size, _ in found) + size
        for _, own, path in sorted(found):
            if total <= self._most_bytes:
                return
            if path.suffix == SUFFIX:
                path.unlink(missing_ok=True)
                total -= own
