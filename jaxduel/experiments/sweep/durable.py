"""Files that are on disk, whole, once the call that writes them returns."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from jaxduel.errors import StorageError

TEMPORARY = ".part"
"""How the names of files end that are being written."""


def write_durably(path: Path, content: bytes, label: str) -> None:
    """Writes a file, or replaces it, in one step that survives a kill or a loss of power.

    The content goes to a temporary file in the same folder, which is synchronised with the disk,
    renamed, and the folder synchronised too.

    Args:
      path: the file.
      content: its bytes.
      label: begins the name of the temporary file, so that `remove_parts` finds what a killed
        writer left.

    Raises:
      StorageError: if it cannot be written (disk full, quota, no permission); nothing is left of
        it, and what `path` held before is still there.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{label}-", suffix=TEMPORARY)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _synchronise(path.parent)
    except OSError as error:
        raise storage_error(path.parent, error) from error


def storage_error(folder: Path, error: OSError) -> StorageError:
    """The error, to be raised by the caller, for what the system says of a folder."""
    return StorageError(
        f"'{folder}' cannot be written to ({error.strerror or error}): what is stored there is "
        "whole, and the sweep goes on from it when it is run again."
    )


def remove_parts(folder: Path, label: str) -> None:
    """Removes what writers of `label` left in the folder when they were killed."""
    for path in folder.glob(f".{label}-*{TEMPORARY}"):
        path.unlink(missing_ok=True)


def _synchronise(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
