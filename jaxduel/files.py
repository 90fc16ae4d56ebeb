"""Files that appear whole or not at all, and are on disk when the call returns; rows as CSV."""

from __future__ import annotations

import csv
import errno
import io
import os
import stat
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jaxduel import interrupts
from jaxduel.errors import InputError, StorageError, shorten

TEMPORARY = ".part"
"""Suffix of the names of files that are being written."""
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Beginnings of text that spreadsheets take for formulas."""


def as_path(path: Any, where: str) -> Path:
    """The path of a file or folder as a `Path`; `where` names what takes it.

    Raises:
      InputError: for what is no path, an empty one, or one with characters that no file's name has
        here.
    """
    try:
        text = os.fsdecode(path)
        os.fsencode(text)
    except (TypeError, UnicodeEncodeError):
        text = "\0"
    if "\0" in text or not text:
        raise InputError(f"{where} takes the path of a file or folder, not {shorten(repr(path))}.")
    return Path(text)


def stamp_of(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Number, size and time of change of a file: equal stamps mean equal content.

    Raises:
      OSError: if the file cannot be seen.
    """
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns


def utf8_name(path: str | os.PathLike[str]) -> str:
    """The text of a path, in any locale, for what is named after a file and written to others.

    Raises:
      InputError: if its bytes are not UTF-8.
    """
    try:
        return os.fsencode(path).decode()
    except UnicodeError:
        said = shorten(os.fsdecode(path), 300)
        raise InputError(f"the name of '{said}' is not UTF-8: rename the file.") from None


def read_whole(path: str | os.PathLike[str], most: int) -> bytes:
    """The bytes of a regular file, or of one that a link names.

    Whatever was put in a file's place, the call returns soon and reads at most `most` bytes: pipes
    and devices, which may have no end or never answer, are not read at all.

    Raises:
      OSError: if it cannot be opened or read, is no regular file, or has more than `most` bytes;
        `why` gives the reason in words.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        content, size = b"", status.st_size + 1  # memory is taken for what is asked for
        while status.st_size <= most and len(content) <= most:
            part = file.read(min(size, most + 1 - len(content)))
            if not part:
                break
            content, size = content + part, 2**20  # it has grown, or its size was not known
    if max(len(content), status.st_size) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
    return content


def write_whole(path: str | os.PathLike[str], content: bytes | str, label: str = "") -> Path:
    """Writes a file, or replaces it, in one step that survives a kill or a loss of power.

    The content goes to a temporary file in the same folder, which is synchronised with the disk,
    renamed, and the folder synchronised too.

    Args:
      path: the file, or a link to it.
      content: its bytes, or its text, as `escaped`.
      label: begins the name of the temporary file, so that `remove_parts` finds what a killed
        writer left.

    Returns:
      The file's path.

    Raises:
      StorageError: if it cannot be written (disk full, quota, no permission); no partial file
        remains, and the earlier content of `path` is still there.
    """
    path = Path(path)
    try:
        path = path.resolve() if path.is_symlink() else path
        with interrupts.whole():
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{label}-", suffix=TEMPORARY)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content if isinstance(content, bytes) else escaped(content))
                    file.flush()
                    os.fsync(file.fileno())
                os.chmod(name, 0o666 & ~_umask())
                os.replace(name, path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            _synchronise(path.parent)
    except OSError as error:
        reason = why(error) if path.parent.is_dir() else "there is no folder for it"
        raise StorageError(f"'{shorten(str(path), 300)}' cannot be written: {reason}.") from error
    return path


def remove_parts(folder: Path, label: str) -> None:
    """Removes temporary files that killed writers with this `label` left in the folder."""
    for path in folder.glob(f".{label}-*{TEMPORARY}"):
        path.unlink(missing_ok=True)


def require_writable_file(path: str | os.PathLike[str], *others: Path) -> Path:
    """The path as a `Path`, checked: no folder or device, and its folder exists and is writable.

    Args:
      path: the path.
      others: files that the caller reads or writes besides.

    Raises:
      InputError: if it cannot be written, or is one of the others.
    """
    path = Path(path)
    said = f"the output '{shorten(str(path), 300)}'"
    try:
        if str(path) == "-":
            raise InputError(f"{said} is no file's name: give one.")
        if path.is_dir():
            raise InputError(f"{said} is a folder: give the name of a file.")
        if path.exists() and not path.is_file():
            raise InputError(f"{said} is a device or a pipe: give the name of a file.")
        if path.resolve() in [other.resolve() for other in others]:
            raise InputError(f"{said} is read or written for something else: give another name.")
        if not path.parent.is_dir():
            raise InputError(f"{said} cannot be written: there is no folder for it.")
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{said} cannot be written: {why(error)}.") from None
    require_writable_folder(path.parent)
    return path


def require_writable_folder(folder: Path) -> None:
    """Raises InputError unless files can be made in the folder."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise InputError(f"the output folder '{folder}' cannot be written: {why(error)}.") from None


def escaped(text: str) -> bytes:
    """Text in UTF-8; bytes of paths that are no UTF-8, and other lone surrogates, as escapes."""
    return text.encode(errors="backslashreplace")


def csv_text(
    header: Sequence[str], rows: Iterable[Sequence[Any]], *, for_spreadsheets: bool = True
) -> str:
    """Rows as CSV; floats are written in full, so that they read back to the same bits.

    Args:
      header: the first row.
      rows: the others.
      for_spreadsheets: whether texts are those of `spreadsheet_text`; False for names that jaxduel
        is to read back.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    text = spreadsheet_text if for_spreadsheets else lambda entry: entry
    writer.writerow(map(text, header))
    writer.writerows(
        [repr(float(entry)) if isinstance(entry, float) else text(entry) for entry in row]
        for row in rows
    )
    return file.getvalue()


def spreadsheet_text(entry: Any) -> Any:
    """A cell of a table: text that a spreadsheet would take for a formula gets an apostrophe before
    it, and is shown; numbers, as text too, stay as they are.

    Example:
      >>> from jaxduel.files import spreadsheet_text
      >>> [spreadsheet_text(entry) for entry in ("=1+1", "-1.5", "dts+", -1.5)]
      ["'=1+1", '-1.5', 'dts+', -1.5]
    """
    if not (isinstance(entry, str) and entry.startswith(_FORMULAS)):
        return entry
    try:
        float(entry)
    except ValueError:
        return f"'{entry}"
    return entry


def named_text(text: str) -> str:
    """The text of which `spreadsheet_text` made a cell."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULAS) else text


def why(error: BaseException | None) -> str:
    """The operating system's message, without the name of the file."""
    return getattr(error, "strerror", None) or str(error)


def _open_at_once(path: str, flags: int) -> int:
    """A file's descriptor, for `open`; a pipe that nobody writes to does not wait."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


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
