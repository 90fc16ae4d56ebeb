"""The store: a folder that several processes can fill together, block by block."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from jaxduel.errors import InputError, StorageError
from jaxduel.files import TEMPORARY, remove_parts, why, write_whole
from jaxduel.studies.engine.block_folder import (
    FOLDER,
    BlockFile,
    VerifiedFiles,
    file_name,
    files_of,
    read_block,
)
from jaxduel.studies.engine.blocks import Block, encode_block, require_place
from jaxduel.studies.engine.compatibility import (
    require_same,
    require_same_code,
    warn_of_environment,
)
from jaxduel.studies.engine.locks import is_free, is_in_use, try_claim, use, wait_for_claim
from jaxduel.studies.engine.manifest import FILE, Manifest, decode_manifest, read_manifest
from jaxduel.studies.engine.profile import Seconds

CLAIMS = "claims"


class Store:
    """A folder with a manifest, finished blocks, and claims on unfinished blocks.

    Any number of processes and threads use it at once. Each claims an unfinished task, simulates
    it, adds its block and releases the claim. If all remaining tasks are claimed, it waits for the
    other processes.

    Attributes:
      folder: the folder.
      manifest: its manifest.
    """

    def __init__(
        self, folder: Path, manifest: Manifest, locks: bool = True, goes_on: bool = True
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self._locks = locks
        self._groups = {group.key: group for group in manifest.groups}
        self._files = VerifiedFiles(folder / FOLDER, manifest, sets_aside=goes_on)
        self._lock = threading.RLock()
        self._end_use: Callable[[], Any] = lambda: None

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, goes_on: bool = False) -> Store:
        """The store in a folder, with any grid.

        Args:
          folder: the folder.
          goes_on: whether tasks will be run; if not, nothing in the folder is changed.

        Raises:
          InputError: if there is no store, or one of another format.
        """
        folder = Path(folder)
        return cls(folder, read_manifest(folder), goes_on=goes_on)

    @classmethod
    def create_or_open(
        cls,
        folder: str | os.PathLike[str],
        manifest: Manifest,
        *,
        extend: bool = False,
        join: bool = False,
        locks: bool = True,
    ) -> Store:
        """The store for a manifest: a new one, or the existing one of the same grid. A store of
        another grid is replaced if it has no blocks and no process has it open.

        Args:
          folder: the folder; created, with its parents, if it does not exist.
          manifest: the manifest of the study asked for.
          extend: whether the number of seeds of an existing store may be raised.
          join: whether an existing store may have other groups: the store then has both, but only
            the wanted ones of cells with the same labels.
          locks: whether the file system has locks. If not, no two processes may run one task at
            once.

        Returns:
          The store. It keeps the environment it was begun in; a warning says if numbers may round
          differently in the present one.

        Raises:
          InputError: if the folder holds another grid, a sweep of another version of jaxduel, by
            other simulating code or of another format, or other files; or cannot be written.
        """
        folder = Path(folder)
        manifest = decode_manifest(manifest.encode(), folder)  # as the file would be read
        try:
            _make_folders(folder)
            with wait_for_claim(folder / CLAIMS / "manifest") if locks else ExitStack():
                store = cls(folder, _settle(folder, manifest, extend, join, locks), locks)
                if locks:
                    store._end_use = weakref.finalize(store, os.close, use(folder / FILE))
                return store
        except OSError as error:
            is_file = os.path.exists(folder) and not os.path.isdir(folder)
            reason = "it is a file" if is_file else why(error)
            raise InputError(f"the folder '{folder}' cannot be written: {reason}.") from None

    def close(self) -> None:
        """Allows another grid to use the folder, as long as no block is stored."""
        self._end_use()

    def of(self, key: str) -> tuple[Store]:
        """The stores that a task is stored in: this one (`Stores` have several)."""
        return (self,)

    def finished(self) -> set[str]:
        """The keys of tasks whose blocks are stored with all seeds of the grid.

        Files known from an earlier call are not read again. Damaged files are set aside, or left
        out if the store was only opened, each with a warning.
        """
        return {file.key for file in self.files()}

    def files(self) -> list[BlockFile]:
        """The files of `finished`."""
        with self._lock:
            return [file for file in self._files.all() if self._is_complete(file)]

    def read(self, key: str) -> Block | None:
        """The block of a task, with all seeds of its group; None if there is none."""
        for look in self._files.still, self._files.all:  # a list of the folder takes longer
            with self._lock:
                found = [file for file in look(key) if self._is_complete(file)]
            block = read_block(found[0].path) if found else None
            if block is not None:
                return block
        return None

    def claim(self, key: str) -> ExitStack | None:
        """The right to run a task; None if another process has it, or the task is finished.

        Raises:
          StorageError: if no claim can be written (disk full, no locks in this file system).
        """
        path = self._claim_path(key)
        # by a process that died, maybe while it wrote a block; without claims that is not known
        is_left = path.exists() or not self._locks
        try:
            claim = try_claim(path) if self._locks else ExitStack()
        except OSError as error:
            raise _storage_error(self.folder, error) from error
        if claim is None:
            return None
        with claim:
            with self._lock:
                is_there = any(self._is_complete(file) for file in self._files.all(key))
            if is_there:
                return None
            if is_left:
                remove_parts(self.folder / FOLDER, key)
            return claim.pop_all()

    def claimed(self) -> set[str]:
        """The keys of tasks that a process is running."""
        keys = {path.name for path in (self.folder / CLAIMS).glob("*")}
        return {key for key in keys if not is_free(self._claim_path(key))}

    def has_ended(self, keys: Collection[str]) -> bool:
        """True if one of these tasks, claimed by other processes, is finished, or free because its
        process died."""
        return not self.finished().isdisjoint(keys) or any(
            is_free(self._claim_path(key)) for key in keys
        )

    def add(self, block: Block, seconds: Seconds | None = None) -> Path:
        """Stores a block durably: it is on disk, whole, when this returns.

        A block of the same task, known since the claim, is replaced if it has no more seeds.

        Args:
          block: the block.
          seconds: records the time of encoding and writing.

        Returns:
          The file.

        Raises:
          StorageError: if the disk is full or fails; nothing is left of the block.
          ValueError: if the manifest has no place for the block.
        """
        group = self._groups.get(block.group)
        if group is None:
            raise ValueError(f"no group {block.group} in the manifest")
        require_place(block, group)
        seconds = seconds or Seconds()
        with seconds.of("encode"):
            content = encode_block(block, [cell.key for cell in group.cells], group.definitions)
        path = self.folder / FOLDER / file_name(block.key, content)
        with seconds.of("write"):
            _write(path, content, block.key)
            with self._lock:
                self._files.remove(
                    file
                    for file in self._files.known(block.key)
                    if file.path != path and file.seeds <= block.seeds
                )
                self._files.enter(path, block)
        return path

    def _is_complete(self, file: BlockFile) -> bool:
        """True if a file holds all seeds of its block in the grid; an extension adds seeds to the
        last block of a group."""
        group = self._groups.get(file.group)
        return group is not None and file.seeds >= group.seeds_of_block(file.number)

    def _claim_path(self, key: str) -> Path:
        return self.folder / CLAIMS / key


def _make_folders(folder: Path) -> None:
    """Creates the folder and its subfolders.

    Raises:
      InputError: if the folder holds something else.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ours = {FILE, FOLDER, CLAIMS}
    names = {name for name in os.listdir(folder) if not name.endswith(TEMPORARY)}
    if FILE not in names and names - ours:
        raise InputError(
            f"the folder '{folder}' is not empty and holds no sweep: give a new folder, or that of "
            "a sweep to go on with."
        )
    for name in (FOLDER, CLAIMS):
        (folder / name).mkdir(exist_ok=True)


def _settle(folder: Path, wanted: Manifest, extend: bool, join: bool, alone: bool) -> Manifest:
    """The manifest of a folder. It is written if there is none, or if the present store has another
    grid, no blocks, and is not open; else it is checked, and its seeds raised or its groups joined
    with the wanted ones. `alone`: no other process writes it now."""
    if alone:
        remove_parts(folder, "manifest")
    if not (folder / FILE).exists():
        if files_of(folder / FOLDER):
            raise InputError(
                f"'{folder}' has blocks but no {FILE}, which names the code that made them: put it "
                "back, or begin in a new folder."
            )
        _write(folder / FILE, wanted.encode(), "manifest")
        return wanted
    there = read_manifest(folder)
    if join:
        require_same_code(folder, there, wanted)
        settled = wanted.joined(there)
    else:
        try:
            require_same(folder, there, wanted, extend)
        except InputError as error:
            if files_of(folder / FOLDER) or (alone and is_in_use(folder / FILE)):
                raise
            if not alone:  # without locks nobody knows whether another process has it open
                raise InputError(
                    f"{str(error).rstrip('.')}; the folder has no blocks yet, and can be removed "
                    "if no process works on it."
                ) from None
            there = wanted
            _write(folder / FILE, wanted.encode(), "manifest")
        grown = wanted.seeds > there.seeds
        settled = replace(there, grid=wanted.grid, groups=wanted.groups) if grown else there
    warn_of_environment(folder, there, wanted)
    if settled != there:
        _write(folder / FILE, settled.encode(), "manifest")
    return settled


def _write(path: Path, content: bytes, label: str) -> None:
    """`jaxduel.files.write_whole`, with an error that says how to resume the study."""
    try:
        write_whole(path, content, label)
    except StorageError as error:
        raise _storage_error(path.parent, error.__cause__) from error


def _storage_error(folder: Path, error: BaseException | None) -> StorageError:
    """The error for a folder that cannot be written to; the caller raises it."""
    return StorageError(
        f"'{folder}' cannot be written to ({why(error)}): what is stored there is whole, "
        "and it goes on from there when it is run again."
    )
