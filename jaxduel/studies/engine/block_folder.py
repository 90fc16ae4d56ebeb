"""A folder of blocks: a file is trusted only if its bytes have the checksum in its name."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from jaxduel.errors import InputError, shorten, warn_caller
from jaxduel.files import read_whole, stamp_of, why
from jaxduel.studies.engine.blocks import OPTIONAL, Block, decode_block, require_place
from jaxduel.studies.engine.manifest import Manifest

FOLDER = "blocks"
MOST_BYTES = 2**34
"""Largest size of a block's file that is read."""
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
    """The files with names of blocks, or of blocks of the task `key`, sorted.

    Raises:
      InputError: if there is no folder, or it cannot be read.
    """
    begin = "" if key is None else f"{key}-"
    try:
        names = [name for name in os.listdir(folder) if name.startswith(begin)]
    except OSError as error:
        raise InputError(
            f"the blocks of a sweep in '{shorten(str(folder), 300)}' cannot be read: {why(error)}."
        ) from None
    return [folder / name for name in sorted(names) if _NAME.fullmatch(name)]


def read_block(path: Path, skip: Collection[str] = ()) -> Block | None:
    """The block in a file; None if the file has gone.

    Args:
      path: the file, with the name of a block.
      skip: names of optional arrays to leave out.

    Raises:
      ValueError: if the file cannot be read, is truncated or altered, or holds another block than
        its name says.
    """
    try:
        content = read_whole(path, MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError(why(error)) from None
    match = _NAME.fullmatch(path.name)
    if match is None or _checksum(content) != match["checksum"]:
        raise ValueError("its checksum does not hold")
    block = decode_block(content, skip)
    if block.key != match["key"]:
        raise ValueError("it holds another block than its name says")
    return block


class VerifiedFiles:
    """The trusted files of a folder; a file is read again only if its stamp differs.

    Args:
      folder: the folder.
      manifest: its groups, which blocks must fit.
      sets_aside: whether damaged files are renamed to end in `.damaged`.
    """

    def __init__(self, folder: Path, manifest: Manifest, *, sets_aside: bool) -> None:
        self._folder, self._sets_aside = folder, sets_aside
        self._groups = {group.key: group for group in manifest.groups}
        self._known: dict[str, dict[Path, tuple[tuple[int, ...], BlockFile]]] = {}

    def all(self, key: str | None = None) -> list[BlockFile]:
        """The trusted files at present, or those of the task `key`.

        Damaged files are left out with a warning, so that their tasks are run again.
        """
        if key is not None:
            self._known.setdefault(key, {})
        found = (self._verify(path) for path in files_of(self._folder, key))
        return [file for file in found if file is not None]

    def known(self, key: str) -> list[BlockFile]:
        """The files of a task, as last listed; the folder is listed if it never was."""
        if key not in self._known:
            self.all(key)
        return [file for _, file in self._known.get(key, {}).values()]

    def still(self, key: str) -> list[BlockFile]:
        """The known files of a task that are unchanged; the folder is not listed."""
        found = [self._verify(path) for path in list(self._known.get(key, {}))]
        return [file for file in found if file is not None]

    def remove(self, files: Iterable[BlockFile]) -> None:
        """Removes files that a newer file replaces."""
        for file in files:
            file.path.unlink(missing_ok=True)
            self._known.get(file.key, {}).pop(file.path, None)

    def enter(self, path: Path, block: Block) -> BlockFile:
        """Records a file whose block has just been written or read whole."""
        file = BlockFile(path, block.key, block.group, block.number, block.seeds)
        self._known.setdefault(file.key, {})[path] = stamp_of(path), file
        return file

    def _verify(self, path: Path) -> BlockFile | None:
        try:
            stamp = stamp_of(path)
            known = self._known.get(path.name.partition("-")[0], {}).get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            block = read_block(path, skip=OPTIONAL)
            if block is not None and block.group in self._groups:
                require_place(block, self._groups[block.group])
            return None if block is None else self.enter(path, block)
        except FileNotFoundError:
            return None
        except ValueError as error:
            self._set_aside(path, error)
            return None

    def _set_aside(self, path: Path, error: ValueError) -> None:
        aside = path.with_name(path.name + ".damaged")
        if not self._sets_aside:
            warn_caller(f"the block '{path}' is left out: {error}.")
            return
        try:
            path.replace(aside)
        except FileNotFoundError:  # another process was quicker
            return
        except OSError as failure:
            warn_caller(f"the block '{path}' is left out: {error} ({why(failure)}).")
            return
        warn_caller(
            f"the block '{path}' is run again: {error} (the file is kept as '{aside.name}')."
        )


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
