"""Durable writing to a sweep's folder, and the error if it cannot be written to."""

from __future__ import annotations

from pathlib import Path

from jaxduel.errors import StorageError
from jaxduel.files import why, write_whole


def write_durably(path: Path, content: bytes, label: str) -> None:
    """`jaxduel.files.write_whole`, with an error that says how the sweep goes on."""
    try:
        write_whole(path, content, label)
    except StorageError as error:
        raise storage_error(path.parent, error.__cause__) from error


def storage_error(folder: Path, error: BaseException | None) -> StorageError:
    """The error, to be raised by the caller, for a folder that cannot be written to."""
    return StorageError(
        f"'{folder}' cannot be written to ({why(error)}): what is stored there is whole, "
        "and the sweep goes on from it when it is run again."
    )
