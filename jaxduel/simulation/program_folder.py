"""A folder of compiled programs, shared by processes of one user and bounded in size.

A program is a pickle: who can write it can run any code here.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from jaxduel import interrupts
from jaxduel.files import TEMPORARY, read_whole

SUFFIX = ".program"
_HEAD = b"jaxduel program 2\n"
_ABANDONED = 3600.0
"""Seconds after which a file that is being written belongs to nobody any more."""


class ProgramFolder:
    """Compiled programs, and the digest of the code, in files. Each has a checksum of its name and
    content, and is written under another name first.

    No method raises for the state of the disk: a damaged file is removed and counts as missing;
    once a file cannot be written, no more are. A folder that belongs to another user, or that
    others may write to, is not used.

    Args:
      root: the folder; it is made when something is written, with its parents, for this user alone.
      part: the folder within it for programs of this version of the compiler.
      most_bytes: largest total size of the files in `root`; the least recently used are removed.
    """

    def __init__(self, root: Path, part: str, most_bytes: int) -> None:
        self.root, self._folder, self._most_bytes = root, root / part, most_bytes
        self.failure: OSError | None = None
        """The error that keeps the folder from being used; None while it can be."""

    def has(self, name: str) -> bool:
        """True if there is a program of that name, damaged or not."""
        return self._is_own() and self._path(name).is_file()

    def read(self, name: str) -> bytes | None:
        """A program by its name; None if there is none."""
        path = self._path(name)
        if not self._is_own() or _fault_of(path):
            return None
        try:
            content = read_whole(path, self._most_bytes)
        except OSError:
            return None
        head, content = content[: len(_HEAD) + 32], content[len(_HEAD) + 32 :]
        if head != _head_of(name, content):
            self.remove(name)
            return None
        with suppress(OSError):  # the folder may be read only
            os.utime(path)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Writes a program to its file."""
        size = len(_HEAD) + 32 + len(content)
        if not self._is_own() or size > self._most_bytes:
            return
        try:
            _make(self._folder)
            self._make_room(size)
            with interrupts.whole():
                handle, part = tempfile.mkstemp(dir=self._folder, suffix=TEMPORARY)
                try:
                    with os.fdopen(handle, "wb") as file:
                        file.write(_head_of(name, content) + content)
                    os.replace(part, self._path(name))
                except BaseException:
                    Path(part).unlink(missing_ok=True)
                    raise
        except OSError as error:
            self.failure = error

    def remove(self, name: str) -> None:
        """Removes a program, one that cannot be used."""
        with suppress(OSError):  # the folder may be read only
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"

    def _is_own(self) -> bool:
        """True unless a file could not be written, or somebody else may have put programs there."""
        for folder in (self.root, self._folder):
            if fault := _fault_of(folder):
                self.failure = OSError(errno.EPERM, fault)
        return self.failure is None

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


def _fault_of(path: Path) -> str:
    """The way in which somebody else may have written a file or folder; "" if there is none, or no
    such file."""
    try:
        status = os.stat(path)
    except OSError:
        return ""
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    written = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return "others may write to it: chmod go-w" if written else ""


def _head_of(name: str, content: bytes) -> bytes:
    """The beginning of a program's file: the checksum covers what it is the program of."""
    return _HEAD + hashlib.sha256(f"{name}\n".encode() + content).digest()


def _make(folder: Path) -> None:
    """Makes a folder and its parents, as far as they are missing, for this user alone."""
    for path in (*reversed(folder.parents), folder):
        path.mkdir(exist_ok=True, mode=0o700)
