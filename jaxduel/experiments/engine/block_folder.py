"""A folder of blocks: a file is trusted only if its bytes have the checksum in its name."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from jaxduel.errors import warn_caller
from jaxduel.experiments.engine.blocks import OPTIONAL, Block, decode_block

FOLDER = "blocks"
_NAME = re.compile(r"(?P<key>[0-9a-f]+)-(?P<checksum>[0-9a-f]{16})\.nc")


class BlockFile(NamedTuple):
    """A trusted file of a block."""

    path: Path
    key: str
    group: str
    number: int
    seeds: int


def file_name(key: str, content: bytes) -> str:
    """The name of a block's file: the task's key, and 16 digits of the checksum of its bytes."""
    return f"{key}-{_checksum(content)}.nc"


def files_of(folder: Path, key: str | None = None) -> list[Path]:
    """The files with names of blocks (those of one task, if `key` is given), sorted."""
    matches = ((entry, _NAME.fullmatch(entry.name)) for entry in os.scandir(folder))
    return sorted(
        Path(entry.path) for entry, match in matches if match and key in (None, match["key"])
    )


def read_block(path: Path, skip: Collection[str] = ()) -> Block | None:
    """The block in a file; None if the file has gone.

    Args:
      path: the file, with the name of a block.
      skip: names of optional arrays to leave out.

    Raises:
      ValueError: if it is truncated or altered, or holds another block than its name says.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    match = _NAME.fullmatch(path.name)
    if match is None or _checksum(content) != match["checksum"]:
        raise ValueError("its checksum does not hold")
    block = decode_block(content, skip)
    if block.key != match["key"]:
        raise ValueError("it holds another block than its name says")
    return block


def load_blocks(folder: Path, skip: Collection[str] = ()) -> list[Block]:
    """All trusted blocks of a folder, one for each task; damaged files are left out, each with a
    warning."""
    blocks: dict[str, Block] = {}
    seen: set[Path] = set()
    files = files_of(folder)
    while files:
        gone = False
        for path in files:
            try:
                block = read_block(path, skip)
            except ValueError as error:
                warn_caller(f"the block '{path}' is left out: {error}.")
                continue
            if block is None:
                gone = True
            elif block.key not in blocks or blocks[block.key].seeds < block.seeds:
                blocks[block.key] = block
        seen.update(files)
        # a block that has gone was replaced by a larger one
        files = [path for path in files_of(folder) if path not in seen] if gone else []
    return list(blocks.values())


class VerifiedFiles:
    """The trusted files of a folder; a file is read once, and again only if its size or time of
    change differ."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Path, tuple[tuple[int, int], BlockFile]] = {}

    def all(self, key: str | None = None) -> list[BlockFile]:
        """The trusted files, of one task if `key` is given, as they are now.

        A damaged file is renamed (`.damaged` is added), with a warning, so that its task is run
        again.
        """
        found = (self._verify(path) for path in files_of(self._folder, key))
        return [file for file in found if file is not None]

    def remove(self, files: Iterable[BlockFile]) -> None:
        """Removes files that another one has replaced."""
        for file in files:
            file.path.unlink(missing_ok=True)
            self._known.pop(file.path, None)

    def _verify(self, path: Path) -> BlockFile | None:
        try:
            status = path.stat()
            stamp = (status.st_size, status.st_mtime_ns)
            if path in self._known and self._known[path][0] == stamp:
                return self._known[path][1]
            block = read_block(path, skip=OPTIONAL)
        except FileNotFoundError:
            return None
        except ValueError as error:
            self._set_aside(path, error)
            return None
        if block is None:
            return None
        file = BlockFile(path, block.key, block.group, block.number, block.seeds)
        self._known[path] = (stamp, file)
        return file

    def _set_aside(self, path: Path, error: ValueError) -> None:
        aside = path.with_name(path.name + ".damaged")
        try:
            path.replace(aside)
        except FileNotFoundError:  # another process was quicker
            return
        warn_caller(
            f"the block '{path}' is run again: {error} (the file is kept as '{aside.name}')."
        )


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
