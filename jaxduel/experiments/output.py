"""Where results go: a folder or file found writable before anything is computed, written whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jaxduel.errors import InputError, shorten


class OutputFolder:
    """A folder for results. Files appear in it complete or not at all.

    Attributes:
      path: the folder; it is created, with its parents.
      files: the files written so far, in order.

    Raises:
      InputError: when built, if the folder cannot be created or written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.files: list[Path] = []
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise InputError(
                f"the output folder '{shorten(str(self.path))}' cannot be created: {_why(error)}."
            ) from None
        _require_writable(self.path)

    def write(self, name: str, content: bytes | str) -> Path:
        """Writes a file, or replaces it, in one step."""
        path = self.path / name
        with atomic_path(path) as temporary:
            temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        if path not in self.files:
            self.files.append(path)
        return path


def require_writable_file(path: str | os.PathLike[str]) -> Path:
    """The path of a file that can be written: its folder exists, and it is no folder itself.

    Raises:
      InputError: if it cannot be written.
    """
    path = Path(path)
    said = f"the output '{shorten(str(path))}'"
    try:
        if path.is_dir():
            raise InputError(f"{said} is a folder: give the name of a file.")
        path.exists()  # fails for a name that is too long
        if not path.parent.is_dir():
            raise InputError(f"{said} cannot be written: there is no folder for it.")
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{said} cannot be written: {_why(error)}.") from None
    _require_writable(path.parent)
    return path


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside `path`, which becomes `path` if the block ends well.

    Raises:
      InputError: if it cannot be written.
    """
    path = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"'{path}' cannot be written: {error.strerror or error}.") from None


def _require_writable(folder: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise InputError(
            f"the output folder '{folder}' cannot be written: {error.strerror or error}."
        ) from None


def _why(error: OSError | ValueError) -> str:
    """What the system says, without the name of the file."""
    return getattr(error, "strerror", None) or str(error)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
