"""A folder for results, checked to be writable before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path

from jaxduel.errors import InputError, shorten
from jaxduel.files import require_writable_folder, why, write_whole


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
            said = shorten(str(self.path), 300)
            raise InputError(
                f"the output folder '{said}' cannot be created: {why(error)}."
            ) from None
        require_writable_folder(self.path)

    def write(self, name: str, content: bytes | str) -> Path:
        """Writes or replaces a file in one step, and returns its path."""
        path = self.path / name
        write_whole(path, content)
        if path not in self.files:
            self.files.append(path)
        return path
